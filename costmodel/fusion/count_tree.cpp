// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "costmodel/crossing.hpp"
#include "costmodel/evaluate_into.hpp"
#include "costmodel/fusion/evaluate_tree.hpp"
#include "costmodel/widths.hpp"

namespace mapsim {

namespace {

// The sizes of a node's dims when it is entered, and how often: one factor per line.
using Sizes = std::map<std::vector<std::int64_t>, BoxEntries>;

class TreeCounter {
 public:
  TreeCounter(const Arch& arch, const EinsumChain& chain, const MappingTree& tree)
      : arch_{arch}, chain_{chain}, tree_{tree}, shape_{shape_of(arch, chain, tree)} {
    for (std::size_t line = 0; line < shape_.line_count; ++line) {
      lines_.push_back(walk_line(arch, chain, tree, shape_, line));
    }
  }

  TreeCounts count() {
    TreeCounts counts;
    for (const TensorScope& scope : shape_.scopes) {
      counts.intermediates.push_back({made(scope), live(scope)});
    }
    for (std::size_t e = 0; e < chain_.einsums.size(); ++e) {
      counts.einsums.push_back(count_einsum(e, counts));
    }
    return counts;
  }

 private:
  const Workload& einsum(std::size_t e) const { return chain_.einsums[e]; }

  // Points of the intermediate over all entries of the child that makes it.
  std::int64_t made(const TensorScope& scope) const {
    const Intermediate& t = chain_.intermediates[scope.intermediate];
    std::size_t child = shape_.leaf_of[t.producer];
    while (tree_.nodes[child].parent != scope.home) {
      child = tree_.nodes[child].parent;
    }
    const Workload& producer = einsum(t.producer);
    const DimSet relevant = producer.tensors[producer.output()].dims();
    std::int64_t product = 1;
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      std::int64_t sum = 0;
      for (const auto& [sizes, entries] : lines_[line].entries[child]) {
        std::int64_t points = entries.times;
        std::size_t at = 0;
        for (const DimId d : producer.dims.ids()) {
          if (shape_.lines[t.producer][d] == line) {
            points *= relevant.contains(d) ? sizes[at] : 1;
            ++at;
          }
        }
        sum += points;
      }
      product *= sum;
    }
    return product;
  }

  LiveSet live(const TensorScope& scope) const {
    std::vector<const std::vector<NeedTrace>*> traces;
    for (const LineCounts& line : lines_) {
      traces.push_back(&line.traces[scope.intermediate]);
    }
    std::vector<std::size_t> path;  // from the scope to where producer and readers part
    for (std::size_t n = scope.home; n != tree_.nodes[scope.node].parent;
         n = tree_.nodes[n].parent) {
      path.insert(path.begin(), n);
    }
    std::vector<std::size_t> order;
    for (const std::size_t n : path) {
      const auto& loops = shape_.nodes[n].loops;
      for (std::size_t k = n == scope.node ? scope.position : 0; k < loops.size(); ++k) {
        order.push_back(loops[k].line);
      }
    }
    return live_set(traces, order);
  }

  Counts count_einsum(std::size_t e, const TreeCounts& so_far) const {
    const Workload& workload = einsum(e);
    const TensorId output = workload.output();
    const auto made = chain_.intermediate_of({e, output});
    const std::int64_t distinct = made ? so_far.intermediates[*made].made
                                       : footprint(workload.tensors[output], bounds_of(workload));
    Counts counts = empty_counts(arch_, workload);
    PerTensor<LevelId> inner(workload.tensors.size());  // innermost level so far
    for (const TensorId t : workload.tensors.ids()) {
      const auto i = chain_.intermediate_of({e, t});
      inner[t] = i ? shape_.scopes[*i].level : LevelId{0};
      TensorCounts& at = counts.levels[inner[t]][t];
      at.kept = true;
      at.footprint = i ? so_far.intermediates[*i].held.live
                       : footprint(workload.tensors[t], bounds_of(workload));
    }
    for (std::size_t k = 0; k < shape_.keeps.size(); ++k) {
      const OwnKeep& keep = shape_.keeps[k];
      if (keep.use.einsum == e && !tree_.nodes[keep.node].children.empty()) {
        count_keep(k, inner[keep.use.tensor], distinct, counts);
        inner[keep.use.tensor] = keep.level;
      }
    }
    count_branch(e, inner, distinct, counts);
    finish_counts(workload, distinct, counts);
    return counts;
  }

