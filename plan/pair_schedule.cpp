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

// What a sequence of tasks takes: until its end, and of each engine.
struct Work {
  double end = 0;
  std::map<std::size_t, double> busy;
};

std::vector<Work> work_of(const std::vector<std::vector<PairTask>>& plans) {
  std::vector<Work> all(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (const PairTask& task : plans[i]) {
      all[i].end = task.end;
      if (task.engine) {
        all[i].busy[*task.engine] += task.end - task.start;
      }
    }
  }
  return all;
}

// Neither is done before its own end, nor an engine before the tasks of both are.
double least_makespan(const Work& a, const Work& b) {
  double least = std::max(a.end, b.end);
  for (const auto& [engine, busy] : a.busy) {
    const auto at = b.busy.find(engine);
    least = std::max(least, busy + (at == b.busy.end() ? 0 : at->second));
  }
  return least;
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

BestPair best_pair(const std::vector<std::vector<PairTask>>& first,
                   const std::vector<std::vector<PairTask>>& second,
                   PlanSearches::Clock::time_point end) {
  struct Pair {
    double least = 0;
    std::size_t i = 0, j = 0;
  };
  const std::vector<Work> one = work_of(first);
  const std::vector<Work> other = work_of(second);
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < first.size(); ++i) {
    for (std::size_t j = 0; j < second.size(); ++j) {
      pairs.push_back({least_makespan(one[i], other[j]), i, j});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.least < b.least; });
  BestPair best;
  best.makespan = std::numeric_limits<double>::infinity();
  for (const auto& [least, i, j] : pairs) {
    if (least >= best.makespan) {
      best.tried = pairs.size();  // the others have no less
      break;
    }
    if (best.tried > 0 && PlanSearches::Clock::now() >= end) {
      break;
    }
    ++best.tried;
    const double makespan = schedule_pair(first[i], second[j]).makespan;
    if (makespan < best.makespan) {
      best.makespan = makespan;
      best.first = i;
      best.second = j;
    }
  }
  return best;
}

}  // namespace mapsim
