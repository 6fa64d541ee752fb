// SPDX-License-Identifier: Apache-2.0
#include "costmodel/fusion/group_counts.hpp"

#include <algorithm>

#include "costmodel/crossing.hpp"

namespace mapsim {

namespace {

// Branches run through their iterations one by one.
TreeNode plain_branch(const EinsumChain& group, std::size_t einsum, std::size_t parent) {
  TreeNode leaf;
  leaf.einsum = einsum;
  leaf.parent = parent;
  for (const DimId d : group.einsums[einsum].dims.ids()) {
    leaf.items.emplace_back(Temporal{d, 1});
  }
  return leaf;
}

// Every tensor that is not passed on within the group may be kept at each position and level.
MappingTree skeleton(const EinsumChain& group, const std::vector<LevelId>& levels,
                     const Interface& interface) {
  MappingTree tree;
  tree.nodes.resize(1);
  TreeNode& root = tree.nodes[0];
  root.einsum = group.einsums.size() - 1;
  TreeKeep own{levels.front(), {}};
  for (std::size_t e = 0; e < group.einsums.size(); ++e) {
    for (const TensorId t : group.einsums[e].tensors.ids()) {
      if (!group.intermediate_of({e, t})) {
        own.tensors.push_back({e, t});
      }
    }
  }
  for (std::size_t p = 0; p <= interface.loops.size(); ++p) {
    TreeKeep scopes{levels.front(), {}};
    for (std::size_t i = 0; i < interface.scopes.size(); ++i) {
      const std::size_t producer = group.intermediates[i].producer;
      if (interface.scopes[i] == p) {
        scopes.tensors.push_back({producer, group.einsums[producer].output()});
      }
    }
    if (!scopes.tensors.empty()) {
      root.items.emplace_back(scopes);
    }
    for (const LevelId level : levels) {
      own.level = level;
      if (!own.tensors.empty()) {
        root.items.emplace_back(own);
      }
    }
    if (p < interface.loops.size()) {
      root.items.emplace_back(interface.loops[p]);
    }
  }
  for (std::size_t e = 0; e < group.einsums.size(); ++e) {
    root.children.push_back(e + 1);
  }
  for (std::size_t e = 0; e < group.einsums.size(); ++e) {
    tree.nodes.push_back(plain_branch(group, e, 0));
  }
  return tree;
}

// Keeps stand at many positions at once, and branches keep nothing: neither is a fault here.
bool is_forbidden(const MappingTree& tree, const std::vector<TreeProblem>& problems) {
  return std::any_of(problems.begin(), problems.end(), [&](const TreeProblem& problem) {
    const TreeNode& node = tree.nodes[problem.node];
    const bool is_keep = problem.item < node.items.size() &&
                         std::holds_alternative<TreeKeep>(node.items[problem.item]);
    return !node.children.empty() && !is_keep;
  });
}

// Loops of the line above that many of the shared loops.
std::size_t loops_above(const TreeShape& shape, std::size_t line, std::size_t position) {
  const auto& loops = shape.nodes[0].loops;
  return static_cast<std::size_t>(
      std::count_if(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(position),
                    [&](const ShapeLoop& loop) { return loop.line == line; }));
}

}  // namespace

GroupCounter::GroupCounter(const Arch& arch, const EinsumChain& group, std::vector<LevelId> levels)
    : arch_{arch}, group_{group}, levels_{std::move(levels)} {
  for (const LevelId level : levels_) {
    const auto counts_alike = [&](LevelId other) {
      return arch.levels[other].sliding == arch.levels[level].sliding;
    };
    if (std::none_of(counted_.begin(), counted_.end(), counts_alike)) {
      counted_.push_back(level);
    }
  }
}

std::array<std::size_t, 4> GroupCounter::key_of(const TreeShape& shape, const OwnKeep& keep,
                                                std::size_t line) const {
  const std::size_t position = keep.moving == kNoLoop ? 0 : keep.moving + 1;
  const bool slides = keep.moving != kNoLoop && arch_.levels[keep.level].sliding &&
                      shape.nodes[0].loops[keep.moving].line == line;
  return {keep.use.einsum, index_of(keep.use.tensor), loops_above(shape, line, position),
          slides ? 1U : 0U};
}

const GroupCounter::LineProfile& GroupCounter::profile(const MappingTree& tree,
                                                       const TreeShape& shape,
                                                       const Interface& interface,
                                                       std::size_t line) {
  std::vector<std::int64_t> key{static_cast<std::int64_t>(line), interface.loops.empty() ? 0 : 1};
  for (const ShapeLoop& loop : shape.nodes[0].loops) {
    if (loop.line == line) {
      key.push_back(static_cast<std::int64_t>(index_of(loop.dim)));
      key.push_back(loop.extent);
    }
  }
  for (const std::size_t scope : interface.scopes) {
    key.push_back(-static_cast<std::int64_t>(loops_above(shape, line, scope)));
  }
  const auto [entry, is_new] = profiles_.try_emplace(std::move(key));
  LineProfile& profile = entry->second;
  const bool is_complete =
      !is_new && std::all_of(shape.keeps.begin(), shape.keeps.end(), [&](const OwnKeep& keep) {
        return profile.keeps.contains(key_of(shape, keep, line));
      });
  if (is_complete) {
    return profile;
  }
  LineCounts counts = walk_line(arch_, group_, tree, shape, line);
  for (std::size_t k = 0; k < shape.keeps.size(); ++k) {
    profile.keeps.emplace(key_of(shape, shape.keeps[k], line), counts.keeps[k]);
  }
  if (is_new) {
    for (const std::size_t leaf : shape.leaf_of) {
      profile.entries.push_back(std::move(counts.entries[leaf]));
    }
    profile.traces = std::move(counts.traces);
  }
  return profile;
}

// How often a branch is entered with which sizes of its dims.
std::optional<EnteredBranch> GroupCounter::entered(
    std::size_t e, const TreeShape& shape, const std::vector<const LineProfile*>& lines) const {
  const Workload& workload = group_.einsums[e];
  EnteredBranch branch;
  branch.bounds.resize(workload.dims.size());
  branch.entry.lengths.resize(workload.dims.size());
  branch.entries = 1;
  double points = 1;  // of the output, in all entries
  const DimSet output = workload.tensors[workload.output()].dims();
  for (std::size_t line = 0; line < lines.size(); ++line) {
    std::vector<DimId> dims;
    for (const DimId d : workload.dims.ids()) {
      if (shape.lines[e][d] == line) {
        dims.push_back(d);
      }
    }
    const auto& entries = lines[line]->entries[e];
    std::optional<std::size_t> varying;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      std::int64_t largest = 0;
      for (const auto& [sizes, count] : entries) {
        largest = std::max(largest, sizes[i]);
      }
      branch.bounds[dims[i]] = largest;
      const bool varies = std::any_of(entries.begin(), entries.end(),
                                      [&](const auto& entry) { return entry.first[i] != largest; });
      if (varies && varying) {
        return std::nullopt;
      }
      varying = varies ? std::optional(i) : varying;
    }
    double times = 0;
    double sum = 0;
    for (const auto& [sizes, count] : entries) {
      auto of_output = static_cast<double>(count.times);
      for (std::size_t i = 0; i < dims.size(); ++i) {
        of_output *= output.contains(dims[i]) ? static_cast<double>(sizes[i]) : 1;
      }
      if (varying) {
        branch.entry.lengths[dims[*varying]].push_back({sizes[*varying], count.times});
      }
      times += static_cast<double>(count.times);
      sum += of_output;
    }
    branch.entries *= times;
    points *= sum;
  }
  if (!group_.intermediate_of({e, workload.output()})) {
    const auto distinct =
        static_cast<double>(footprint(workload.tensors[workload.output()], bounds_of(workload)));
    branch.entry.sums_begun = distinct / points;
  }
  return branch;
}

