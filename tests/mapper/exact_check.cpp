// SPDX-License-Identifier: Apache-2.0
#include "exact_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "membership.hpp"

namespace mapsim {
namespace {

constexpr std::array kNames{"energy", "latency", "EDP"};

// An optimum may be off by what rounding adds up to in another order of summation.
bool is_close(double a, double b) { return a == b || std::abs(a - b) <= 1e-9 * std::abs(b); }

// What looking at every mapping tells.
struct Survey {
  std::int64_t size = 0;
  std::array<std::optional<Cost>, kObjectives.size()> best;
  std::array<bool, kObjectives.size()> found{};  // was the exact mapper's mapping among them?
};

Survey survey(const Mapspace& space, const std::array<SearchResult, kObjectives.size()>& claimed) {
  Survey seen;
  space.enumerate([&](const Mapping& mapping) {
    ++seen.size;
    const Evaluation evaluation = evaluate(space.problem(), mapping);
    const Cost* cost = std::get_if<Cost>(&evaluation);
    for (std::size_t o = 0; o < kObjectives.size() && cost != nullptr; ++o) {
      if (!seen.best[o] || better(kObjectives[o], *cost, *seen.best[o])) {
        seen.best[o] = *cost;
      }
      seen.found[o] = seen.found[o] || claimed[o].best == mapping;
    }
    return true;
  });
  return seen;
}

std::string certificate_mismatch(const SearchResult& result, double value, std::int64_t size) {
  const Certificate& certificate = result.certificate;
  if (certificate.status != (result.cost ? Proof::kOptimal : Proof::kInfeasible) ||
      result.interrupted) {
    return "no proof of an optimum, or of none";
  }
  if (certificate.lower_bound != value || certificate.gap != 0) {
    return fmt::format("lower bound {} and gap {} of an optimum {}", certificate.lower_bound,
                       certificate.gap, value);
  }
  if (certificate.mapspace_size != std::to_string(size)) {
    return fmt::format("mapspace of {}, not {}", certificate.mapspace_size, size);
  }
  return "";
}

std::string mapping_mismatch(const Mapspace& space, const SearchResult& result, bool found) {
  const std::string outside = why_outside(space, *result.best);
  if (!outside.empty() || !found) {
    return "mapping outside the mapspace: " + outside;
  }
  const Evaluation evaluation = evaluate(space.problem(), *result.best);
  const Cost* cost = std::get_if<Cost>(&evaluation);
  if (cost == nullptr || !(cost->counts == result.cost->counts) ||
      cost->energy.total != result.cost->energy.total ||
      cost->latency.steady != result.cost->latency.steady) {
    return "mapping does not cost what is claimed";
  }
  return "";
}

std::string mismatch(const Mapspace& space, Objective objective, const SearchResult& result,
                     const std::optional<Cost>& best, bool found, std::int64_t size) {
  if (result.best.has_value() != best.has_value() || result.cost.has_value() != best.has_value()) {
    return best ? "nothing found where something fits" : "something found where nothing fits";
  }
  if (!best) {
    return result.infeasible.reasons.empty() || result.infeasible.smallest_need.empty()
               ? "no reason why nothing fits"
               : certificate_mismatch(result, std::numeric_limits<double>::infinity(), size);
  }
  const double value = objective_value(objective, *result.cost);
  const double optimum = objective_value(objective, *best);
  if (!is_close(value, optimum)) {
    return fmt::format("{:.17g} where {:.17g} is the optimum", value, optimum);
  }
  if (objective == Objective::kLatency &&
      !is_close(result.cost->energy.total.count(), best->energy.total.count())) {
    return fmt::format("a tie at {} pJ where {} pJ is the best", result.cost->energy.total.count(),
                       best->energy.total.count());
  }
  const std::string wrong = mapping_mismatch(space, result, found);
  return wrong.empty() ? certificate_mismatch(result, value, size) : wrong;
}

}  // namespace

std::array<std::string, kObjectives.size()> exact_mismatches(const SearchCase& random) {
  const Mapspace space{random.problem, random.constraints};
  std::array<SearchResult, kObjectives.size()> claimed;
  for (std::size_t o = 0; o < kObjectives.size(); ++o) {
    SearchOptions options;
    options.objective = kObjectives[o];
    claimed[o] = search_exact(space, options);
  }
  const Survey seen = survey(space, claimed);
  std::array<std::string, kObjectives.size()> wrong;
  for (std::size_t o = 0; o < kObjectives.size(); ++o) {
    wrong[o] = mismatch(space, kObjectives[o], claimed[o], seen.best[o], seen.found[o], seen.size);
  }
  return wrong;
}

std::string exact_mismatch(const SearchCase& random) {
  const auto wrong = exact_mismatches(random);
  for (std::size_t o = 0; o < wrong.size(); ++o) {
    if (!wrong[o].empty()) {
      return fmt::format("{}: {}", kNames[o], wrong[o]);
    }
  }
  return "";
}

std::string result_difference(const SearchResult& a, const SearchResult& b) {
  if (!(a.best == b.best) || a.cost.has_value() != b.cost.has_value()) {
    return "best";
  }
  if (a.cost &&
      (!(a.cost->counts == b.cost->counts) || a.cost->energy.total != b.cost->energy.total ||
       a.cost->latency.steady != b.cost->latency.steady ||
       a.cost->latency.ramped != b.cost->latency.ramped ||
       a.cost->utilization != b.cost->utilization)) {
    return "cost";
  }
  if (a.certificate.status != b.certificate.status ||
      a.certificate.lower_bound != b.certificate.lower_bound ||
      a.certificate.gap != b.certificate.gap ||
      a.certificate.mapspace_size != b.certificate.mapspace_size) {
    return "certificate";
  }
  if (a.statistics.evaluations != b.statistics.evaluations ||
      a.statistics.labels != b.statistics.labels || a.statistics.states != b.statistics.states ||
      a.statistics.unrollings != b.statistics.unrollings ||
      a.statistics.unrollings_total != b.statistics.unrollings_total) {
    return "statistics";
  }
  return a.infeasible == b.infeasible && a.interrupted == b.interrupted ? "" : "infeasible";
}

}  // namespace mapsim
