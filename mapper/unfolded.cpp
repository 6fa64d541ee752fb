// SPDX-License-Identifier: Apache-2.0
#include "mapper/unfolded.hpp"

#include <gmpxx.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mapper/branch/class_search.hpp"
#include "mapper/branch/partial_folds.hpp"
#include "mapper/shared_budget.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

// A merged dim is allowed where all its parts are. nullopt: the rule is about factors of dims.
std::optional<AxisRule> unfolded_rule(const AxisRule& rule, const Workload& workload,
                                      const PerDim<DimId>& into) {
  if (!rule.factors.empty()) {
    return std::nullopt;
  }
  AxisRule made = rule;
  if (rule.dims) {
    DimSet allowed;
    DimSet forbidden;
    for (const DimId d : workload.dims.ids()) {
      const bool is_idle = workload.dims[d].bound == 1;
      (is_idle || rule.dims->contains(d) ? allowed : forbidden).insert(into[d]);
    }
    made.dims.emplace();
    for (const DimId d : into) {
      if (allowed.contains(d) && !forbidden.contains(d)) {
        made.dims->insert(d);
      }
    }
  }
  return made;
}

// A lower bound of the mappings without remainders.
double divisors_bound(const Certificate& proof) {
  return proof.divisors ? proof.divisors->lower_bound : proof.lower_bound;
}
std::optional<double> divisors_value(const Objective& objective, const SearchResult& result) {
  return result.certificate.divisors ? result.certificate.divisors->value
         : result.cost               ? std::optional{objective_value(objective, *result.cost)}
                                     : std::nullopt;
}

std::string sum_of(const std::string& one, const std::string& other) {
  return one.empty() || other.empty() ? "" : mpz_class{mpz_class{one} + mpz_class{other}}.get_str();
}

// What is proven of `best`, and of `other`, which has nothing better.
Certificate joint_proof(const Objective& objective, const SearchResult& best,
                        const SearchResult& other) {
  Certificate proof = best.certificate;
  proof.mapspace_size = sum_of(proof.mapspace_size, other.certificate.mapspace_size);
  const auto one = divisors_value(objective, best);
  const auto another = divisors_value(objective, other);
  proof.divisors = Certificate::Divisors{
      one && another ? std::min(one, another) : std::max(one, another),
      std::min(divisors_bound(best.certificate), divisors_bound(other.certificate))};
  proof.lower_bound = std::min(proof.lower_bound, other.certificate.lower_bound);
  if (!best.cost) {
    const bool both =
        proof.status == Proof::kInfeasible && other.certificate.status == Proof::kInfeasible;
    proof.status = both ? proof.status : Proof::kBounded;
    return proof;
  }
  const double value = objective_value_of(objective, best).value;
  if (proof.lower_bound >= value * (1 - kRounding)) {
    // Equals of the other form, too, have a second figure.
    const bool is_equal = objective_value_of(objective, other).value <= value * (1 + kRounding);
    if (is_equal && other.certificate.bound_but_for_free_boundaries) {
      proof.bound_but_for_free_boundaries = value;
    }
    return proof;
  }
  const bool is_bounded = proof.lower_bound > 0;
  proof.status = is_bounded ? Proof::kBounded : Proof::kNone;
  proof.gap = is_bounded ? value / proof.lower_bound - 1 : 0;
  return proof;
}

}  // namespace

std::optional<UnfoldedSpace> unfolded_space(const Mapspace& space, const Objective& objective) {
  const Workload& workload = space.problem().workload();
  if (!exact::has_partial_folds(space, objective)) {
    return std::nullopt;
  }
  std::optional<Workload> made = in_form(workload, {FormKind::kUnfolded, 1});
  if (!made || workload.form != Form{}) {
    return std::nullopt;
  }
  Constraints constraints = space.constraints();
  const PerDim<DimId> into = unfolded_dims(workload);
  for (UnrollRule& rule : constraints.unroll) {
    const auto x = unfolded_rule(rule.x, workload, into);
    const auto y = unfolded_rule(rule.y, workload, into);
    if (!x || !y) {
      return std::nullopt;
    }
    rule.x = *x;
    rule.y = *y;
  }
  return UnfoldedSpace{{space.problem().arch(), std::move(*made)}, std::move(constraints)};
}

FormedResult search_both(const Mapspace& space, const UnfoldedSpace& unfolded,
                         const SearchOptions& options) {
  // The unfolded layer has fewer dims, and its search is done first, in half of the time.
  SearchOptions first = options;
  first.budget.seconds = SharedBudget::share_of(options.budget.seconds, 2);
  SearchResult linear = search_exact(Mapspace{unfolded.problem, unfolded.constraints}, first);
  linear.form = unfolded.problem.workload().form;
  SearchOptions rest = options;
  rest.budget.seconds -= linear.statistics.seconds;
  SearchResult direct = search_exact(space, rest);

  const Objective& objective = options.objective;
  const ObjectiveValue of_direct = objective_value_of(objective, direct);
  const ObjectiveValue of_linear = objective_value_of(objective, linear);
  const std::vector<TriedForm> tried{{direct.form, of_direct.value},
                                     {linear.form, of_linear.value}};
  const bool takes_linear = is_better(objective, of_linear, of_direct);
  FormedResult found{takes_linear ? unfolded.problem : space.problem(),
                     takes_linear ? linear : direct, tried};
  const SearchResult& other = takes_linear ? direct : linear;
  SearchResult& result = found.result;
  result.certificate = joint_proof(objective, result, other);
  result.interrupted = result.interrupted || other.interrupted;
  add_effort(result.statistics, other.statistics);
  result.statistics.unrollings += other.statistics.unrollings;
  result.statistics.unrollings_total += other.statistics.unrollings_total;
  return found;
}

}  // namespace mapsim
