// SPDX-License-Identifier: Apache-2.0
#include "costmodel/fusion/lines.hpp"

#include <algorithm>
#include <cassert>

#include "costmodel/crossing.hpp"
#include "costmodel/window.hpp"

namespace mapsim {

namespace {

class LineWalk {
 public:
  LineWalk(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
           const TreeShape& shape, std::size_t line)
      : arch_{arch}, chain_{chain}, tree_{tree}, shape_{shape}, line_{line} {
    for (const Workload& workload : chain.einsums) {
      boxes_.push_back(whole_box(workload));
    }
    for (const TensorScope& scope : shape.scopes) {
      const Workload& producer = chain.einsums[chain.intermediates[scope.intermediate].producer];
      holdings_.push_back({false, std::vector<IndexRange>(ranks_of(producer).size()), {}, {}, 0});
    }
    previous_.resize(shape.keeps.size());
    counts_.entries.resize(tree.nodes.size());
    counts_.keeps.resize(shape.keeps.size());
    counts_.traces.resize(shape.scopes.size());
  }

  LineCounts walk() {
    enter(0);
    return std::move(counts_);
  }

 private:
  // Of an intermediate, within an instance of its scope.
  struct Holding {
    bool active = false;
    std::vector<IndexRange> held;  // per rank: what steps before needed, and so have made
    NeedTrace trace;
    std::vector<NeedTrace*> open;
    std::size_t moved_rank = 0;
  };
  struct Previous {
    bool known = false;
    IterationBox box;
  };

  static const std::vector<Rank>& ranks_of(const Workload& producer) {
    return producer.tensors[producer.output()].ranks;
  }
  bool on_line(std::size_t e, DimId d) const { return shape_.lines[e][d] == line_; }
  bool on_line(std::size_t e, const Rank& rank) const {
    return !rank.terms.empty() && on_line(e, rank.terms.front().dim);
  }

  void enter(std::size_t n) {
    const std::size_t e = tree_.nodes[n].einsum;
    const Workload& workload = chain_.einsums[e];
    const DimSet made = workload.tensors[workload.output()].dims();
    std::vector<std::int64_t> sizes;
    bool first = true;
    for (const DimId d : boxes_[e].ids()) {
      if (on_line(e, d)) {
        sizes.push_back(boxes_[e][d].size());
        first = first && (made.contains(d) || boxes_[e][d].lo == 0);
      }
    }
    BoxEntries& entries = counts_.entries[n][sizes];
    ++entries.times;
    entries.first += first ? 1 : 0;
    if (!tree_.nodes[n].children.empty()) {
      pass(n, 0);
    }
  }

  // Goes on below the first `position` loops of a group.
  void pass(std::size_t n, std::size_t position) {
    move_keeps(n, position);
    for (const TensorScope& scope : shape_.scopes) {
      if (scope.node == n && scope.position == position) {
        begin(scope);
      }
    }
    if (position == shape_.nodes[n].loops.size()) {
      run_sequence(n);
    } else if (shape_.nodes[n].loops[position].line != line_) {
      pass(n, position + 1);
    } else {
      run_loop(n, position);
    }
    for (const TensorScope& scope : shape_.scopes) {
      if (scope.node == n && scope.position == position) {
        end(scope);
      }
    }
  }

  void run_loop(std::size_t n, std::size_t position) {
    const ShapeLoop& loop = shape_.nodes[n].loops[position];
    const std::size_t sink = tree_.nodes[n].einsum;
    const IterationBox saved = boxes_[sink];
    const IndexRange whole = saved[loop.dim];
    for (std::size_t k = 0; k < shape_.keeps.size(); ++k) {
      if (shape_.keeps[k].node == n && shape_.keeps[k].moving == position) {
        previous_[k].known = false;
      }
    }
    for (std::int64_t lo = whole.lo; lo < whole.hi; lo += loop.extent) {
      boxes_[sink] = saved;
      boxes_[sink][loop.dim] = {lo, std::min(lo + loop.extent, whole.hi)};
      for (std::size_t s = 0; s < holdings_.size(); ++s) {
        if (is_traced(s, n)) {
          holdings_[s].open.back()->inner.reserve(
              static_cast<std::size_t>((whole.size() + loop.extent - 1) / loop.extent));
          holdings_[s].open.back()->inner.emplace_back();
          holdings_[s].open.push_back(&holdings_[s].open.back()->inner.back());
        }
      }
      pass(n, position + 1);
      for (std::size_t s = 0; s < holdings_.size(); ++s) {
        if (is_traced(s, n)) {
          holdings_[s].open.pop_back();
        }
      }
    }
    boxes_[sink] = saved;
  }
  bool is_traced(std::size_t scope, std::size_t n) const {
    return holdings_[scope].active && TreeShape::is_within(tree_, shape_.scopes[scope].home, n);
  }

