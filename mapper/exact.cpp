// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/timing/model.hpp"
#include "mapper/branch/class_search.hpp"
#include "mapper/branch/exhaustive_fallback.hpp"
#include "mapper/branch/infeasible.hpp"
#include "mapper/branch/partial_folds.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "mapper/counting/whole_count.hpp"
#include "mapper/haste.hpp"
#include "mapper/known_start.hpp"
#include "mapper/label_search/imperfect_search.hpp"
#include "mapper/mapper.hpp"
#include "mapper/nvdla/search.hpp"
#include "mapper/shared_budget.hpp"

// The exact strategy. It searches the classes of unrollings (class_search.hpp), and idle threads
// count the mapspace meanwhile. A second search follows for exact ties of energy. Small spaces with
// imperfect factors that stay open are enumerated, and partial folds of systolic arrays are added
// if asked for. If nothing fits, it finds out why.

namespace mapsim {

namespace {

// The number of classes that at least one of the two searches searched, one for each set that
// symmetry makes equal.
std::int64_t count_searched(const std::vector<ClassBound>& one,
                            const std::vector<ClassBound>& other) {
  std::vector<const Unrolling*> searched;
  for (const std::vector<ClassBound>* classes : {&one, &other}) {
    for (const ClassBound& unrolling_class : *classes) {
      const auto is_same = [&](const Unrolling* known) {
        return *known == unrolling_class.unrollings.first;
      };
      if (unrolling_class.by == Argument::kSearch && !unrolling_class.is_symmetric &&
          std::none_of(searched.begin(), searched.end(), is_same)) {
        searched.push_back(&unrolling_class.unrollings.first);
      }
    }
  }
  return std::ssize(searched);
}

// The fastest of all mappings that need as little energy as `least`.
SearchResult break_ties(const Mapspace& space, SearchOptions options, SearchResult least,
                        const Deadline& deadline, std::int64_t labels) {
  const Objective asked = options.objective;
  const double energy = least.cost->energy.total.count();
  const auto cycles = static_cast<double>(latency_of(asked.mode, least.cost->latency).count());
  options.objective.function = Objective::kLatency.function;
  options.objective.max_energy = least.cost->energy.total;
  options.budget.labels -= std::min(options.budget.labels, least.statistics.labels);
  ClassSearchInputs more;
  more.labels = labels - std::min(labels, least.statistics.labels);
  more.best = {&*least.best, &*least.cost, {cycles, energy}};
  for (const ClassBound& unrolling_class : least.classes) {
    if (exact::exceeds({unrolling_class.bound}, {energy})) {
      more.ruled_out.push_back(unrolling_class.unrollings.first);
    }
  }
  SearchResult fastest = search_classes(space, options, deadline, more);
  add_effort(least.statistics, fastest.statistics);
  least.statistics.unrollings = count_searched(least.classes, fastest.classes);
  least.best = std::move(fastest.best);
  least.cost = std::move(fastest.cost);
  least.interrupted = fastest.interrupted;
  Certificate& proof = least.certificate;
  if (proof.status == Proof::kOptimal) {
    const bool open = fastest.certificate.bound_but_for_free_boundaries.has_value();
    proof.lower_bound = objective_value(asked, *least.cost);
    proof.status = open ? Proof::kOptimal : fastest.certificate.status;
    proof.bound_but_for_free_boundaries = open ? std::optional{proof.lower_bound} : std::nullopt;
  }
  return least;
}

// Labels to be spent on finding out what a limit would need to be.
constexpr std::int64_t kMostToExplain = 50'000;

InfeasibleReport explain(const Mapspace& space, SearchOptions options, const Deadline& deadline) {
  options.progress = nullptr;
  options.budget.labels = std::min(options.budget.labels, kMostToExplain);
  const InfeasibleReport report =
      exact::explain_limits(Objective{options.objective}, [&](const Objective& least) {
        options.objective = least;
        return search_classes(space, options, deadline);
      });
  return report.reasons.empty() ? exact::explain_infeasible(space) : report;
}

// Has the search left anything open that exhaustive search would decide?
bool is_open(const SearchResult& result) {
  return result.interrupted || result.certificate.bound_but_for_free_boundaries.has_value();
}

// How often counting asks whether to go on, beside once per class of unrollings: at most about a
// second.
constexpr std::size_t kMostPolls = 400;

// The size of the space. With imperfect factors or rules counting can take seconds, so it is empty
// if the search is or gets interrupted, or if the space takes too much work on any machine.
std::string size_of(const Mapspace& space, bool interrupted, const Deadline& deadline) {
  if (interrupted || !space.is_listable()) {
    return "";
  }
  // Imperfect factors under rules have a limit of their own (RuledExtents::kMostStates).
  const bool is_limited = !(space.constraints().factors.imperfect && space.is_ruled());
  std::size_t left = kMostPolls + space.unrolling_classes().size();
  const auto stop = [&] { return (is_limited && left-- == 0) || deadline.over(); };
  return mapspace_size_unless(space, stop).value_or("");
}

// `known`: a mapping that was found elsewhere.
SearchResult search(const Mapspace& space, const SearchOptions& asked,
                    const std::optional<ClassSearchInputs::Known>& known) {
  SearchOptions options = asked;
  if (options.objective.exact_ties || space.problem().is_timed_by_model()) {
    options.budget.gap = 0;  // the next search needs the optimum
  }
  const Deadline deadline(options);
  // Folds with a remainder are searched in what is left of the time, which is half of it at least.
  SearchOptions without_remainders = options;
  const bool has_folds =
      options.partial_folds && exact::has_partial_folds(space, options.objective);
  without_remainders.budget.seconds =
      SharedBudget::share_of(options.budget.seconds, has_folds ? 2 : 1);
  const Deadline first(without_remainders);
  const std::int64_t few = count_if_enumerable(space);
  const std::int64_t labels = labels_before_enumeration(few);
  const bool is_quick = !space.is_ruled() && !space.constraints().factors.imperfect;
  nests::WholeCount count(space);
  const Haste haste(without_remainders, first);
  ClassSearchInputs more;
  more.labels = labels;
  more.best = known;
  if (is_quick) {
    more.beside = [&] { return !haste.over() && count.step([&] { return haste.over(); }); };
  }
  SearchResult result = search_classes(space, options, first, more);
  if (options.objective.exact_ties && !options.objective.function.uses_latency() && result.cost &&
      !result.interrupted) {
    result = break_ties(space, options, std::move(result), first, labels);
  }
  if (labels < options.budget.labels && is_open(result)) {
    enumerate_instead(space, options, first, result);
  }
  if (has_folds) {  // without time or labels left it bounds them, and claims no more
    exact::search_partial_folds(space, options, deadline, result);
  }
  while (is_quick && !haste.over() && count.step([&] { return haste.over(); })) {
  }
  if (!is_quick) {
    result.certificate.mapspace_size = size_of(space, result.interrupted, deadline);
  } else if (count.is_done()) {
    result.certificate.mapspace_size = count.result().get_str();
    result.statistics.unrollings_total = space.class_count();
  }
  if (result.certificate.status == Proof::kInfeasible && !result.interrupted) {
    result.infeasible =
        few > 0 ? search_exhaustive(space, options).infeasible : explain(space, options, deadline);
  }
  result.statistics.seconds = deadline.seconds();
  result.statistics.peak_bytes = std::max(first.peak_bytes(), deadline.peak_bytes());
  return result;
}

}  // namespace

SearchResult search_exact(const Mapspace& space, const SearchOptions& options) {
  return timing_model(space.problem().arch()).is_engine ? search_nvdla(space, options)
                                                        : search(space, options, std::nullopt);
}

SearchResult search_exact_from(const Mapspace& space, const SearchOptions& options,
                               const Mapping& known) {
  const Evaluation evaluation = evaluate(space.problem(), known);
  const Cost* const cost = std::get_if<Cost>(&evaluation);
  if (cost == nullptr || !is_within_limits(options.objective, *cost) ||
      timing_model(space.problem().arch()).is_engine || space.constraints().factors.imperfect) {
    return search_exact(space, options);
  }
  return search(
      space, options,
      ClassSearchInputs::Known{&known, cost, imperfect::key_of_cost(options.objective, *cost)});
}

}  // namespace mapsim
