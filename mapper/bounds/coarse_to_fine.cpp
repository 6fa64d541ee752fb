// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/coarse_to_fine.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "mapper/bounds/cost_so_far.hpp"
#include "mapper/bounds/imperfect_rows.hpp"
#include "mapper/bounds/least_costs.hpp"
#include "mapper/graph/boundary_coefficients.hpp"
#include "mapper/graph/tile_count_rules.hpp"

namespace mapsim::imperfect {

using exact::CompletionBound;
using exact::kInfinity;
using exact::RowTiles;
using exact::StateGraph;

namespace {

// A coarse lattice is used if the target lattice has at least so many times its tiles.
constexpr std::size_t kFiner = 3;
// Lattices with at most so many tiles also bound the bits of ports, of which there are many.
constexpr std::size_t kTilesWithPorts = 3'000;
// Relative tolerance for sums of the same costs in another order.
constexpr double kSlack = 1e-9;

// The most energy [pJ] of a nest of interest.
double most_of(const Pruning& pruning) {
  return most_energy(pruning.path_objective, std::vector<double>(pruning.components + 1),
                     pruning.known);
}

// For each tile of a coarse lattice the tiles of a finer one that it stands for, as tables per dim.
class Finer {
 public:
  Finer(const ExtentLattice& coarse, const ExtentLattice& fine) : coarse_{coarse} {
    for (const DimId d : fine.ids()) {
      const ExtentDomain& extents = coarse.domain(d);  // the largest of each bin
      std::size_t tiles_before = 0;
      auto& offsets = offsets_.emplace_back(extents.size());
      for (std::size_t bin = 0; bin < fine.domain(d).size(); ++bin) {
        const auto at = std::lower_bound(extents.begin(), extents.end(), fine.domain(d)[bin]);
        offsets[static_cast<std::size_t>(at - extents.begin())].push_back(tiles_before);
        tiles_before += fine.stride(d);
      }
    }
  }
  void add(std::size_t tile, std::vector<std::uint32_t>& list) const {
    const std::size_t first = list.size();
    list.push_back(0);
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      const auto& offsets = offsets_[i][coarse_.digit(static_cast<DimId>(i), tile)];
      const std::size_t count = list.size() - first;
      for (std::size_t k = 1; k < offsets.size(); ++k) {
        for (std::size_t j = 0; j < count; ++j) {
          list.push_back(list[first + j] + static_cast<std::uint32_t>(offsets[k]));
        }
      }
      for (std::size_t j = 0; j < count; ++j) {
        list[first + j] += static_cast<std::uint32_t>(offsets.front());
      }
    }
  }

 private:
  const ExtentLattice& coarse_;
  std::vector<std::vector<std::vector<std::size_t>>> offsets_;  // [dim][coarse bin]
};

bool is_any(const RowTiles& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return !row.empty(); });
}

// Refuses a lattice whose numbers do not fit, or whose least tables, the crossings and a row of
// each component, need more memory than there is.
void refuse_if_too_large(const ExtentLattice& tiles, std::size_t components,
                         const Deadline& deadline) {
  const std::size_t bytes = tiles.bytes_of_crossings() + components * tiles.size() * sizeof(double);
  if (tiles.size() >= std::numeric_limits<std::uint32_t>::max() || bytes > deadline.most_bytes()) {
    deadline.refuse();
  }
}

// Asks for the time before each piece: rows may have hundreds of millions of tiles.
void sort_in_pieces(std::vector<std::uint32_t>& tiles, const HeldMemory& held) {
  constexpr std::size_t kPiece = ExtentLattice::kTilesToCheck;
  const auto at = [&tiles](std::size_t i) {
    return tiles.begin() + static_cast<std::ptrdiff_t>(std::min(i, tiles.size()));
  };
  for (std::size_t first = 0; first < tiles.size(); first += kPiece) {
    held.check();
    std::sort(at(first), at(first + kPiece));
  }
  for (std::size_t run = kPiece; run < tiles.size(); run *= 2) {
    for (std::size_t first = 0; first + run < tiles.size(); first += 2 * run) {
      held.check();
      std::inplace_merge(at(first), at(first + run), at(first + 2 * run));
    }
  }
}

// Replaces each coarse tile by the tiles that it stands for.
void refine(const ExtentLattice& coarse, const ExtentLattice& fine, RowTiles& rows,
            HeldMemory& held) {
  const Finer children(coarse, fine);
  std::size_t tiles = 0;
  for (std::vector<std::uint32_t>& row : rows) {
    std::vector<std::uint32_t> longer;
    std::size_t checked = 0;
    for (const std::uint32_t tile : row) {
      children.add(tile, longer);
      if (longer.size() - checked >= ExtentLattice::kTilesToCheck) {
        checked = longer.size();
        held.check();
      }
    }
    sort_in_pieces(longer, held);
    row = std::move(longer);
    tiles += row.size();
    held.grow_to(tiles * sizeof(std::uint32_t));
  }
}

