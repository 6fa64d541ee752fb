// SPDX-License-Identifier: Apache-2.0
// Rows of a bound of which few tiles are of interest, found tile by tile.
#include <algorithm>
#include <vector>

#include "mapper/bounds/completion_bound.hpp"

namespace mapsim::exact {

void CompletionBound::make_digits(const Unrolled& unrolled) {
  for (const Lattice& lattice : unrolled.lattices) {
    Digits made{PerDim<std::vector<std::uint16_t>>(lattice.dims()),
                PerDim<std::vector<std::uint32_t>>(lattice.dims())};
    for (const DimId d : made.digits.ids()) {
      if (lattice.positions(d).size() == 1) {
        continue;  // no loop runs over it
      }
      std::vector<std::uint16_t>& digits = made.digits[d];
      digits.resize(lattice.size());
      lattice.sweep(d, [&](std::size_t digit, std::size_t first, std::size_t last) {
        std::fill(&digits[first], digits.data() + last, static_cast<std::uint16_t>(digit));
      });
      if (!unrolled.windows.contains(d)) {
        continue;
      }
      std::vector<std::uint32_t>& rests = made.rests[d];
      rests.resize(lattice.size());
      std::uint32_t block = 0;
      lattice.sweep(d, [&](std::size_t digit, std::size_t first, std::size_t last) {
        block += digit == 0 && first > 0 ? static_cast<std::uint32_t>(last - first) : 0;
        for (std::size_t tile = first; tile < last; ++tile) {
          rests[tile] = block + static_cast<std::uint32_t>(tile - first);
        }
      });
    }
    digits_.push_back(std::move(made));
  }
}

// False: it leads to no node worth looking at.
bool CompletionBound::relax_sliding_edge_of_tiles(const StateGraph& graph, EdgeCosts& costs,
                                                  const Row& row, const Digits& digits,
                                                  const StateGraph::SlidingEdge& sliding_edge) {
  const Lattice& lattice = row.lattice;
  const auto& runs = lattice.runs(sliding_edge.dim);
  const auto behind = rows_behind(graph, row, sliding_edge.dim, sliding_edge.target, runs);
  if (behind.empty()) {
    return false;
  }
  std::vector<const double*> paid;
  for (const std::size_t edge : sliding_edge.edges) {
    const std::vector<double>& cost = costs.sliding(edge, sliding_edge.dim);
    paid.push_back(cost.data() + cost.size() / costs.components() * row.component);
  }
  double* here = begin(row);
  const std::size_t stride = lattice.stride(sliding_edge.dim);
  const std::size_t rests = lattice.size() / lattice.positions(sliding_edge.dim).size();
  for (const std::uint32_t tile : row.tiles) {
    const std::size_t digit = digits.digits[sliding_edge.dim][tile];
    const Lattice::Range range = lattice.runs_from(sliding_edge.dim, digit);
    for (std::size_t run = range.first; run < range.last; ++run) {
      if (behind[run] == nullptr) {
        continue;
      }
      double sum = behind[run][tile - (digit - runs[run].to) * stride];
      if (!(sum < here[tile])) {
        continue;
      }
      const std::size_t entry = run * rests + digits.rests[sliding_edge.dim][tile];
      for (const double* cost : paid) {
        sum += cost[entry];
      }
      here[tile] = std::min(here[tile], sum);
    }
  }
  return true;
}

// Loops to other residency, then those that stay. False: there is none worth looking at.
bool CompletionBound::relax_loops_of_tiles(const StateGraph& graph, const Row& row,
                                           const Digits& digits) {
  const Lattice& lattice = row.lattice;
  double* here = begin(row);
  bool leads_on = false;
  struct Way {
    DimId dim{};
    const std::uint16_t* digits = nullptr;
    std::vector<const double*> behind;  // per run; none: the row itself
  };
  std::vector<Way> ways;
  const DimSet locked = graph.locked(row.stage, row.residency);
  for (const DimId d : digits.digits.ids()) {
    if (locked.contains(d) || lattice.primes(d).empty()) {
      continue;
    }
    const bool neutral = graph.is_neutral(row.stage, row.residency, d);
    ways.push_back({d, digits.digits[d].data(), {}});
    if (!neutral) {
      ways.back().behind = rows_behind(graph, row, d, row.residency, lattice.primes(d));
      leads_on = leads_on || !ways.back().behind.empty();
      if (ways.back().behind.empty()) {
        ways.pop_back();
      }
    }
  }
  for (const std::uint32_t tile : row.tiles) {
    double least = here[tile];
    for (const Way& way : ways) {
      const std::size_t digit = way.digits[tile];
      const Lattice::Range range = lattice.primes_from(way.dim, digit);
      for (std::size_t r = range.first; r < range.last; ++r) {
        const double* there = way.behind.empty() ? here : way.behind[r];
        if (there != nullptr) {
          const std::size_t steps = digit - lattice.primes(way.dim)[r].to;
          least = std::min(least, there[tile - steps * lattice.stride(way.dim)]);
        }
      }
    }
    here[tile] = least;
  }
  return leads_on;
}

// As fill_row() has it.
bool CompletionBound::fill_tiles(const StateGraph& graph, const Unrolled& unrolled,
                                 EdgeCosts& costs, const Row& row) {
  const Digits& digits = digits_[graph.crossed(row.stage)];
  double* here = begin(row);
  bool leads_on = false;
  if (row.stage + 1 < graph.stages()) {
    const auto behind = graph.after_stage(row.stage, row.residency);
    if (behind && is_live(row.stage + 1, *behind)) {
      leads_on = true;
      const double* next = begin(row.component, row.stage + 1, *behind);
      const auto fanout = graph.end_of(row.stage).fanout;
      for (const std::uint32_t tile : row.tiles) {
        here[tile] = next[fanout ? unrolled.crossings[*fanout][tile] : tile];
      }
    }
  } else if (graph.end(row.residency)) {
    leads_on = true;
    for (const std::size_t tile : row.lattice.ones()) {
      if (std::binary_search(row.tiles.begin(), row.tiles.end(), tile)) {
        here[tile] = costs.mac(*graph.end(row.residency), tile)[row.component];
      }
    }
  }
  for (const StateGraph::Place& place : graph.places(row.stage, row.residency)) {
    if (is_live(row.stage, place.target)) {
      leads_on = true;
      const double* below = begin(row.component, row.stage, place.target);
      const double* cost = &costs.plain(place.edge)[row.component * row.lattice.size()];
      for (const std::uint32_t tile : row.tiles) {
        here[tile] = std::min(here[tile], cost[tile] + below[tile]);
      }
    }
  }
  for (const StateGraph::SlidingEdge& sliding_edge :
       graph.sliding_edges(row.stage, row.residency)) {
    leads_on = relax_sliding_edge_of_tiles(graph, costs, row, digits, sliding_edge) || leads_on;
  }
  return relax_loops_of_tiles(graph, row, digits) || leads_on;
}

}  // namespace mapsim::exact
