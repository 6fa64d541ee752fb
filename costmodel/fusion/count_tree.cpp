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
using Sizes = std::map<std::vector<std::int64_t>, std::int64_t>;

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
      for (const auto& [sizes, times] : lines_[line].entries[child]) {
        std::int64_t points = times;
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
    Counts counts = empty_counts(arch_, workload);
    PerTensor<LevelId> inner(workload.tensors.size());  // innermost level around the branch
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
        count_keep(k, inner[keep.use.tensor], counts);
        inner[keep.use.tensor] = keep.level;
      }
    }
    count_branch(e, inner, counts);
    const TensorId output = workload.output();
    const auto i = chain_.intermediate_of({e, output});
    const std::int64_t distinct = i ? so_far.intermediates[*i].made
                                    : footprint(workload.tensors[output], bounds_of(workload));
    for (auto& level : counts.levels) {
      AccessCounts& at = level[output].total;
      at.readbacks = at.updates > 0 ? at.updates - distinct : 0;
      at.fills = at.drains > 0 ? at.drains - distinct : 0;
    }
    finish_counts(workload, distinct, counts);
    return counts;
  }

  // What crosses between a keep in a group and the level around it.
  void count_keep(std::size_t k, LevelId parent, Counts& counts) const {
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
    AccessCounts& above = counts.levels[parent][t].total;
    const bool output = t == einsum(keep.use.einsum).output();
    (output ? above.updates : above.reads) += moved;
    (output ? child.total.drains : child.total.fills) += moved;
  }

  // The branch, once per distinct box: each entry moves what a mapping of that box does.
  void count_branch(std::size_t e, const PerTensor<LevelId>& inner, Counts& counts) const {
    const std::size_t leaf = shape_.leaf_of[e];
    const Workload& workload = einsum(e);
    Mapping mapping;
    for (const TensorId t : workload.tensors.ids()) {
      mapping.nodes.emplace_back(Keep{inner[t], TensorSet{t}});
    }
    for (const TreeItem& item : tree_.nodes[leaf].items) {
      if (const auto* loop = std::get_if<Temporal>(&item)) {
        mapping.nodes.emplace_back(*loop);
        continue;
      }
      const TreeKeep& keep = std::get<TreeKeep>(item);
      for (const ChainTensor& use : keep.tensors) {
        if (keep.level != LevelId{0}) {
          mapping.nodes.emplace_back(Keep{keep.level, TensorSet{use.tensor}});
        }
      }
    }
    Workload nominal = workload;
    set_bounds(shape_.nodes[leaf].nominal, nominal);
    Nest nest = make_nest(nominal, mapping);
    nest.perfect = false;  // of the boxes, some are smaller
    for_each_box(leaf, [&](const PerDim<std::int64_t>& sizes, std::int64_t times) {
      Workload box = workload;
      set_bounds(sizes, box);
      count_box(box, nest, inner, times, counts);
    });
  }
  static void set_bounds(const PerDim<std::int64_t>& sizes, Workload& workload) {
    for (const DimId d : workload.dims.ids()) {
      workload.dims[d].bound = sizes[d];
    }
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
      std::int64_t times = 1;
      for (l = 0; l < lines_.size(); ++l) {
        times *= pick[l]->second;
        std::size_t at = 0;
        for (const DimId d : sizes.ids()) {
          if (shape_.lines[e][d] == l) {
            sizes[d] = pick[l]->first[at++];
          }
        }
      }
      visit(sizes, times);
      for (l = 0; l < lines_.size() && ++pick[l] == lines_[l].entries[n].end(); ++l) {
        pick[l] = lines_[l].entries[n].begin();
      }
    } while (l < lines_.size());
  }

  void count_box(const Workload& box, const Nest& nest, const PerTensor<LevelId>& inner,
                 std::int64_t times, Counts& counts) const {
    const Problem problem{arch_, box};
    Counts one = empty_counts(arch_, box);
    count_boundaries_into(problem, nest, one);
    counts.macs += times * problem.macs();
    counts.steps += times * one.steps;
    for (const LevelId l : one.levels.ids()) {
      for (const TensorId t : box.tensors.ids()) {
        const TensorCounts& from = one.levels[l][t];
        TensorCounts& to = counts.levels[l][t];
        to.total.reads += times * from.total.reads;
        to.total.fills += times * from.total.fills;
        to.total.updates += times * from.total.updates;
        to.total.drains += times * from.total.drains;
        if (l != inner[t] && from.kept) {
          to.kept = true;
          to.footprint = std::max(to.footprint, from.footprint);
        }
      }
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

void finish_counts(const Workload& workload, std::int64_t distinct, Counts& counts) {
  assign_widths(workload, distinct, counts);
  for (auto& level : counts.levels) {
    for (TensorCounts& at : level) {
      at.busiest = at.total;  // one instance does it all
    }
  }
  assign_ports(counts);
}

TreeCounts count_tree(const Arch& arch, const EinsumChain& chain, const MappingTree& tree) {
  return TreeCounter{arch, chain, tree}.count();
}

}  // namespace mapsim
