// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "tests/mapper/brute_chain.hpp"

namespace mapsim {

// Points (energy, latency) of mapping trees, such that no other is as good.
using TreePoints = std::vector<TreePoint>;

// Unless another point is as good.
inline void add(const TreePoint& point, TreePoints& front) {
  const auto is_no_worse = [](const TreePoint& a, const TreePoint& b) {
    return a.energy <= b.energy * (1 + 1e-12) && a.cycles <= b.cycles;
  };
  for (const TreePoint& other : front) {
    if (is_no_worse(other, point)) {
      return;
    }
  }
  std::erase_if(front, [&](const TreePoint& other) { return is_no_worse(point, other); });
  front.push_back(point);
}
inline void add(const TreePoints& points, TreePoints& front) {
  for (const TreePoint& point : points) {
    add(point, front);
  }
}
inline TreePoints sum_of(const TreePoints& a, const TreePoints& b) {
  TreePoints sums;
  for (const TreePoint& x : a) {
    for (const TreePoint& y : b) {
      add({x.energy + y.energy, x.cycles + y.cycles}, sums);
    }
  }
  return sums;
}

// A tensor that a group may keep at a level.
struct PossibleKeep {
  ChainTensor use;
  LevelId level{};
};
// Items of a group with keeps of its own: 0 is none, else the number of loops outside plus one.
inline std::vector<TreeItem> insert(const std::vector<TreeItem>& prefix,
                                    const std::vector<PossibleKeep>& own,
                                    const std::vector<std::size_t>& positions) {
  std::vector<TreeItem> items;
  std::size_t loop = 0;
  const auto add = [&] {
    for (std::size_t k = 0; k < own.size(); ++k) {
      if (positions[k] == loop + 1) {
        items.emplace_back(TreeKeep{own[k].level, {own[k].use}});
      }
    }
  };
  add();
  for (const TreeItem& item : prefix) {
    items.push_back(item);
    if (std::holds_alternative<Temporal>(item)) {
      ++loop;
      add();
    }
  }
  return items;
}

}  // namespace mapsim
