// SPDX-License-Identifier: Apache-2.0
#include "check/group_counts.hpp"

#include <algorithm>

#include "check/geometry.hpp"
#include "costmodel/fusion/tree.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

std::size_t loops_on(const TreeShape& shape, std::size_t line, std::size_t outermost) {
  std::size_t count = 0;
  for (std::size_t k = 0; k < outermost; ++k) {
    count += shape.nodes[0].loops[k].line == line ? 1 : 0;
  }
  return count;
}

}  // namespace

// One tree stands for all positions of keeps: every tensor that the group may keep is kept at each.
MappingTree GroupCounting::tree_of(const Interface& interface) const {
  MappingTree tree;
  TreeNode& root = tree.nodes.emplace_back();
  root.einsum = piece_.einsums.size() - 1;
  for (std::size_t position = 0; position <= interface.loops.size(); ++position) {
    TreeKeep keep{level_, {}};
    for (std::size_t i = 0; i < piece_.intermediates.size(); ++i) {
      const std::size_t producer = piece_.intermediates[i].producer;
      if (interface.scopes[i] == position) {
        keep.tensors.push_back({producer, piece_.einsums[producer].output()});
      }
    }
    if (!keep.tensors.empty()) {
      root.items.emplace_back(std::move(keep));
    }
    TreeKeep own{level_, {}};
    for (std::size_t e = 0; e < piece_.einsums.size(); ++e) {
      for (const TensorId t : piece_.einsums[e].tensors.ids()) {
        if (!piece_.intermediate_of({e, t})) {
          own.tensors.push_back({e, t});
        }
      }
    }
    root.items.emplace_back(std::move(own));
    if (position < interface.loops.size()) {
      root.items.emplace_back(interface.loops[position]);
    }
  }
  for (std::size_t e = 0; e < piece_.einsums.size(); ++e) {
    root.children.push_back(e + 1);
  }
  for (std::size_t e = 0; e < piece_.einsums.size(); ++e) {
    TreeNode& leaf = tree.nodes.emplace_back();
    leaf.einsum = e;
    leaf.parent = 0;
    for (const DimId d : piece_.einsums[e].dims.ids()) {
      leaf.items.emplace_back(Temporal{d, 1});
    }
  }
  return tree;
}

// What a line's walk sees of a keep.
GroupCounting::KeepKey GroupCounting::key_of(const TreeShape& shape, const OwnKeep& keep,
                                             std::size_t line) const {
  const bool moves = keep.moving != kNoLoop;
  const bool slides =
      moves && arch_.levels[level_].sliding && shape.nodes[0].loops[keep.moving].line == line;
  return {keep.use.einsum, index_of(keep.use.tensor),
          loops_on(shape, line, moves ? keep.moving + 1 : 0), slides ? 1U : 0U};
}

const GroupCounting::Line& GroupCounting::line(const MappingTree& tree, const TreeShape& shape,
                                               const Interface& interface, std::size_t number) {
  std::vector<std::int64_t> key{static_cast<std::int64_t>(number), interface.loops.empty() ? 0 : 1};
  for (const ShapeLoop& loop : shape.nodes[0].loops) {
    if (loop.line == number) {
      key.push_back(static_cast<std::int64_t>(index_of(loop.dim)));
      key.push_back(loop.extent);
    }
  }
  for (const std::size_t scope : interface.scopes) {
    key.push_back(-static_cast<std::int64_t>(loops_on(shape, number, scope)));
  }
  const auto [entry, is_new] = lines_.try_emplace(std::move(key));
  Line& known = entry->second;
  bool is_whole = !is_new;
  for (const OwnKeep& keep : shape.keeps) {
    is_whole = is_whole && known.keeps.contains(key_of(shape, keep, number));
  }
  if (!is_whole) {
    const LineCounts counts = walk_line(arch_, piece_, tree, shape, number);
    known.boxes.clear();
    for (const std::size_t leaf : shape.leaf_of) {
      known.boxes.push_back(counts.entries[leaf]);
    }
    known.traces = counts.traces;
    for (std::size_t k = 0; k < shape.keeps.size(); ++k) {
      known.keeps[key_of(shape, shape.keeps[k], number)] = counts.keeps[k];
    }
  }
  return known;
}

