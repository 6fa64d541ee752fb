// SPDX-License-Identifier: Apache-2.0
// Rows of LatticeRows with few tiles of interest, filled tile by tile.
#include <algorithm>
#include <vector>

#include "mapper/bounds/lattice_rows.hpp"

namespace mapsim::exact {

void LatticeRows::list_digits() {
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    const DivisorLattice& lattice = unrolled_.lattices[i];
    Digits made{PerDim<std::vector<std::uint16_t>>(lattice.dims()),
                PerDim<std::vector<std::uint32_t>>(lattice.dims())};
    for (const DimId d : made.digits.ids()) {
      if (lattice.positions(d).size() == 1) {
        continue;  // no loop runs over it
      }
      held_.take(lattice.size() * sizeof(std::uint16_t));
      made.digits[d] = lattice.digits_of_tiles(d);
      if (!unrolled_.windows.contains(d)) {
        continue;
      }
      std::vector<std::uint32_t>& rests = made.rests[d];
      held_.fill(rests, lattice.size(), std::uint32_t{0});
      std::uint32_t block = 0;
      lattice.sweep(d, [&](std::size_t digit, std::size_t first, std::size_t last) {
        block += digit == 0 && first > 0 ? static_cast<std::uint32_t>(last - first) : 0;
        for (std::size_t tile = first; tile < last; ++tile) {
          rests[tile] = block + static_cast<std::uint32_t>(tile - first);
        }
      });
    }
    digits_[i] = std::move(made);
  }
}

// Returns false if it leads to no node of interest.
bool LatticeRows::relax_sliding_edge_of_listed(const BoundRow& row, const CompletionBound& behind,
                                               const Digits& digits,
                                               const StateGraph::SlidingEdge& sliding_edge) {
  const DivisorLattice& lattice = this->lattice(row.stage);
  const auto& loops = lattice.loops(sliding_edge.dim);
  const auto rows = rows_behind(row, behind, sliding_edge.dim, sliding_edge.target, loops);
  if (rows.empty()) {
    return false;
  }
  const std::vector<const double*> costs = loop_costs(sliding_edge, row.component);
  double* here = row.values;
  const std::size_t stride = lattice.stride(sliding_edge.dim);
  const std::size_t rests = lattice.size() / lattice.positions(sliding_edge.dim).size();
  for (const std::uint32_t tile : row.tiles) {
    const std::size_t digit = digits.digits[sliding_edge.dim][tile];
    const DivisorLattice::Range range = lattice.loops_from(sliding_edge.dim, digit);
    for (std::size_t loop = range.first; loop < range.last; ++loop) {
      if (rows[loop] == nullptr) {
        continue;
      }
      double sum = rows[loop][tile - (digit - loops[loop].to) * stride];
      if (!(sum < here[tile])) {
        continue;
      }
      const std::size_t entry = loop * rests + digits.rests[sliding_edge.dim][tile];
      for (const double* cost : costs) {
        sum += cost[entry];
      }
      here[tile] = std::min(here[tile], sum);
    }
  }
  return true;
}

// Loops to another residency, then those that keep it. Returns false if none leads to a node of
// interest.
bool LatticeRows::relax_loops_of_listed(const BoundRow& row, const CompletionBound& behind,
                                        const Digits& digits) const {
  const DivisorLattice& lattice = this->lattice(row.stage);
  double* here = row.values;
  bool leads_on = false;
  struct LoopsOver {
    DimId dim{};
    const std::uint16_t* digits = nullptr;
    std::vector<const double*> behind;  // per loop; empty: the row itself
  };
  std::vector<LoopsOver> all_loops;
  const DimSet locked = graph_.locked(row.stage, row.residency);
  for (const DimId d : digits.digits.ids()) {
    if (locked.contains(d) || lattice.steps(d).empty()) {
      continue;
    }
    const bool neutral = graph_.is_neutral(row.stage, row.residency, d);
    all_loops.push_back({d, digits.digits[d].data(), {}});
    if (!neutral) {
      all_loops.back().behind = rows_behind(row, behind, d, row.residency, lattice.steps(d));
      leads_on = leads_on || !all_loops.back().behind.empty();
      if (all_loops.back().behind.empty()) {
        all_loops.pop_back();
      }
    }
  }
  for (const std::uint32_t tile : row.tiles) {
    double least = here[tile];
    for (const LoopsOver& loops : all_loops) {
      const std::size_t digit = loops.digits[tile];
      const DivisorLattice::Range range = lattice.steps_from(loops.dim, digit);
      for (std::size_t r = range.first; r < range.last; ++r) {
        const double* there = loops.behind.empty() ? here : loops.behind[r];
        if (there != nullptr) {
          const std::size_t steps = digit - lattice.steps(loops.dim)[r].to;
          least = std::min(least, there[tile - steps * lattice.stride(loops.dim)]);
        }
      }
    }
    here[tile] = least;
  }
  return leads_on;
}

// fill_all() for the listed tiles alone.
bool LatticeRows::fill_listed(const BoundRow& row, const CompletionBound& behind) {
  const DivisorLattice& lattice = this->lattice(row.stage);
  const Digits& digits = *digits_[graph_.crossed(row.stage)];
  double* here = row.values;
  bool leads_on = false;
  if (row.stage + 1 < graph_.stages()) {
    const auto residency = graph_.after_stage(row.stage, row.residency);
    if (residency && behind.is_live(row.stage + 1, *residency)) {
      leads_on = true;
      const double* next = behind.row(row.component, row.stage + 1, *residency);
      const auto fanout = graph_.end_of(row.stage).fanout;
      for (const std::uint32_t tile : row.tiles) {
        here[tile] = next[fanout ? unrolled_.crossings[*fanout][tile] : tile];
      }
    }
  } else if (graph_.end(row.residency)) {
    leads_on = true;
    for (const std::size_t tile : lattice.ones()) {
      if (std::binary_search(row.tiles.begin(), row.tiles.end(), tile)) {
        here[tile] = costs_.mac(*graph_.end(row.residency), tile)[row.component];
      }
    }
  }
  for (const StateGraph::KeepMove& keep : graph_.keep_moves(row.stage, row.residency)) {
    if (behind.is_live(row.stage, keep.target)) {
      leads_on = true;
      const double* below = behind.row(row.component, row.stage, keep.target);
      const double* cost = &costs_.plain(keep.edge)[row.component * lattice.size()];
      for (const std::uint32_t tile : row.tiles) {
        here[tile] = std::min(here[tile], cost[tile] + below[tile]);
      }
    }
  }
  for (const StateGraph::SlidingEdge& sliding_edge :
       graph_.sliding_edges(row.stage, row.residency)) {
    leads_on = relax_sliding_edge_of_listed(row, behind, digits, sliding_edge) || leads_on;
  }
  return relax_loops_of_listed(row, behind, digits) || leads_on;
}

}  // namespace mapsim::exact
