// SPDX-License-Identifier: Apache-2.0
#include "campaign/report_select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <unordered_set>

#include "report/chart.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kMeasureCount = 3;

using Values = std::array<double, kMeasureCount>;

Values values_of(const DesignPoint& point) {
  return {point.energy, point.seconds, point.area.value_or(0)};
}

// Where a value stands between the least and the most, on an axis of cells.
struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  std::size_t cell(double value, std::size_t cells) const {
    const bool by_factors = least > 0;
    const double wide = by_factors ? std::log(most / least) : most - least;
    const double at = by_factors ? std::log(value / least) : value - least;
    return wide > 0 && std::isfinite(at / wide)
               ? static_cast<std::size_t>(at / wide * static_cast<double>(cells))
               : 0;
  }
};

std::array<Range, kMeasureCount> ranges_of(const std::vector<DesignPoint>& points) {
  std::array<Range, kMeasureCount> ranges;
  for (const DesignPoint& point : points) {
    const Values values = values_of(point);
    for (std::size_t i = 0; i < kMeasureCount; ++i) {
      ranges[i].least = std::min(ranges[i].least, values[i]);
      ranges[i].most = std::max(ranges[i].most, values[i]);
    }
  }
  return ranges;
}

// The first `always` of the order, and those that are the first in their cell of any pair of axes.
std::vector<std::size_t> first_in_cells(const std::vector<DesignPoint>& points,
                                        const std::vector<std::size_t>& order,
                                        const std::array<Range, kMeasureCount>& ranges,
                                        std::size_t cells, std::size_t always) {
  std::array<std::unordered_set<std::size_t>, kMeasureCount> taken;
  std::vector<std::size_t> kept;
  for (const std::size_t i : order) {
    const Values values = values_of(points[i]);
    bool first = kept.size() < always;
    for (std::size_t a = 0; a < kMeasureCount; ++a) {
      const std::size_t b = (a + 1) % kMeasureCount;
      const std::size_t cell =
          ranges[a].cell(values[a], cells) * (cells + 1) + ranges[b].cell(values[b], cells);
      first = taken[a].insert(cell).second || first;
    }
    if (first) {
      kept.push_back(i);
    }
  }
  return kept;
}

bool is_end(const DesignPoint& point, const std::array<Range, kMeasureCount>& ranges) {
  const Values values = values_of(point);
  for (std::size_t i = 0; i < kMeasureCount; ++i) {
    if (values[i] == ranges[i].least || values[i] == ranges[i].most) {
      return true;
    }
  }
  return false;
}

}  // namespace

StudyPoints design_points(const Study& study) {
  const DesignResult* const best = study.best();
  StudyPoints all;
  for (const DesignResult& design : study.designs) {
    if (design.is_complete()) {
      all.designs.push_back(&design);
      all.points.push_back({fmt::to_string(design.number), "", design.energy_pj() * kPicojoule,
                            design.seconds(), design.area_mm2, false, &design == best});
    }
  }
  // Areas compare designs where all have one.
  if (!std::all_of(all.points.begin(), all.points.end(),
                   [](const auto& p) { return p.area.has_value(); })) {
    for (DesignPoint& point : all.points) {
      point.area.reset();
    }
  }
  mark_front(all.points);
  return all;
}

