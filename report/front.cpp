// SPDX-License-Identifier: Apache-2.0
#include "report/front.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/edit_distance.hpp"
#include "report/chart.hpp"
#include "report/figures.hpp"
#include "report/names.hpp"
#include "report/plots.hpp"
#include "report/table.hpp"
#include "report/text.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

// Capacities below this are shown where this is: a logarithm needs something.
constexpr double kLeastBytes = 1;

// In words: what the rows are.
std::string title(const Mapspace& space, const FrontSubject& subject) {
  const Arch& arch = space.problem().arch();
  if (!subject.capacity) {
    return fmt::format("energy against {} latency", to_string(subject.objective.mode));
  }
  return fmt::format("least {} with a capacity of {}", to_string(subject.objective),
                     capacity_name(arch, *subject.capacity));
}

std::string space_text(const Mapspace& space, const Front& front) {
  return front.schedules
             ? fmt::format("the engine's {} schedules", short_decimal(front.mapspace_size))
             : mappings_text(space, front.mapspace_size);
}

std::string proof_text(const Mapspace& space, const FrontSubject& subject, const Front& front) {
  const std::string over = space_text(space, front);
  if (front.but_for_free_boundaries && front.complete) {
    return fmt::format(
        "proven for those of {} without free tile boundaries: {}; those with them are too many to "
        "search\n",
        over,
        subject.capacity ? "with any capacity, the best is that of the last row that fits"
                         : "none lies below these points");
  }
  if (!front.complete) {
    return fmt::format("stopped early: the best that were found of {}, without a proof\n", over);
  }
  return subject.capacity
             ? fmt::format(
                   "proven: with any capacity, the best of {} is that of the last row that "
                   "fits\n",
                   over)
             : fmt::format("proven: none of {} lies below these points\n", over);
}

// All of it: rounded, it would not do for the mapping beside it.
std::string capacity_text(std::int64_t bits) {
  return bits % 8 == 0 ? grouped(bits / 8) + " B" : grouped(bits) + " b";
}

// Where a capacity stands that the machine has today, and what does not change with it.
std::string now_text(const Arch& arch, const FrontSubject& subject) {
  const Capacity& capacity = arch.levels[subject.capacity->level].capacity;
  std::optional<Bits> now = capacity.shared;
  if (subject.capacity->role && capacity.per_role.contains(*subject.capacity->role)) {
    now = capacity.per_role.at(*subject.capacity->role);
  }
  return fmt::format(
      "{} has {} now{}; its energy per access is taken to be the same at every capacity\n",
      capacity_name(arch, *subject.capacity), now ? bytes_text(*now) : "no limit",
      arch.levels[subject.capacity->level].double_buffered
          ? ", half of it for tiles: it is double-buffered"
          : "");
}

// ----- as a picture -----

double bytes_shown(const FrontPoint& point) {
  return std::max(static_cast<double>(point.measure) / 8, kLeastBytes);
}

// Of an objective's value: "J", "s", "J\u00b7s", "J^2\u00b7s".
std::string si_unit(const Objective& objective) {
  return objective.function.unit("J", "s", "\u00b7");
}

double si_value(const Objective& objective, const Arch& arch, double value) {
  return objective.function.scaled(value, 1 / kPicojoule, arch.clock.count());
}

std::string objective_name(Objective objective) {
  objective.exact_ties = false;
  return to_string(objective);
}

std::string point_title(const FrontSubject& subject, const FrontPoint& point) {
  const Cycles cycles = latency_of(subject.objective.mode, point.cost.latency);
  return subject.capacity ? fmt::format("{}: {}", capacity_text(point.measure),
                                        objective_text(subject.objective, point.value))
                          : fmt::format("{}, {} cycles", energy_text(point.cost.energy.total),
                                        grouped(cycles.count()));
}

std::string remark(const Front& front) {
  if (front.points.empty()) {
    return "no mapping fits";
  }
  return fmt::format("{} point{}, {}", front.points.size(), front.points.size() == 1 ? "" : "s",
                     front.complete && !front.but_for_free_boundaries
                         ? "proven: no mapping lies below them"
                         : "the best met, without a whole proof");
}

}  // namespace

