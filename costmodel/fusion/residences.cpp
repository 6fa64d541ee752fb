// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "costmodel/fusion/shape.hpp"

namespace mapsim {

namespace {

class ResidenceCheck {
 public:
  ResidenceCheck(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                 const TreeShape& shape, std::vector<TreeProblem>& problems)
      : arch_{arch}, chain_{chain}, tree_{tree}, shape_{shape}, problems_{problems} {}

  void check() {
    for (std::size_t n = 0; n < tree_.nodes.size(); ++n) {
      for (std::size_t i = 0; i < tree_.nodes[n].items.size(); ++i) {
        if (const auto* keep = std::get_if<TreeKeep>(&tree_.nodes[n].items[i])) {
          for (const ChainTensor& use : keep->tensors) {
            check_allowed(n, i, keep->level, use);
          }
        }
      }
    }
    for (std::size_t e = 0; e < chain_.einsums.size(); ++e) {
      for (const TensorId t : chain_.einsums[e].tensors.ids()) {
        check_order({e, t});
      }
      check_fanouts(e);
    }
  }

 private:
  const std::string& name(LevelId level) const { return arch_.levels[level].name; }
  const std::string& name(FanoutId fanout) const { return arch_.fanouts[fanout].name; }
  const std::string& name(const ChainTensor& use) const {
    return chain_.names[use.einsum][use.tensor];
  }
  Role role(const ChainTensor& use) const {
    return chain_.einsums[use.einsum].tensors[use.tensor].role;
  }

  void check_allowed(std::size_t n, std::size_t item, LevelId level, const ChainTensor& use) {
    const Storage& storage = arch_.levels[level];
    if (storage.bypass.contains(role(use))) {
      problems_.push_back({n, item,
                           fmt::format("{} is kept at {}, which {} must bypass", name(use),
                                       name(level), to_string(role(use)))});
    } else if (!storage.capacity.per_role.empty() &&
               !storage.capacity.per_role.contains(role(use))) {
      problems_.push_back({n, item,
                           fmt::format("{} is kept at {}, which has no partition for {}", name(use),
                                       name(level), to_string(role(use)))});
    }
  }

  // Levels go strictly inwards, from that of the scope on; what must be kept is.
  void check_order(const ChainTensor& use) {
    const auto i = chain_.intermediate_of(use);
    const LevelId first = i ? shape_.scopes[*i].level : LevelId{0};
    LevelId last = first;
    LevelSet kept{first};
    for (const OwnKeep& keep : shape_.keeps) {
      if (keep.use != use) {
        continue;
      }
      if (keep.level == last) {
        problems_.push_back({keep.node, item_of(keep),
                             fmt::format("{} is kept twice at {}", name(use), name(last))});
      } else if (index_of(keep.level) < index_of(last)) {
        problems_.push_back(
            {keep.node, item_of(keep),
             fmt::format("{} is kept at {}, which lies outside {} where it was kept before",
                         name(use), name(keep.level), name(last))});
      }
      last = keep.level;
      kept.insert(keep.level);
    }
    const std::size_t leaf = shape_.leaf_of[use.einsum];
    for (const LevelId l : arch_.levels.ids()) {
      if (l > first && arch_.levels[l].keep.contains(role(use)) && !kept.contains(l)) {
        problems_.push_back({leaf, tree_.nodes[leaf].items.size(),
                             fmt::format("{} is not kept at {}, which must keep {}", name(use),
                                         name(l), to_string(role(use)))});
      }
    }
  }
  // Fanouts go inwards, levels lie on their side of them, and all instances exist. What groups keep
  // lies outside of the fanouts that their branches use: of those levels one instance works.
  void check_fanouts(std::size_t e) {
    const std::size_t leaf = shape_.leaf_of[e];
    const auto& items = tree_.nodes[leaf].items;
    PerDim<std::int64_t> extents = shape_.nodes[leaf].nominal;
    LevelId innermost{0};
    for (const LevelId l : levels_around(chain_, tree_, shape_, e)) {
      innermost = std::max(innermost, l);
    }
    std::optional<FanoutId> fanout;
    PerFanout<std::array<std::int64_t, 2>> used(arch_.fanouts.size(), {1, 1});
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (const auto* keep = std::get_if<TreeKeep>(&items[i])) {
        innermost = std::max(innermost, keep->level);
        if (fanout && keep->level != LevelId{0} && arch_.is_above(keep->level, *fanout)) {
          report(leaf, i, "{} lies above {}: it must keep before the parallel loops of {}",
                 name(keep->level), name(*fanout), name(*fanout));
        }
      } else if (const auto* loop = std::get_if<Temporal>(&items[i])) {
        extents[loop->dim] = loop->extent;
      } else {
        const Parallel& parallel = std::get<Parallel>(items[i]);
        const FanoutId f = parallel.fanout;
        if (fanout && f < *fanout) {
          report(leaf, i, "{} stands below {}, which lies inside {}", name(f), name(*fanout),
                 name(f));
        }
        if (!arch_.is_above(innermost, f)) {
          report(leaf, i, "a parallel loop over {} stands below a keep of {}, which lies under {}",
                 name(f), name(innermost), name(f));
        }
        fanout = fanout ? std::max(*fanout, f) : f;
        std::int64_t& n = used[f][static_cast<std::size_t>(parallel.axis)];
        const std::int64_t have =
            parallel.axis == Axis::kX ? arch_.fanouts[f].x : arch_.fanouts[f].y;
        n *= (extents[parallel.dim] + parallel.extent - 1) / parallel.extent;
        extents[parallel.dim] = parallel.extent;
        if (n > have) {
          report(leaf, i, "{} instances along {} of {}, which has {}", n, to_string(parallel.axis),
                 name(f), have);
        }
        check_sliding_sums(e, i);
      }
    }
  }
  // Tiles of sums that overlap from box to box, spread over instances: not supported.
  void check_sliding_sums(std::size_t e, std::size_t item) {
    const Workload& workload = chain_.einsums[e];
    for (const Rank& rank : workload.tensors[workload.output()].ranks) {
      for (const Term& term : rank.terms) {
        if (rank.terms.size() > 1 && is_cut_by_groups(e, term.dim)) {
          report(shape_.leaf_of[e], item,
                 "{} is cut by a loop of a group and slides in the output of {}, which cannot be "
                 "spread over instances then",
                 workload.dims[term.dim].name, workload.name);
          return;
        }
      }
    }
  }
  bool is_cut_by_groups(std::size_t e, DimId dim) const {
    return shape_.nodes[shape_.leaf_of[e]].nominal[dim] != chain_.einsums[e].dims[dim].bound;
  }

