// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/coarse_to_fine.hpp"

#include <algorithm>
#include <vector>

#include "mapper/bounds/imperfect_rows.hpp"
#include "mapper/bounds/least_costs.hpp"
#include "mapper/bounds/paid_bound.hpp"
#include "mapper/graph/boundary_terms.hpp"
#include "mapper/graph/gates.hpp"

namespace mapsim::imperfect {

using exact::CompletionBound;
using exact::kInfinity;
using exact::RowTiles;
using exact::StateGraph;

namespace {

// A lattice is worth it on the way to one of so many times its tiles.
constexpr std::size_t kFiner = 3;
// Sums of the same costs in another order.
constexpr double kSlack = 1e-9;

// The tiles of a finer lattice that a coarse one stands for, as tables per dim.
class Finer {
 public:
  Finer(const Tiles& coarse, const Tiles& fine) : coarse_{coarse} {
    for (std::size_t i = 0; i < fine.dims(); ++i) {
      const auto d = static_cast<DimId>(i);
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
  const Tiles& coarse_;
  std::vector<std::vector<std::vector<std::size_t>>> offsets_;  // [dim][coarse bin]
};

bool is_any(const RowTiles& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return !row.empty(); });
}

// Each coarse tile becomes those that it stands for.
void refine(const Tiles& coarse, const Tiles& fine, RowTiles& rows) {
  const Finer children(coarse, fine);
  for (std::vector<std::uint32_t>& row : rows) {
    std::vector<std::uint32_t> longer;
    for (const std::uint32_t tile : row) {
      children.add(tile, longer);
    }
    std::sort(longer.begin(), longer.end());
    row = std::move(longer);
  }
}

// Of the listed tiles of a lattice, or of all, those that are not ruled out on it.
RowTiles survivors(const StateGraph& graph, Tiles& tiles, const RowTiles* listed, double most,
                   const Deadline& deadline) {
  tiles.list_digits();
  tiles.make_crossings();
  const Gates gates(graph, tiles);
  const std::vector<Terms> terms = make_terms(graph, tiles, Tracked{});
  LeastCosts costs(graph, tiles, terms, 1, deadline);
  ImperfectRows rows(graph, tiles, gates, costs, deadline);
  const CompletionBound to_go(graph, rows, {nullptr, most, {}, listed}, &deadline);
  const PaidBound paid(graph, tiles, gates, costs, to_go, deadline);
  RowTiles found(graph.stages() * graph.residencies());
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
      const double* so_far = paid.at(stage, residency);
      const double* rest = to_go.row(0, stage, residency);
      std::vector<std::uint32_t>& row = found[stage * graph.residencies() + residency];
      for (std::size_t tile = 0; so_far != nullptr && tile < tiles.size(); ++tile) {
        if (so_far[tile] + rest[tile] <= most * (1 + kSlack)) {
          row.push_back(static_cast<std::uint32_t>(tile));
        }
      }
    }
  }
  return found;
}

}  // namespace

std::optional<RowTiles> surviving_tiles(const StateGraph& graph,
                                        const UnrollingClass& unrolling_class, const Tiles& tiles,
                                        double most, const Deadline& deadline,
                                        std::span<const std::size_t> counts) {
  std::optional<RowTiles> listed;  // of `coarse`
  std::optional<Tiles> coarse;
  for (const std::size_t count : counts) {
    if (!(most < kInfinity) || tiles.size() < kFiner * count) {
      break;
    }
    Tiles finer(graph.space(), unrolling_class, graph.used(), count);
    if (tiles.size() < kFiner * finer.size()) {
      break;  // extents are too few to join
    }
    if (listed) {
      refine(*coarse, finer, *listed);
    }
    coarse.emplace(std::move(finer));
    listed = survivors(graph, *coarse, listed ? &*listed : nullptr, most, deadline);
    if (!is_any(*listed)) {
      return listed;
    }
  }
  if (listed) {
    refine(*coarse, tiles, *listed);
  }
  return listed;
}

}  // namespace mapsim::imperfect