std::vector<std::size_t> drawn_points(const std::vector<DesignPoint>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (points.size() <= kMostDots) {
    return order;
  }
  const std::array<Range, kMeasureCount> ranges = ranges_of(points);
  const auto rank = [&](std::size_t i) {
    const DesignPoint& point = points[i];
    return point.chosen ? 0 : point.on_front ? 1 : is_end(point, ranges) ? 2 : 3;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  // A front without end is thinned, too.
  auto always = static_cast<std::size_t>(
      std::count_if(order.begin(), order.end(), [&rank](std::size_t i) { return rank(i) < 3; }));
  always = always <= kMostDots / 2 ? always : 0;
  constexpr std::size_t kFinest = 256;  // cells an axis, about a pixel each
  std::vector<std::size_t> kept;
  for (std::size_t cells = kFinest; cells >= 8; cells = cells * 3 / 4) {
    kept = first_in_cells(points, order, ranges, cells, always);
    if (kept.size() <= kMostDots) {
      break;
    }
  }
  kept.resize(std::min(kept.size(), kMostDots));
  std::sort(kept.begin(), kept.end());
  return kept;
}

std::vector<const DesignResult*> drawn_designs(const StudyPoints& points) {
  std::vector<const DesignResult*> complete = points.designs;
  if (complete.size() > kMostBars) {
    std::vector<const DesignResult*> front;
    for (std::size_t i = 0; i < points.points.size(); ++i) {
      if (points.points[i].on_front) {
        front.push_back(complete[i]);
      }
    }
    std::stable_sort(front.begin(), front.end(),
                     [](const auto* a, const auto* b) { return a->energy_pj() < b->energy_pj(); });
    complete = front;
  }
  if (complete.size() > kMostBars) {
    // Evenly along the front, both ends included.
    std::vector<const DesignResult*> some;
    for (std::size_t i = 0; i < kMostBars; ++i) {
      some.push_back(complete[i * (complete.size() - 1) / (kMostBars - 1)]);
    }
    complete = some;
  }
  return complete;
}

std::vector<const DesignResult*> listed_designs(const Study& study, const StudyPoints& points,
                                                std::size_t rows, bool layers) {
  const auto rows_of = [layers](const DesignResult& design) {
    return layers ? design.sums.layers : 1;
  };
  std::vector<const DesignResult*> all;
  std::size_t needed = 0;
  for (const DesignResult& design : study.designs) {
    all.push_back(&design);
    needed += rows_of(design);
  }
  if (needed <= rows) {
    return all;
  }
  std::set<const DesignResult*> front;
  for (std::size_t i = 0; i < points.points.size(); ++i) {
    if (points.points[i].on_front) {
      front.insert(points.designs[i]);
    }
  }
  const Objective goal = study.goal();
  std::vector<std::tuple<int, double, const DesignResult*>> ranked;
  for (const DesignResult* design : all) {
    const int rank = !design->is_complete() ? 2 : front.contains(design) ? 0 : 1;
    ranked.emplace_back(rank, design->value(goal.function), design);
  }
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {  // places ascend
    return std::get<0>(a) != std::get<0>(b)   ? std::get<0>(a) < std::get<0>(b)
           : std::get<1>(a) != std::get<1>(b) ? std::get<1>(a) < std::get<1>(b)
                                              : std::get<2>(a)->number < std::get<2>(b)->number;
  });
  std::vector<const DesignResult*> kept;
  std::size_t used = 0;
  for (const auto& [rank, value, design] : ranked) {
    used += rows_of(*design);
    if (used > rows && !kept.empty()) {
      break;
    }
    kept.push_back(design);
  }
  std::sort(kept.begin(), kept.end(),
            [](const auto* a, const auto* b) { return a->number < b->number; });
  return kept;
}

std::vector<std::size_t> designs_to_read(const Study& study, std::size_t studies,
                                         const std::vector<std::size_t>& wanted) {
  const StudyPoints points = design_points(study);
  std::vector<const DesignResult*> read = listed_designs(study, points, kMostRows / studies, true);
  const std::vector<const DesignResult*> bars = drawn_designs(points);
  read.insert(read.end(), bars.begin(), bars.end());
  if (const DesignResult* const best = study.best()) {
    read.push_back(best);
  }
  std::set<std::size_t> places;
  for (const DesignResult* design : read) {
    places.insert(static_cast<std::size_t>(design - study.designs.data()));
  }
  for (std::size_t i = 0; i < study.designs.size(); ++i) {
    if (std::find(wanted.begin(), wanted.end(), study.designs[i].number) != wanted.end()) {
      places.insert(i);
    }
  }
  return {places.begin(), places.end()};
}

}  // namespace mapsim
