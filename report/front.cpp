// SPDX-License-Identifier: Apache-2.0
#include "report/front.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/figures.hpp"
#include "report/names.hpp"
#include "report/svg.hpp"
#include "report/table.hpp"
#include "report/text.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

// Of an axis of capacity 0 is shown where this is: a logarithm needs something.
constexpr double kLeastBits = 8;

std::string measure_text(const FrontSubject& subject, std::int64_t measure) {
  return subject.room ? bytes_text(Bits{measure}) : grouped(measure) + " cycles";
}

// In words: what the rows are.
std::string title(const Mapspace& space, const FrontSubject& subject) {
  const Arch& arch = space.problem().arch();
  if (!subject.room) {
    return fmt::format("energy against {} latency", to_string(subject.objective.mode));
  }
  return fmt::format("least {} with a capacity of {}", to_string(subject.objective),
                     room_name(arch, *subject.room));
}

std::string space_text(const Mapspace& space, const Front& front) {
  return front.schedules
             ? fmt::format("the engine's {} schedules", short_decimal(front.mapspace_size))
             : mappings_text(space, front.mapspace_size);
}

std::string proof_text(const Mapspace& space, const FrontSubject& subject, const Front& front) {
  const std::string over = space_text(space, front);
  if (front.but_for_bare) {
    return fmt::format(
        "proven of {} where something is kept or spread at every extent: {}; the others are too "
        "many to look at\n",
        over,
        subject.room ? "with any capacity, the best is that of the last row that fits"
                     : "none lies below these points");
  }
  if (!front.complete) {
    return fmt::format("stopped early: the best met of {}, without a proof\n", over);
  }
  return subject.room
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

// Where a capacity stands that the machine has today.
std::string now_text(const Arch& arch, const FrontSubject& subject) {
  const Capacity& capacity = arch.levels[subject.room->level].capacity;
  std::optional<Bits> now = capacity.shared;
  if (subject.room->role && capacity.per_role.contains(*subject.room->role)) {
    now = capacity.per_role.at(*subject.room->role);
  }
  return fmt::format("{} has {} now{}\n", room_name(arch, *subject.room),
                     now ? bytes_text(*now) : "no limit",
                     arch.levels[subject.room->level].double_buffered
                         ? ", half of it for tiles: it is double-buffered"
                         : "");
}

}  // namespace

std::string room_name(const Arch& arch, const CurveRoom& room) {
  return arch.levels[room.level].name +
         (room.role ? fmt::format(" {}", to_string(*room.role)) : std::string{});
}

std::string front_text(const Mapspace& space, const FrontSubject& subject, const Front& front) {
  const Problem& problem = space.problem();
  std::string text = title_text(problem.arch(), problem.workload()) + "\n";
  if (front.points.empty()) {
    return text + fmt::format("no feasible mapping among {}\n", space_text(space, front)) +
           infeasible_text(front.infeasible, true) + statistics_text(front.statistics);
  }
  Objective untied = subject.objective;
  untied.exact_ties = false;
  const std::string name = to_string(untied);
  const bool composed = subject.room && name != "energy" && name != "latency";
  Row head{""};
  if (subject.room) {
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
    if (subject.room) {
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
  if (subject.room && subject.objective.energy_power == 0) {
    text += "(energies of mappings with these capacities, not the least of their latency)\n";
  }
  if (subject.room) {
    text += now_text(problem.arch(), subject);
  }
  return text + proof_text(space, subject, front) + statistics_text(front.statistics);
}

std::string front_svg(const Mapspace& space, const FrontSubject& subject, const Front& front) {
  constexpr Box kPlot{90, 50, 600, 310};
  Canvas canvas;
  canvas.text(kPlot.x, 20,
              fmt::format("{} on {}: {}", space.problem().workload().name,
                          space.problem().arch().name, title(space, subject)),
              Anchor::kStart, kTitleStyle);
  if (front.points.empty()) {
    return canvas.finish();
  }
  const auto log_x = [](const FrontPoint& point) {
    return std::log(std::max(static_cast<double>(point.measure), kLeastBits));
  };
  const FrontPoint& first = front.points.front();  // right and low
  const FrontPoint& last = front.points.back();    // left and high
  const double wide = std::max(log_x(first) - log_x(last), 1e-9);
  const double high = std::max(std::log(last.value / first.value), 1e-9);
  const auto x = [&](const FrontPoint& point) {
    return kPlot.x + kPlot.width * (log_x(point) - log_x(last)) / wide;
  };
  const auto y = [&](const FrontPoint& point) {
    return kPlot.y + kPlot.height * (1 - std::log(point.value / first.value) / high);
  };
  // Between two points the one with the smaller measure holds.
  for (std::size_t i = front.points.size() - 1; i-- > 0;) {
    const FrontPoint& left = front.points[i + 1];
    const FrontPoint& right = front.points[i];
    canvas.line(x(left), y(left), x(right), y(left), kBlue);
    canvas.line(x(right), y(left), x(right), y(right), kBlue);
  }
  for (const FrontPoint& point : front.points) {
    canvas.dot(x(point), y(point), kBlue);
  }
  const Objective shown = subject.room ? subject.objective : Objective::kEnergy;
  const bool one = front.points.size() == 1;
  for (const FrontPoint* point : {&first, &last}) {
    canvas.text(kPlot.x - 8, y(*point) + 4, objective_text(shown, point->value), Anchor::kEnd);
    canvas.text(x(*point), kPlot.bottom() + 20, measure_text(subject, point->measure),
                Anchor::kMiddle);
    if (one) {
      break;
    }
  }
  canvas.text(kPlot.x + kPlot.width / 2, kPlot.bottom() + 42,
              fmt::format("{} (logarithmic)", subject.room ? "capacity" : "latency"),
              Anchor::kMiddle);
  return canvas.finish();
}

}  // namespace mapsim