  template <class... Args>
  void report(std::size_t n, std::size_t item, fmt::format_string<Args...> what, Args&&... args) {
    problems_.push_back({n, item, fmt::format(what, std::forward<Args>(args)...)});
  }

  std::size_t item_of(const OwnKeep& keep) const {
    const auto& items = tree_.nodes[keep.node].items;
    const auto last = std::find_if(items.rbegin(), items.rend(), [&keep](const TreeItem& item) {
      const auto* at = std::get_if<TreeKeep>(&item);
      return at != nullptr && at->level == keep.level &&
             std::find(at->tensors.begin(), at->tensors.end(), keep.use) != at->tensors.end();
    });
    return static_cast<std::size_t>(items.rend() - last) - 1;
  }

  const Arch& arch_;
  const EinsumChain& chain_;
  const MappingTree& tree_;
  const TreeShape& shape_;
  std::vector<TreeProblem>& problems_;
};

}  // namespace

void check_residences(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                      const TreeShape& shape, std::vector<TreeProblem>& problems) {
  ResidenceCheck{arch, chain, tree, shape, problems}.check();
}

PerTensor<LevelId> levels_around(const EinsumChain& chain, const MappingTree& tree,
                                 const TreeShape& shape, std::size_t einsum) {
  PerTensor<LevelId> around(chain.einsums[einsum].tensors.size());
  for (const TensorId t : around.ids()) {
    const auto i = chain.intermediate_of({einsum, t});
    around[t] = i ? shape.scopes[*i].level : LevelId{0};
  }
  for (const OwnKeep& keep : shape.keeps) {  // outermost first
    if (keep.use.einsum == einsum && !tree.nodes[keep.node].children.empty()) {
      around[keep.use.tensor] = keep.level;
    }
  }
  return around;
}

Mapping branch_mapping(const TreeNode& leaf, const PerTensor<LevelId>& around) {
  Mapping mapping;
  for (const TensorId t : around.ids()) {
    mapping.nodes.emplace_back(Keep{around[t], TensorSet{t}});
  }
  for (const TreeItem& item : leaf.items) {
    if (const auto* loop = std::get_if<Temporal>(&item)) {
      mapping.nodes.emplace_back(*loop);
    } else if (const auto* parallel = std::get_if<Parallel>(&item)) {
      mapping.nodes.emplace_back(*parallel);
    } else {
      const TreeKeep& keep = std::get<TreeKeep>(item);
      for (const ChainTensor& use : keep.tensors) {
        if (keep.level != LevelId{0}) {
          mapping.nodes.emplace_back(Keep{keep.level, TensorSet{use.tensor}});
        }
      }
    }
  }
  return mapping;
}

}  // namespace mapsim
