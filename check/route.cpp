// SPDX-License-Identifier: Apache-2.0
#include "check/route.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace mapsim::check {

double mean_route(const Fanout& fanout, const Rules::AxisFactors& axes, DimSet shared) {
  struct Rows {
    std::int64_t first = 0;
    std::int64_t last = 0;
  };
  std::map<std::vector<std::int64_t>, std::map<std::int64_t, Rows>> groups;  // rows by column
  const PerDim<std::int64_t> idle(axes[0].size(), 0);
  std::array<PerDim<std::int64_t>, 2> index{idle, idle};  // which instance, per axis and dim
  while (true) {
    std::vector<std::int64_t> group;
    std::array<std::int64_t, 2> place{0, 0};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      for (const DimId d : idle.ids()) {
        place[axis] = place[axis] * axes[axis][d] + index[axis][d];
        group.push_back(shared.contains(d) ? 0 : index[axis][d]);
      }
    }
    Rows& rows = groups[group].try_emplace(place[0], Rows{place[1], place[1]}).first->second;
    rows = {std::min(rows.first, place[1]), std::max(rows.last, place[1])};
    std::size_t digit = 0;
    const auto at = [&](auto& of) -> auto& {
      return of[digit / idle.size()][static_cast<DimId>(digit % idle.size())];
    };
    while (digit < 2 * idle.size() && ++at(index) == at(axes)) {
      at(index) = 0;
      ++digit;
    }
    if (digit == 2 * idle.size()) {
      break;
    }
  }
  const double middle = static_cast<double>(fanout.y - 1) / 2;
  double hops = 0;
  for (const auto& [group, columns] : groups) {
    hops += static_cast<double>(columns.rbegin()->first);
    for (const auto& [column, rows] : columns) {
      hops += std::max(0.0, middle - static_cast<double>(rows.first)) +
              std::max(0.0, static_cast<double>(rows.last) - middle);
    }
  }
  return hops / static_cast<double>(groups.size());
}

}  // namespace mapsim::check
