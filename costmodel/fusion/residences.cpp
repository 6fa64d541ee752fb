// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

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
    }
  }

 private:
  const std::string& name(LevelId level) const { return arch_.levels[level].name; }
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

}  // namespace mapsim