  // What crosses between a keep in a group and the level around it: one instance of each.
  void count_keep(std::size_t k, LevelId parent, std::int64_t distinct, Counts& counts) const {
    const OwnKeep& keep = shape_.keeps[k];
    const TensorId t = keep.use.tensor;
    std::int64_t moved = 1;
    std::int64_t largest = 1;
    for (const LineCounts& line : lines_) {
      moved *= line.keeps[k].moved;
      largest *= line.keeps[k].largest;
    }
    TensorCounts& child = counts.levels[keep.level][t];
    child.kept = true;
    child.footprint = largest;
    AccessCounts above;
    AccessCounts below;
    if (t == einsum(keep.use.einsum).output()) {
      above.updates = below.drains = moved;
      above.readbacks = below.fills = moved - distinct;
    } else {
      above.reads = below.fills = moved;
    }
    add(above, above, 1, counts.levels[parent][t]);
    add(below, below, 1, child);
  }
  static void add(const AccessCounts& total, const AccessCounts& busiest, std::int64_t times,
                  TensorCounts& counts) {
    counts.total.add(total, times);
    counts.busiest.add(busiest, times);
  }

  // The branch, once per distinct box: each entry moves what a mapping of that box does.
  void count_branch(std::size_t e, const PerTensor<LevelId>& inner, std::int64_t distinct,
                    Counts& counts) const {
    const std::size_t leaf = shape_.leaf_of[e];
    const Workload& workload = einsum(e);
    Nest nest = make_nest(with_bounds(workload, shape_.nodes[leaf].nominal),
                          branch_mapping(tree_.nodes[leaf], inner));
    nest.perfect = false;  // of the boxes, some are smaller
    Counts branch = empty_counts(arch_, workload);
    for_each_box(leaf, [&](const PerDim<std::int64_t>& sizes, const BoxEntries& entries) {
      count_box(with_bounds(workload, sizes), nest, entries, branch);
    });
    if (nest.parallel.empty()) {
      read_back_all_but(distinct, branch.levels, workload.output());
    }
    for (const NestLoop& loop : nest.loops) {
      if (loop.fanout) {
        (loop.axis == Axis::kX ? branch.used_x : branch.used_y)[*loop.fanout] *= loop.bound;
      }
    }
    add_branch(branch, inner, counts);
  }

  template <class Visit>
  void for_each_box(std::size_t n, const Visit& visit) const {
    const std::size_t e = tree_.nodes[n].einsum;
    PerDim<std::int64_t> sizes(einsum(e).dims.size());
    std::vector<Sizes::const_iterator> pick;
    for (const LineCounts& line : lines_) {
      pick.push_back(line.entries[n].begin());
    }
    std::size_t l = 0;
    do {
      BoxEntries entries{1, 1};
      for (l = 0; l < lines_.size(); ++l) {
        entries.times *= pick[l]->second.times;
        entries.first *= pick[l]->second.first;
        std::size_t at = 0;
        for (const DimId d : sizes.ids()) {
          if (shape_.lines[e][d] == l) {
            sizes[d] = pick[l]->first[at++];
          }
        }
      }
      visit(sizes, entries);
      for (l = 0; l < lines_.size() && ++pick[l] == lines_[l].entries[n].end(); ++l) {
        pick[l] = lines_[l].entries[n].begin();
      }
    } while (l < lines_.size());
  }

