// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/history_rebuild.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "mapper/mapspace/builder.hpp"
#include "mapper/mapspace/loop_order_automaton.hpp"

namespace mapsim::imperfect {

using exact::Node;
using exact::StateGraph;
using exact::Step;

namespace {

class Rebuilder {
 public:
  // `lifted`: which of the keeps further in is moved between two loops that need a separator,
  // counted from 0.
  Rebuilder(const StateGraph& graph, const ExtentLattice& tiles, std::optional<std::size_t> lifted)
      : graph_{graph}, tiles_{tiles}, lifted_{lifted} {
    mapping_.nodes.emplace_back(nests::outermost_keep(graph.problem().workload()));
  }

  Mapping follow(const std::vector<Step>& steps) {
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const Node& before = steps[i - 1].node;
      switch (steps[i].kind) {
        case Step::Kind::kStart:
          break;
        case Step::Kind::kEnd:
          finish_block(before.stage, std::nullopt);
          break;
        case Step::Kind::kLoop:
          pieces_.push_back(piece(before.tile, steps[i].node.tile));
          last_stands_.push_back(steps[i].move == kLeftStanding);
          break;
        case Step::Kind::kCross:
          finish_block(before.stage, std::nullopt);
          cross(before);
          break;
        case Step::Kind::kKeep:
          finish_block(before.stage, std::nullopt);
          keep(before, graph_.keep_moves(before.stage, before.residency)[steps[i].move].edge);
          break;
        case Step::Kind::kSlidingEdge:
          finish_block(before.stage, piece(before.tile, steps[i].node.tile));
          for (const std::size_t edge :
               graph_.sliding_edges(before.stage, before.residency)[steps[i].move].edges) {
            keep(before, edge);
          }
          break;
      }
    }
    return canonical(graph_.problem().workload(), mapping_);
  }
  // Were there adjacent loops over one dim that nothing could separate?
  bool has_joined() const { return has_joined_; }

 private:
  // The loop between two tiles, which differ in one dim.
  Temporal piece(std::size_t from, std::size_t to) const {
    DimId dim{};
    for (std::size_t i = 0; i < tiles_.dims(); ++i) {
      const auto d = static_cast<DimId>(i);
      dim = tiles_.digit(d, from) != tiles_.digit(d, to) ? d : dim;
    }
    return {dim, tiles_.extent(dim, to)};
  }

  // The loop to write next, from the inside out: of a dim other than that of the loop below, if
  // possible, and of those the dim with the most loops left. nullopt: no loops are left.
  static std::optional<DimId> next_above(const std::vector<Temporal>& loops,
                                         const PerDim<std::vector<Temporal>>& left) {
    const auto joins = [&loops](DimId d) { return !loops.empty() && loops.back().dim == d; };
    std::optional<DimId> next;
    for (const DimId d : left.ids()) {
      const bool first = !next || std::tuple{joins(d), left[*next].size()} <
                                      std::tuple{joins(*next), left[d].size()};
      next = !left[d].empty() && first ? std::optional{d} : next;
    }
    return next;
  }

  // Writes the loops since the last node. Unless their order matters, they are arranged so that
  // adjacent loops are over different dims, and `last`, the loop of a sliding-window edge, is the
  // innermost.
  void finish_block(std::size_t stage, std::optional<Temporal> last) {
    std::vector<Temporal> loops;  // parts of one loop are joined
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const bool joins = i > 0 && pieces_[i - 1].dim == pieces_[i].dim && !last_stands_[i - 1];
      if (joins) {
        loops.back() = pieces_[i];
      } else {
        loops.push_back(pieces_[i]);
      }
    }
    pieces_.clear();
    last_stands_.clear();
    if (!graph_.region(stage).is_ordered()) {
      loops = apart(loops, last);
    }
    if (last) {
      loops.push_back(*last);
    }
    if (!loops.empty()) {
      write_block(loops);
    }
  }

  // The same loops, arranged so that adjacent ones are over different dims, also the last one and
  // `below`, as far as possible.
  std::vector<Temporal> apart(const std::vector<Temporal>& loops,
                              const std::optional<Temporal>& below) const {
    PerDim<std::vector<Temporal>> left(tiles_.dims());
    for (const Temporal& loop : loops) {
      left[loop.dim].push_back(loop);
    }
    std::vector<Temporal> written;  // from the inside out
    if (below) {
      written.push_back(*below);
    }
    for (auto next = next_above(written, left); next; next = next_above(written, left)) {
      written.push_back(left[*next].back());
      left[*next].pop_back();
    }
    std::reverse(written.begin(), written.end());
    if (below) {
      written.pop_back();
    }
    return written;
  }