// The boxes of one line's dims. False: two of them differ.
bool GroupCounting::add_sizes(std::size_t e, const std::vector<DimId>& dims, const Line& line,
                              Branch& branch, double& entries, double& points) const {
  const Workload& einsum = piece_.einsums[e];
  const DimSet of_output = einsum.tensors[einsum.output()].dims();
  std::optional<std::size_t> varying;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    std::int64_t& largest = branch.bounds[dims[i]] = 0;
    std::int64_t smallest = einsum.dims[dims[i]].bound;
    for (const auto& [sizes, count] : line.boxes[e]) {
      largest = std::max(largest, sizes[i]);
      smallest = std::min(smallest, sizes[i]);
    }
    if (smallest < largest && varying) {
      return false;
    }
    varying = smallest < largest ? std::optional(i) : varying;
  }
  double times = 0;
  double made = 0;
  for (const auto& [sizes, count] : line.boxes[e]) {
    auto of_box = static_cast<double>(count.times);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      of_box *= of_output.contains(dims[i]) ? static_cast<double>(sizes[i]) : 1;
    }
    if (varying) {
      branch.entry.sizes[dims[*varying]].emplace_back(sizes[*varying],
                                                      static_cast<double>(count.times));
    }
    times += static_cast<double>(count.times);
    made += of_box;
  }
  entries *= times;
  points *= made;
  return true;
}

bool GroupCounting::add_branch(std::size_t e, const TreeShape& shape,
                               const std::vector<const Line*>& lines, GroupCounts& counts) const {
  const Workload& einsum = piece_.einsums[e];
  Branch branch{e, bounds_of(einsum), {}};
  branch.entry.sizes.resize(einsum.dims.size());
  double entries = 1;
  double points = 1;  // of the output, over all entries
  for (std::size_t l = 0; l < lines.size(); ++l) {
    std::vector<DimId> dims;
    for (const DimId d : einsum.dims.ids()) {
      if (shape.lines[e][d] == l) {
        dims.push_back(d);
      }
    }
    if (!add_sizes(e, dims, *lines[l], branch, entries, points)) {
      return false;
    }
  }
  if (!piece_.intermediate_of({e, einsum.output()})) {
    branch.entry.begun = elements_of(einsum, einsum.output(), bounds_of(einsum)) / points;
  }
  counts.branches.push_back(std::move(branch));
  counts.entries.push_back(entries);
  return true;
}

std::optional<GroupCounts> GroupCounting::count(const Interface& interface) {
  const MappingTree tree = tree_of(interface);
  std::vector<TreeProblem> problems;
  const TreeShape shape = shape_of(arch_, piece_, tree, problems);
  for (const TreeProblem& problem : problems) {
    const std::vector<TreeItem>& items = tree.nodes[problem.node].items;
    const bool is_keep =  // of a tensor at several positions, or of one that may not be kept
        problem.item < items.size() && std::holds_alternative<TreeKeep>(items[problem.item]);
    if (problem.node == 0 && !is_keep) {
      return std::nullopt;
    }
  }
  std::vector<const Line*> lines;
  for (std::size_t l = 0; l < shape.line_count; ++l) {
    lines.push_back(&line(tree, shape, interface, l));
  }
  GroupCounts counts;
  for (std::size_t e = 0; e < piece_.einsums.size(); ++e) {
    if (!add_branch(e, shape, lines, counts)) {
      return std::nullopt;
    }
  }
  for (const OwnKeep& keep : shape.keeps) {
    const std::size_t innermost = keep.moving == kNoLoop ? 0 : keep.moving + 1;
    if (keep.position != innermost) {
      continue;  // the tile is the one of a keep further out, at no other cost
    }
    GroupKeep own{keep.use, keep.position};
    for (std::size_t l = 0; l < lines.size(); ++l) {
      const LineMoves& moves = lines[l]->keeps.at(key_of(shape, keep, l));
      own.moved *= static_cast<double>(moves.moved);
      own.largest *= static_cast<double>(moves.largest);
    }
    counts.keeps.push_back(own);
  }
  for (const TensorScope& scope : shape.scopes) {
    std::vector<const std::vector<NeedTrace>*> traces;
    for (const Line* one : lines) {
      traces.push_back(&one->traces[scope.intermediate]);
    }
    std::vector<std::size_t> order;
    for (std::size_t k = scope.position; k < shape.nodes[0].loops.size(); ++k) {
      order.push_back(shape.nodes[0].loops[k].line);
    }
    counts.held.push_back(live_set(traces, order));
  }
  return counts;
}

}  // namespace mapsim::check