  void begin(const TensorScope& scope) {
    Holding& at = holdings_[scope.intermediate];
    at.active = true;
    std::fill(at.held.begin(), at.held.end(), IndexRange{});
    at.trace = {};
    at.open = {&at.trace};
    at.moved_rank = moved_rank(scope);
  }
  void end(const TensorScope& scope) {
    Holding& at = holdings_[scope.intermediate];
    at.active = false;
    shift(at.trace, close(at.trace));
    auto& known = counts_.traces[scope.intermediate];
    if (std::find(known.begin(), known.end(), at.trace) == known.end()) {
      known.push_back(at.trace);
    }
  }
  // What all steps below need; returns where it begins.
  static std::int64_t close(NeedTrace& trace) {
    for (NeedTrace& inner : trace.inner) {
      close(inner);
      trace.others = inner.others;
      trace.points = trace.points.empty() ? inner.points
                                          : IndexRange{std::min(trace.points.lo, inner.points.lo),
                                                       std::max(trace.points.hi, inner.points.hi)};
    }
    return trace.points.lo;
  }
  static void shift(NeedTrace& trace, std::int64_t by) {
    trace.points = {trace.points.lo - by, trace.points.hi - by};
    for (NeedTrace& inner : trace.inner) {
      shift(inner, by);
    }
  }
  // The rank of the intermediate that this line's loops within the scope move; none: any number.
  std::size_t moved_rank(const TensorScope& scope) const {
    const std::size_t producer = chain_.intermediates[scope.intermediate].producer;
    const auto& ranks = ranks_of(chain_.einsums[producer]);
    for (std::size_t n = scope.home; n != tree_.nodes[scope.node].parent;
         n = tree_.nodes[n].parent) {
      const auto& loops = shape_.nodes[n].loops;
      for (std::size_t k = n == scope.node ? scope.position : 0; k < loops.size(); ++k) {
        for (std::size_t r = 0; r < ranks.size() && loops[k].line == line_; ++r) {
          if (loops[k].drives[producer].contains(ranks[r].terms.front().dim)) {
            return r;
          }
        }
      }
    }
    return ranks.size();
  }

  // The boxes of a node's einsums in this step, from its sink's backwards.
  void infer(std::size_t n) {
    const auto& children = tree_.nodes[n].children;
    for (std::size_t c = children.size(); c-- > 0;) {
      if (c + 1 < children.size()) {
        boxes_[tree_.nodes[children[c]].einsum] = made_box(n, children[c]);
      }
      infer(children[c]);
    }
  }
  IterationBox made_box(std::size_t n, std::size_t child) const {
    const std::size_t producer = tree_.nodes[child].einsum;
    IterationBox box = whole_box(chain_.einsums[producer]);
    const std::size_t i = shape_.nodes[child].producer_of;
    if (i == kNoNode || shape_.scopes[i].home != n) {
      return box;
    }
    const auto& ranks = ranks_of(chain_.einsums[producer]);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const DimId d = ranks[r].terms.front().dim;
      if (on_line(producer, d)) {
        box[d] = need(i, r);
        const IndexRange& held = holdings_[i].held[r];
        if (holdings_[i].active && !held.empty()) {
          assert(box[d].lo >= held.lo && box[d].lo <= held.hi);
          box[d].lo = std::max(box[d].lo, held.hi);
        }
      }
    }
    return box;
  }
  IndexRange need(std::size_t i, std::size_t rank) const {
    const Intermediate& t = chain_.intermediates[i];
    const Workload& producer = chain_.einsums[t.producer];
    const std::int64_t made = producer.dims[ranks_of(producer)[rank].terms.front().dim].bound;
    IndexRange hull;
    for (const ChainTensor& use : t.readers) {
      const Workload& reader = chain_.einsums[use.einsum];
      const IndexRange one =
          needed_points(reader, reader.tensors[use.tensor].ranks[rank], boxes_[use.einsum], made);
      if (!one.empty()) {
        hull =
            hull.empty() ? one : IndexRange{std::min(hull.lo, one.lo), std::max(hull.hi, one.hi)};
      }
    }
    return hull;
  }