  // Writes loops, outermost first. Two adjacent loops over one dim are separated by a keep from
  // further out that neither they nor the loops above move; its cost does not change.
  void write_block(const std::vector<Temporal>& loops) {
    gap_.reset();
    below_gap_.clear();
    std::size_t first = mapping_.nodes.size();
    DimSet above;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      mapping_.nodes.emplace_back(loops[i]);
      above.insert(loops[i].dim);
      if (i + 1 == loops.size() || loops[i].dim != loops[i + 1].dim) {
        continue;
      }
      if (const auto keep = separator(first, above)) {
        const MappingNode node = mapping_.nodes[*keep];
        mapping_.nodes.erase(mapping_.nodes.begin() + static_cast<std::ptrdiff_t>(*keep));
        mapping_.nodes.push_back(node);
        --first;
      } else {
        has_joined_ = has_joined_ || may_move();
        gap_ = gap_ ? gap_ : std::optional{mapping_.nodes.size()};
      }
    }
  }

  // In an even space all keeps of a level stand at its point, which separates loops anyway.
  bool may_move() const { return !graph_.space().constraints().even; }

  // The innermost keep, above node `first`, of a tensor that no loop over `dims` moves.
  std::optional<std::size_t> separator(std::size_t first, DimSet dims) const {
    TensorSet seen;
    for (std::size_t i = first; may_move() && i-- > 1;) {
      const auto* keep = std::get_if<Keep>(&mapping_.nodes[i]);
      if (keep == nullptr) {
        break;
      }
      bool moved = !(keep->tensors & seen).empty();
      for (const TensorId t : graph_.problem().workload().tensors.ids()) {
        const DimSet own = graph_.problem().workload().tensors[t].dims();
        moved = moved || (keep->tensors.contains(t) && !(own & dims).empty());
      }
      if (!moved) {
        return i;
      }
      seen = seen | keep->tensors;
    }
    return std::nullopt;
  }

  void keep(const Node& at, std::size_t index) {
    const exact::BoundaryEdge& edge = graph_.edges()[index];
    const exact::Residence& residence = graph_.residences(edge.tensor)[edge.to];
    if (residence.latch) {
      return;  // the compute unit's own; no node
    }
    const Keep keep{residence.level, TensorSet{edge.tensor}};
    if (residence.stage > at.stage) {
      pending_.emplace_back(residence.stage, keep);
    } else if (gap_ && may_move() && below_gap_.size() == lifted_ &&
               std::find(below_gap_.begin(), below_gap_.end(), edge.tensor) == below_gap_.end()) {
      mapping_.nodes.insert(mapping_.nodes.begin() + static_cast<std::ptrdiff_t>(*gap_), keep);
      gap_.reset();
    } else {
      mapping_.nodes.emplace_back(keep);
      below_gap_.push_back(edge.tensor);
    }
  }

  void cross(const Node& at) {
    gap_.reset();
    if (const auto fanout = graph_.end_of(at.stage).fanout) {
      PerDim<std::int64_t> extents(tiles_.dims());
      for (const DimId d : extents.ids()) {
        extents[d] = tiles_.extent(d, at.tile);
      }
      for (const Unroll& unroll : tiles_.unrolls(*fanout)) {
        std::int64_t& extent = extents[unroll.dim];
        extent = (extent + unroll.factor - 1) / unroll.factor;
        mapping_.nodes.emplace_back(Parallel{unroll.dim, extent, unroll.fanout, unroll.axis});
      }
    }
    for (const auto& [stage, keep] : pending_) {
      if (stage == at.stage + 1) {
        mapping_.nodes.emplace_back(keep);
      }
    }
  }

  const StateGraph& graph_;
  const ExtentLattice& tiles_;
  // Deferred keeps, with the stage where they stand
  std::vector<std::pair<std::size_t, Keep>> pending_;
  std::vector<Temporal> pieces_;   // loops since the last node, outermost first
  std::vector<bool> last_stands_;  // per piece: it is not joined with the next one
  std::optional<std::size_t> lifted_;
  std::optional<std::size_t> gap_;   // where a keep from further in would separate two loops
  std::vector<TensorId> below_gap_;  // tensors kept right below the block so far
  bool has_joined_ = false;
  Mapping mapping_;
};

}  // namespace

std::vector<Mapping> rebuild(const StateGraph& graph, const ExtentLattice& tiles,
                             const std::vector<Step>& steps) {
  Rebuilder plain{graph, tiles, std::nullopt};
  std::vector<Mapping> found{plain.follow(steps)};
  const std::size_t tensors = graph.problem().workload().tensors.size();
  for (std::size_t lifted = 0; plain.has_joined() && lifted < tensors; ++lifted) {
    Mapping mapping = Rebuilder{graph, tiles, lifted}.follow(steps);
    if (!graph.space().is_ruled() || obeys_rules(graph.space(), mapping)) {
      found.push_back(std::move(mapping));  // a larger tile than that of the label
    }
  }
  return found;
}

}  // namespace mapsim::imperfect