std::optional<GroupCounts> GroupCounter::count(const Interface& interface) {
  const MappingTree tree = skeleton(group_, counted_, interface);
  std::vector<TreeProblem> problems;
  const TreeShape shape = shape_of(arch_, group_, tree, problems);
  if (is_forbidden(tree, problems)) {
    return std::nullopt;
  }
  std::vector<const LineProfile*> lines;
  for (std::size_t line = 0; line < shape.line_count; ++line) {
    lines.push_back(&profile(tree, shape, interface, line));
  }
  GroupCounts counts;
  for (std::size_t e = 0; e < group_.einsums.size(); ++e) {
    const auto branch = entered(e, shape, lines);
    if (!branch) {
      return std::nullopt;
    }
    counts.branches.push_back(*branch);
  }
  for (const OwnKeep& keep : shape.keeps) {
    if (keep.position > 0 && (keep.moving == kNoLoop || keep.moving + 1 != keep.position)) {
      continue;  // the keep further out holds the same tile
    }
    KeepPosition position{keep.use, keep.level, keep.position, 1, 1};
    for (std::size_t line = 0; line < lines.size(); ++line) {
      const LineMoves& moves = lines[line]->keeps.at(key_of(shape, keep, line));
      position.moved *= static_cast<double>(moves.moved);
      position.largest *= static_cast<double>(moves.largest);
    }
    for (const LevelId level : levels_) {
      if (arch_.levels[level].sliding == arch_.levels[keep.level].sliding) {
        position.level = level;
        counts.keeps.push_back(position);
      }
    }
  }
  for (const TensorScope& scope : shape.scopes) {
    std::vector<const std::vector<NeedTrace>*> traces;
    for (const LineProfile* line : lines) {
      traces.push_back(&line->traces[scope.intermediate]);
    }
    std::vector<std::size_t> order;
    const auto& loops = shape.nodes[0].loops;
    for (std::size_t k = scope.position; k < loops.size(); ++k) {
      order.push_back(loops[k].line);
    }
    counts.held.push_back(live_set(traces, order));
  }
  return counts;
}