// The nodes of one lattice that cost so far and cost to go together do not rule out.
class Survivors {
 public:
  Survivors(const StateGraph& graph, ExtentLattice& tiles, const RowTiles* listed,
            const Pruning& pruning, std::size_t components, const Deadline& deadline)
      : graph_{listed_digits(graph, tiles)},
        tiles_{tiles},
        pruning_{pruning},
        tile_count_rules_{graph, tiles},
        coefficients_{make_coefficients(graph, tiles, {components > 1, false})},
        costs_{graph, tiles, coefficients_, components, deadline},
        rows_{graph, tiles, tile_count_rules_, readable(costs_, components), deadline},
        to_go_{graph, rows_, {nullptr, most_of(pruning), {}, listed}, &deadline},
        figures_(pruning.components + 1) {
    for (std::size_t component = 0; component < components; ++component) {
      so_far_.emplace_back(graph, tiles, tile_count_rules_, costs_, to_go_, component, deadline);
    }
  }

  // Per row, the tiles that are not ruled out.
  RowTiles list() {
    RowTiles found(graph_.stages() * graph_.residencies());
    for (std::size_t stage = 0; stage < graph_.stages(); ++stage) {
      for (std::size_t residency = 0; residency < graph_.residencies(); ++residency) {
        const bool is_reached = so_far_.front().at(stage, residency) != nullptr;
        std::vector<std::uint32_t>& row = found[stage * graph_.residencies() + residency];
        for (std::size_t tile = 0; is_reached && tile < tiles_.size(); ++tile) {
          if (is_of_interest(stage, residency, tile)) {
            row.push_back(static_cast<std::uint32_t>(tile));
          }
        }
      }
    }
    return found;
  }

 private:
  // Threads compute several components of the bound at once.
  static LeastCosts& readable(LeastCosts& costs, std::size_t components) {
    if (components > 1 && omp_get_num_threads() > 1) {
      costs.prepare();
    }
    return costs;
  }
  static const StateGraph& listed_digits(const StateGraph& graph, ExtentLattice& tiles) {
    tiles.list_digits();
    tiles.make_crossings();
    return graph;
  }
  bool is_of_interest(std::size_t stage, std::size_t residency, std::size_t tile) {
    for (std::size_t k = 0; k < so_far_.size(); ++k) {
      figures_[k] =
          (so_far_[k].at(stage, residency)[tile] + to_go_.row(k, stage, residency)[tile]) *
          (1 - kSlack);
      if (!(figures_[k] < kInfinity)) {
        return false;
      }
    }
    return !pruning_.known.rules_out(pruning_.path_objective.key(figures_.data()));
  }

  const StateGraph& graph_;
  ExtentLattice& tiles_;
  const Pruning& pruning_;
  TileCountRules tile_count_rules_;
  std::vector<BoundaryCoefficients> coefficients_;
  LeastCosts costs_;
  ImperfectRows rows_;
  CompletionBound to_go_;
  std::deque<CostSoFar> so_far_;  // per component
  std::vector<double> figures_;   // of the path objective; 0: not bounded on this lattice
};

}  // namespace

std::size_t bytes_of(const RowTiles& rows) {
  std::size_t tiles = 0;
  for (const std::vector<std::uint32_t>& row : rows) {
    tiles += row.size();
  }
  return tiles * sizeof(std::uint32_t);
}

std::optional<RowTiles> surviving_tiles(const StateGraph& graph,
                                        const UnrollingClass& unrolling_class,
                                        const ExtentLattice& tiles, const Pruning& pruning,
                                        const Deadline& deadline,
                                        std::span<const std::size_t> counts) {
  std::optional<RowTiles> listed;  // of `coarse`
  std::optional<ExtentLattice> coarse;
  HeldMemory held(&deadline);
  for (const std::size_t count : counts) {
    const std::size_t components = count <= kTilesWithPorts ? pruning.components : 1;
    if (pruning.known.points().empty() || tiles.size() < kFiner * count ||
        (components == 1 && !(most_of(pruning) < kInfinity))) {
      break;
    }
    ExtentLattice finer(graph.space(), unrolling_class, graph.used(), count);
    finer.watch(&deadline);
    if (tiles.size() < kFiner * finer.size()) {
      break;  // extents are too few to join
    }
    if (listed) {
      refine(*coarse, finer, *listed, held);
    }
    coarse.emplace(std::move(finer));
    listed = Survivors(graph, *coarse, listed ? &*listed : nullptr, pruning, components, deadline)
                 .list();
    if (!is_any(*listed)) {
      return listed;
    }
  }
  refuse_if_too_large(tiles, pruning.components, deadline);
  if (listed) {
    refine(*coarse, tiles, *listed, held);
  }
  return listed;
}

}  // namespace mapsim::imperfect