  // A sum comes back but for its first time at an instance. That is in the first of the entries
  // that add to it, whose box is no smaller than those of the others.
  void count_box(const Workload& box, const Nest& nest, const BoxEntries& entries,
                 Counts& branch) const {
    const Problem problem{arch_, box};
    Counts one = empty_counts(arch_, box);
    count_boundaries_into(problem, nest, one);
    branch.macs += entries.times * problem.macs();
    branch.steps += entries.times * one.steps;
    for (const TensorId t : box.tensors.ids()) {
      const bool sums = t == box.output();
      for (const LevelId l : one.levels.ids()) {
        const TensorCounts& from = one.levels[l][t];
        TensorCounts& to = branch.levels[l][t];
        add(from.total, from.busiest, entries.first, to);
        add(sums ? back_again(from.total) : from.total,
            sums ? back_again(from.busiest) : from.busiest, entries.times - entries.first, to);
        to.kept = to.kept || from.kept;
        to.footprint = std::max(to.footprint, from.footprint);
      }
      for (const FanoutId f : one.networks.ids()) {
        NetworkCounts later = one.networks[f][t];
        later.returns = sums ? later.words : 0;
        branch.networks[f][t].add(one.networks[f][t], entries.first);
        branch.networks[f][t].add(later, entries.times - entries.first);
      }
    }
    for (const FanoutId f : one.reductions.ids()) {
      branch.reductions[f] += entries.times * one.reductions[f];
    }
  }
  static AccessCounts back_again(AccessCounts sums) {
    sums.readbacks = sums.updates;
    sums.fills = sums.drains;
    return sums;
  }

  // Without fanouts, whatever the boxes: they may overlap where a window of sums slides.
  static void read_back_all_but(std::int64_t distinct, PerLevel<PerTensor<TensorCounts>>& levels,
                                TensorId output) {
    for (auto& level : levels) {
      TensorCounts& at = level[output];
      at.total.readbacks = at.total.updates > 0 ? at.total.updates - distinct : 0;
      at.total.fills = at.total.drains > 0 ? at.total.drains - distinct : 0;
      at.busiest = at.total;
    }
  }

  const Arch& arch_;
  const EinsumChain& chain_;
  const MappingTree& tree_;
  TreeShape shape_;
  std::vector<LineCounts> lines_;
};

}  // namespace

Counts empty_counts(const Arch& arch, const Workload& workload) {
  Counts counts;
  const std::size_t tensors = workload.tensors.size();
  const std::size_t fanouts = arch.fanouts.size();
  counts.levels =
      PerLevel<PerTensor<TensorCounts>>(arch.levels.size(), PerTensor<TensorCounts>(tensors));
  counts.reductions = PerFanout<std::int64_t>(fanouts, 0);
  counts.used_x = counts.used_y = PerFanout<std::int64_t>(fanouts, 1);
  counts.networks = PerFanout<PerTensor<NetworkCounts>>(fanouts, PerTensor<NetworkCounts>(tensors));
  return counts;
}

void add_branch(const Counts& branch, const PerTensor<LevelId>& around, Counts& counts) {
  for (const LevelId l : counts.levels.ids()) {
    for (const TensorId t : around.ids()) {
      const TensorCounts& from = branch.levels[l][t];
      TensorCounts& to = counts.levels[l][t];
      to.total.add(from.total);
      to.busiest.add(from.busiest);
      if (l != around[t] && from.kept) {
        to.kept = true;
        to.footprint = from.footprint;
      }
    }
  }
  counts.reductions = branch.reductions;
  counts.used_x = branch.used_x;
  counts.used_y = branch.used_y;
  counts.networks = branch.networks;
  counts.macs = branch.macs;
  counts.steps = branch.steps;
}

void finish_counts(const Workload& workload, std::int64_t distinct, Counts& counts) {
  assign_widths(workload, distinct, counts);
  assign_ports(counts);
  assign_network_widths(workload, distinct, counts);
}

TreeCounts count_tree(const Arch& arch, const EinsumChain& chain, const MappingTree& tree) {
  return TreeCounter{arch, chain, tree}.count();
}

}  // namespace mapsim