void take_scopes(const EinsumChain& group, const ScopeLevels& levels,
                 const std::vector<LiveSet>& held, std::size_t einsum,
                 const std::vector<std::optional<bool>>& final_sums,
                 const std::vector<FiniteCapacity>& capacities, TakenBits& taken) {
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!levels[i]) {
      continue;
    }
    const Intermediate& passed = group.intermediates[i];
    std::size_t last = passed.producer;
    for (const ChainTensor& use : passed.readers) {
      last = std::max(last, use.einsum);
    }
    const Workload& producer = group.einsums[passed.producer];
    const Tensor& tensor = producer.tensors[producer.output()];
    const bool is_wide = final_sums[passed.producer] == false;
    const Bits width = is_wide ? tensor.partial_bits : tensor.bits;
    const bool is_live = passed.producer <= einsum && einsum <= last;
    const std::int64_t points = is_live ? held[i].live : held[i].carried;
    take(capacities, *levels[i], tensor.role, static_cast<double>(points * width.count()), taken);
  }
}

std::size_t bytes_of(const GroupCounts& counts) {
  std::size_t bytes = sizeof(counts) + counts.keeps.size() * sizeof(KeepPosition) +
                      counts.held.size() * sizeof(LiveSet);
  for (const EnteredBranch& branch : counts.branches) {
    bytes += sizeof(branch) + branch.bounds.size() * sizeof(std::int64_t) +
             branch.entry.sources.size() * sizeof(LevelId);
    for (const std::vector<BoxLength>& lengths : branch.entry.lengths) {
      bytes += sizeof(lengths) + lengths.size() * sizeof(BoxLength);
    }
  }
  return bytes;
}

}  // namespace mapsim