  void run_sequence(std::size_t n) {
    infer(n);
    for (const TensorScope& scope : shape_.scopes) {
      if (scope.home == n) {
        note_need(scope);
      }
    }
    std::vector<IterationBox> entered;
    for (const std::size_t child : tree_.nodes[n].children) {
      entered.push_back(boxes_[tree_.nodes[child].einsum]);
    }
    for (std::size_t c = 0; c < entered.size(); ++c) {
      const std::size_t child = tree_.nodes[n].children[c];
      const std::size_t e = tree_.nodes[child].einsum;
      boxes_[e] = entered[c];
      bool runs = true;
      for (const DimId d : boxes_[e].ids()) {
        runs = runs && !boxes_[e][d].empty();
      }
      if (runs) {
        enter(child);
      }
    }
  }
  // What this step needs will be held behind it.
  void note_need(const TensorScope& scope) {
    const std::size_t i = scope.intermediate;
    Holding& at = holdings_[i];
    const std::size_t producer = chain_.intermediates[i].producer;
    const auto& ranks = ranks_of(chain_.einsums[producer]);
    NeedTrace& step = *at.open.back();
    step.points = {0, 1};
    step.others = 1;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (!on_line(producer, ranks[r].terms.front().dim)) {
        continue;
      }
      const IndexRange points = need(i, r);
      if (r == at.moved_rank) {
        step.points = points;
      } else {
        step.others *= points.size();
      }
      pending_held(at.held[r], points);
    }
  }
  static void pending_held(IndexRange& held, const IndexRange& points) {
    held = held.empty() ? points : IndexRange{held.lo, std::max(held.hi, points.hi)};
  }

  // The keeps whose innermost moving loop ends here exchange their tiles.
  void move_keeps(std::size_t n, std::size_t position) {
    bool inferred = false;
    for (std::size_t k = 0; k < shape_.keeps.size(); ++k) {
      const OwnKeep& keep = shape_.keeps[k];
      if (keep.node != n || (keep.moving == kNoLoop ? 0 : keep.moving + 1) != position) {
        continue;
      }
      if (!inferred) {
        infer(n);
        inferred = true;
      }
      const bool slides = keep.moving != kNoLoop && arch_.levels[keep.level].sliding &&
                          shape_.nodes[n].loops[keep.moving].line == line_;
      move_keep(keep.use, slides, previous_[k], counts_.keeps[k]);
    }
  }
  void move_keep(const ChainTensor& use, bool slides, Previous& previous, LineMoves& moves) const {
    const IterationBox& box = boxes_[use.einsum];
    std::int64_t points = 1;
    std::int64_t stay = slides && previous.known ? 1 : 0;
    for (const Rank& rank : chain_.einsums[use.einsum].tensors[use.tensor].ranks) {
      if (!on_line(use.einsum, rank)) {
        continue;
      }
      const std::int64_t here = points_of(rank, box);
      points *= here;
      stay *= stay > 0 ? here - gained(rank, box, previous.box, here) : 0;
    }
    moves.moved += points - stay;
    moves.largest = std::max(moves.largest, points);
    previous = {true, box};
  }
  static std::int64_t points_of(const Rank& rank, const IterationBox& box) {
    PerDim<std::int64_t> sizes(box.size());
    for (const DimId d : box.ids()) {
      sizes[d] = box[d].size();
    }
    for (const Term& term : rank.terms) {
      if (sizes[term.dim] == 0) {
        return 0;
      }
    }
    return rank_points(rank, sizes);
  }
  static std::int64_t gained(const Rank& rank, const IterationBox& now, const IterationBox& before,
                             std::int64_t points);

  const Arch& arch_;
  const EinsumChain& chain_;
  const MappingTree& tree_;
  const TreeShape& shape_;
  std::size_t line_;
  std::vector<IterationBox> boxes_;  // per einsum, of the present step
  std::vector<Holding> holdings_;
  std::vector<Previous> previous_;
  LineCounts counts_;
};

// Points that are in the tile now and were not before.
std::int64_t LineWalk::gained(const Rank& rank, const IterationBox& now, const IterationBox& before,
                              std::int64_t points) {
  std::size_t moving = rank.terms.size();
  std::vector<Block> blocks;
  blocks.reserve(rank.terms.size());
  std::vector<StridedBlocks> dims;
  for (std::size_t i = 0; i < rank.terms.size(); ++i) {
    const IndexRange& at = now[rank.terms[i].dim];
    const IndexRange& was = before[rank.terms[i].dim];
    if (was.empty()) {
      return points;
    }
    if (at != was) {
      assert(moving == rank.terms.size());
      moving = i;
    }
    blocks.push_back({at.lo, at.size()});
    dims.push_back({rank.terms[i].coefficient, {&blocks.back(), 1}});
  }
  if (moving == rank.terms.size()) {
    return 0;
  }
  const IndexRange& was = before[rank.terms[moving].dim];
  const Block block{was.lo, was.size()};
  return gained_points(dims, moving, {&block, 1}, true);
}

}  // namespace

LineCounts walk_line(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                     const TreeShape& shape, std::size_t line) {
  return LineWalk{arch, chain, tree, shape, line}.walk();
}

}  // namespace mapsim
