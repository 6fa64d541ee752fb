// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "plan/pair.hpp"

namespace mapsim {

namespace {

using Point2 = std::pair<double, double>;  // on the clocks of both

struct Conflict {
  std::size_t i = 0, j = 0;
};

// The first two tasks of one engine that would run at the same time from here on.
std::optional<Conflict> first_conflict(const std::vector<PairTask>& a,
                                       const std::vector<PairTask>& b, const Point2& from) {
  const auto first = [](const std::vector<PairTask>& tasks, double clock) {
    return static_cast<std::size_t>(
        std::upper_bound(tasks.begin(), tasks.end(), clock,
                         [](double at, const PairTask& task) { return at < task.end; }) -
        tasks.begin());
  };
  std::size_t i = first(a, from.first);
  std::size_t j = first(b, from.second);
  while (i < a.size() && j < b.size()) {
    const double end_a = a[i].end - from.first;
    const double end_b = b[j].end - from.second;
    const double both = std::max({0.0, a[i].start - from.first, b[j].start - from.second});
    if (a[i].engine && a[i].engine == b[j].engine && both < std::min(end_a, end_b)) {
      return Conflict{i, j};
    }
    (end_a <= end_b ? i : j) += 1;
  }
  return std::nullopt;
}

struct Corner {
  double time = std::numeric_limits<double>::infinity();
  Point2 before{};
};

void set_starts(const std::vector<PairTask>& tasks, double begin, double end, double time,
                std::vector<double>& starts) {
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    if (begin <= tasks[k].start && tasks[k].start < end) {
      starts[k] = time + (tasks[k].start - begin);
    }
  }
}

}  // namespace

PairSchedule schedule_pair(const std::vector<PairTask>& a, const std::vector<PairTask>& b) {
  const Point2 end{a.empty() ? 0 : a.back().end, b.empty() ? 0 : b.back().end};
  std::map<Point2, Corner> reached{{Point2{0, 0}, {0, {0, 0}}}};
  const auto reach = [&](const Point2& from, double time, const Point2& to) {
    const double later = time + std::max(to.first - from.first, to.second - from.second);
    Corner& at = reached[to];
    if (later < at.time) {
      at = {later, from};
    }
  };
  // Corners only lead to points behind them on both clocks: in the order of the map all that lead
  // to a point come before it.
  for (auto at = reached.begin(); at != reached.end(); ++at) {
    const auto [point, here] = *at;
    if (point == end) {
      continue;
    }
    if (const auto conflict = first_conflict(a, b, point)) {
      const PairTask& one = a[conflict->i];
      const PairTask& other = b[conflict->j];
      reach(point, here.time, {one.end, std::max(point.second, other.start)});
      reach(point, here.time, {std::max(point.first, one.start), other.end});
    } else {
      reach(point, here.time, end);
    }
  }
  PairSchedule schedule;
  schedule.makespan = reached.at(end).time;
  schedule.starts = {std::vector<double>(a.size()), std::vector<double>(b.size())};
  for (Point2 to = end; to != Point2{0, 0};) {
    const Point2 from = reached.at(to).before;
    const double time = reached.at(from).time;
    const double never = std::numeric_limits<double>::infinity();
    set_starts(a, from.first, to == end ? never : to.first, time, schedule.starts[0]);
    set_starts(b, from.second, to == end ? never : to.second, time, schedule.starts[1]);
    to = from;
  }
  return schedule;
}

}  // namespace mapsim