Parsed<CurveCapacity> parse_curve_capacity(const std::string& text, const Arch& arch) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const Words levels = names_of(arch.levels);
  const auto at = std::find(levels.begin(), levels.end(), name);
  if (at == levels.end()) {
    return fmt::format("no level '{}'{}", name, suggestion(name, levels));
  }
  CurveCapacity capacity{static_cast<LevelId>(at - levels.begin()), std::nullopt};
  const auto& partitions = arch.levels[capacity.level].capacity.per_role;
  if (partitions.empty()) {
    return colon == std::string::npos
               ? Parsed<CurveCapacity>{capacity}
               : fmt::format("{} is not split by role; write '{}'", name, name);
  }
  Words roles;
  for (const auto& partition : partitions) {
    roles.emplace_back(to_string(partition.first));
    if (colon != std::string::npos && text.substr(colon + 1) == roles.back()) {
      capacity.role = partition.first;
    }
  }
  if (!capacity.role) {
    return fmt::format("{} is split by role; write '{}:{}'{}", name, name, roles.front(),
                       suggestion("", roles));
  }
  return capacity;
}

std::string capacity_name(const Arch& arch, const CurveCapacity& capacity) {
  return arch.levels[capacity.level].name +
         (capacity.role ? fmt::format(" {}", to_string(*capacity.role)) : std::string{});
}

double seconds_of(const Arch& arch, Cycles cycles) {
  return static_cast<double>(cycles.count()) / arch.clock.count();
}

std::string front_text(const Mapspace& space, const FrontSubject& subject, const Front& front) {
  const Problem& problem = space.problem();
  std::string text = title_text(problem.arch(), problem.workload()) + "\n";
  if (front.points.empty()) {
    return text +
           fmt::format("no feasible mapping {}among {}\n", front.complete ? "" : "found ",
                       space_text(space, front)) +
           infeasible_text(front.infeasible, true) + statistics_text(front.statistics);
  }
  const std::string name = objective_name(subject.objective);
  const bool composed = subject.capacity && name != "energy" && name != "latency";
  Row head{""};
  if (subject.capacity) {
    head.emplace_back("capacity");
  }
  head.insert(head.end(), {"energy", "steady cycles", "ramped cycles"});
  if (composed) {
    head.push_back(name);
  }
  if (front.schedules) {
    head.emplace_back("form");
  }
  head.emplace_back("limited by");
  std::vector<Row> rows{head};
  for (std::size_t i = 0; i < front.points.size(); ++i) {
    const FrontPoint& point = front.points[i];
    const Latency& latency = point.cost.latency;
    Row row{fmt::format("{}", i + 1)};
    if (subject.capacity) {
      row.push_back(capacity_text(point.measure));
    }
    row.insert(row.end(), {energy_text(point.cost.energy.total), grouped(latency.steady.count()),
                           grouped(latency.ramped.count())});
    if (composed) {
      row.push_back(objective_text(subject.objective, point.value));
    }
    if (front.schedules) {
      row.push_back(to_string(point.form));
    }
    row.push_back(resource_name(problem.arch(), latency.resources[latency.bottleneck]));
    rows.push_back(row);
  }
  text += title(space, subject) + "\n" + table(rows) + "\n";
  if (subject.capacity && !subject.objective.function.uses_energy()) {
    text += "(energies of mappings with these capacities, not the least of their latency)\n";
  }
  if (subject.capacity) {
    text += now_text(problem.arch(), subject);
  }
  return text + proof_text(space, subject, front) + statistics_text(front.statistics);
}

std::string front_svg(const Mapspace& space, const FrontSubject& subject, const Front& front) {
  const Arch& arch = space.problem().arch();
  std::vector<FrontDot> dots;
  std::vector<double> across;
  std::vector<double> up;
  for (const FrontPoint& point : front.points) {
    const Latency& latency = point.cost.latency;
    const Cycles cycles = latency_of(subject.objective.mode, latency);
    dots.push_back({subject.capacity ? bytes_shown(point) : seconds_of(arch, cycles),
                    subject.capacity ? si_value(subject.objective, arch, point.value)
                                     : si_value(Objective::kEnergy, arch, point.value),
                    point_title(subject, point)});
    across.push_back(dots.back().x);
    up.push_back(dots.back().y);
  }
  const std::string what = title(space, subject);
  const FrontChart chart{
      {fmt::format("{} on {}: {}", space.problem().workload().name, arch.name, what),
       remark(front)},
      subject.capacity
          ? ChartAxis::of_bytes("capacity of " + capacity_name(arch, *subject.capacity), across)
          : ChartAxis::around("latency", "s", across),
      subject.capacity
          ? ChartAxis::around(objective_name(subject.objective), si_unit(subject.objective), up)
          : ChartAxis::around("energy", "J", up),
      dots};
  return standalone(front_svg(chart.head.title, chart));
}

}  // namespace mapsim
