// SPDX-License-Identifier: Apache-2.0
#include "exact_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/label_search/history_search.hpp"
#include "membership.hpp"

namespace mapsim {
namespace {

// An optimum may be off by what rounding adds up to in another order of summation.
bool is_close(double a, double b) { return a == b || std::abs(a - b) <= 1e-9 * std::abs(b); }

bool is_allowed(const Objective& objective, const Figures& figures) {
  return (!objective.max_energy ||
          figures.energy <= objective.max_energy->count() * (1 + kRounding)) &&
         (!objective.max_latency ||
          figures.cycles(objective.mode) <= static_cast<double>(objective.max_latency->count()));
}

// The optimum, and the least second figure of those that reach it.
struct Optimum {
  double value = std::numeric_limits<double>::infinity();
  double second = std::numeric_limits<double>::infinity();
};

std::optional<Optimum> optimum_of(const Objective& objective, const Survey& seen) {
  const auto value = [&](const Figures& f) {
    return objective.function.value(f.energy, f.cycles(objective.mode));
  };
  Optimum best;
  for (const Figures& figures : seen.fitting) {
    if (is_allowed(objective, figures)) {
      best.value = std::min(best.value, value(figures));
    }
  }
  for (const Figures& figures : seen.fitting) {
    if (is_allowed(objective, figures) && value(figures) <= best.value * (1 + kRounding)) {
      const double second =
          objective.function.uses_latency() ? figures.energy : figures.cycles(objective.mode);
      best.second = std::min(best.second, second);
    }
  }
  return std::isfinite(best.value) ? std::optional{best} : std::nullopt;
}

std::string certificate_mismatch(const SearchResult& result, double value, std::int64_t size) {
  const Certificate& certificate = result.certificate;
  // Of imperfect factors there may be more than the search looks at (decision 18).
  const bool covers_all =
      !certificate.bound_but_for_free_boundaries || certificate.status == Proof::kOptimal;
  const Proof optimal = covers_all ? Proof::kOptimal : Proof::kBounded;
  if (certificate.status != (result.cost ? optimal : Proof::kInfeasible) || result.interrupted) {
    return "no proof of an optimum, or of none";
  }
  const double gap = covers_all ? 0 : value / certificate.lower_bound - 1;
  if (certificate.bound_but_for_free_boundaries.value_or(certificate.lower_bound) != value ||
      certificate.lower_bound > value || certificate.gap != gap) {
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

// Are ties of an objective decided by the second figure, with proof?
bool has_exact_ties(const Objective& objective) {
  return objective.exact_ties || objective.function.is_latency();
}

std::string mismatch(const Mapspace& space, const Objective& objective, const SearchResult& result,
                     const Survey& seen, bool found) {
  const std::optional<Optimum> best = optimum_of(objective, seen);
  if (result.best.has_value() != best.has_value() || result.cost.has_value() != best.has_value()) {
    return best ? "nothing found where something fits" : "something found where nothing fits";
  }
  if (!best) {
    return result.infeasible.reasons.empty() || result.infeasible.smallest_need.empty()
               ? "no reason why nothing fits"
               : certificate_mismatch(result, std::numeric_limits<double>::infinity(), seen.size);
  }
  const double value = objective_value(objective, *result.cost);
  if (!is_close(value, best->value)) {
    return fmt::format("{:.17g} where {:.17g} is the optimum", value, best->value);
  }
  if (!is_within_limits(objective, *result.cost)) {
    return "beyond a limit";
  }
  const double second =
      objective.function.uses_latency()
          ? result.cost->energy.total.count()
          : static_cast<double>(latency_of(objective.mode, result.cost->latency).count());
  const bool ties_open = result.certificate.status == Proof::kOptimal &&
                         result.certificate.bound_but_for_free_boundaries.has_value();
  if (has_exact_ties(objective) && !ties_open && !is_close(second, best->second)) {
    return fmt::format("a tie at {} where {} is the best", second, best->second);
  }
  const std::string wrong = mapping_mismatch(space, result, found);
  return wrong.empty() ? certificate_mismatch(result, value, seen.size) : wrong;
}

// Where loops are forgotten there may be no mapping that costs so little, but none costs less.
std::string bound_mismatch(const Mapspace& space, const Objective& objective, const Survey& seen) {
  const std::optional<Optimum> best = optimum_of(objective, seen);
  if (!space.constraints().factors.imperfect || !best) {
    return "";
  }
  const exact::UnrollingTasks classes{space, objective};
  const SearchOptions options;
  for (const bool counted : {false, true}) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t g = 0; g < classes.size(); ++g) {
      const Deadline deadline{options};
      const auto bound = imperfect::HistorySearch(classes.graph(g), space.unrolling_classes()[g],
                                                  objective, {}, deadline)
                             .bound_without_chains(counted ? imperfect::History::kTileCounts
                                                           : imperfect::History::kNone);
      least = std::min(least, bound.first);
    }
    if (least > best->value * (1 + 1e-9)) {
      return fmt::format("{} where loops are {}, and {} is the optimum", least,
                         counted ? "counted" : "forgotten", best->value);
    }
  }
  return "";
}

std::string name_of(const Objective& objective) {
  std::string name = fmt::format("{} ({})", to_string(objective), to_string(objective.mode));
  if (objective.max_energy) {
    name += fmt::format(" up to {} pJ", objective.max_energy->count());
  }
  if (objective.max_latency) {
    name += fmt::format(" up to {} cycles", objective.max_latency->count());
  }
  return name;
}

template <class Figure>
auto median(const std::vector<Figures>& all, const Figure& figure) {
  std::vector<std::decay_t<decltype(figure(all.front()))>> values;
  for (const Figures& figures : all) {
    values.push_back(figure(figures));
  }
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

}  // namespace

Survey survey(const Mapspace& space) {
  Survey seen;
  Evaluator evaluator(space.problem());
  space.enumerate([&](const Mapping& mapping) {
    ++seen.size;
    if (!evaluator.evaluate(mapping)) {
      const Cost& cost = evaluator.cost();
      seen.fitting.push_back(
          {cost.energy.total.count(), cost.latency.steady.count(), cost.latency.ramped.count()});
    }
    return true;
  });
  return seen;
}

std::vector<Objective> all_objectives(const Survey& seen) {
  const auto with = [](Objective objective, LatencyMode mode) {
    objective.mode = mode;
    return objective;
  };
  std::vector<Objective> all(kObjectives.begin(), kObjectives.end());
  all.push_back({ObjectiveFunction::product(2, 1)});
  all.push_back({ObjectiveFunction::product(1, 2.5)});
  all.push_back({ObjectiveFunction::weighted_sum(3.5)});
  for (const LatencyMode mode : {LatencyMode::kSteady, LatencyMode::kRamped}) {
    all.push_back({ObjectiveFunction::product(1, 0), true, mode});
  }
  all.push_back({ObjectiveFunction::weighted_sum(0.25), false, LatencyMode::kRamped});
  all.push_back(with(Objective::kLatency, LatencyMode::kRamped));
  all.push_back(with(Objective::kEdp, LatencyMode::kRamped));
  if (seen.fitting.empty()) {
    return all;
  }
  const Picojoules energy{median(seen.fitting, [](const Figures& f) { return f.energy; })};
  const Cycles steady{median(seen.fitting, [](const Figures& f) { return f.steady; })};
  const Cycles ramped{median(seen.fitting, [](const Figures& f) { return f.ramped; })};
  all.push_back(
      {ObjectiveFunction::product(1, 0), false, LatencyMode::kSteady, std::nullopt, steady});
  all.push_back(
      {ObjectiveFunction::product(1, 0), true, LatencyMode::kRamped, std::nullopt, ramped});
  all.push_back(
      {ObjectiveFunction::product(0, 1), false, LatencyMode::kSteady, energy, std::nullopt});
  all.push_back(
      {ObjectiveFunction::product(0, 1), false, LatencyMode::kRamped, energy, std::nullopt});
  all.push_back({ObjectiveFunction::product(1, 1), false, LatencyMode::kSteady, energy, steady});
  all.push_back({ObjectiveFunction::weighted_sum(2), false, LatencyMode::kSteady, energy, steady});
  all.push_back({ObjectiveFunction::product(1, 0), false, LatencyMode::kSteady,
                 Picojoules{energy.count() / 1e6}, steady});
  return all;
}

std::string exact_mismatch(const SearchCase& random, bool all) {
  const Mapspace space{random.problem, random.constraints};
  const Survey seen = survey(space);
  const std::vector<Objective> objectives =
      all ? all_objectives(seen) : std::vector<Objective>(kObjectives.begin(), kObjectives.end());
  std::vector<SearchResult> claimed;
  for (const Objective& objective : objectives) {
    SearchOptions options;
    options.objective = objective;
    claimed.push_back(search_exact(space, options));
  }
  std::vector<bool> found(claimed.size(), false);
  space.enumerate([&](const Mapping& mapping) {
    for (std::size_t o = 0; o < claimed.size(); ++o) {
      found[o] = found[o] || claimed[o].best == mapping;
    }
    return true;
  });
  for (std::size_t o = 0; o < claimed.size(); ++o) {
    const std::string wrong = mismatch(space, objectives[o], claimed[o], seen, found[o]);
    const std::string above = bound_mismatch(space, objectives[o], seen);
    if (!wrong.empty() || !above.empty()) {
      return fmt::format("{}: {} {}", name_of(objectives[o]), wrong, above);
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
  const auto same = [](const ClassBound& x, const ClassBound& y) {
    return x.bound == y.bound && x.by == y.by;
  };
  if (a.others_bound != b.others_bound ||
      !std::equal(a.classes.begin(), a.classes.end(), b.classes.begin(), b.classes.end(), same)) {
    return "groups";
  }
  if (a.statistics.evaluations != b.statistics.evaluations ||
      a.statistics.labels != b.statistics.labels || a.statistics.states != b.statistics.states ||
      a.statistics.unrollings != b.statistics.unrollings ||
      a.statistics.unrollings_total != b.statistics.unrollings_total) {
    return "statistics";
  }
  return a.infeasible == b.infeasible && a.interrupted == b.interrupted ? "" : "infeasible";
}

PerFanout<PerDim<std::int64_t>> used_instances(const Problem& problem, const Mapping& mapping) {
  PerDim<std::int64_t> extents = bounds_of(problem.workload());
  PerFanout<PerDim<std::int64_t>> used(problem.arch().fanouts.size(),
                                       PerDim<std::int64_t>(extents.size(), 1));
  for (const MappingNode& node : mapping.nodes) {
    if (const auto* parallel = std::get_if<Parallel>(&node)) {
      std::int64_t& extent = extents[parallel->dim];
      used[parallel->fanout][parallel->dim] *= (extent + parallel->extent - 1) / parallel->extent;
      extent = parallel->extent;
    } else if (const auto* loop = std::get_if<Temporal>(&node)) {
      extents[loop->dim] = loop->extent;
    }
  }
  return used;
}

}  // namespace mapsim
