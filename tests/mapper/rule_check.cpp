// SPDX-License-Identifier: Apache-2.0
#include "rule_check.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "costmodel/nest.hpp"

namespace mapsim {
namespace {

struct Loop {
  DimId dim{};
  std::int64_t outer = 1;
  std::int64_t extent = 1;
};

// A node that loops can stand above.
struct ArchNode {
  std::optional<LevelId> level;
  std::optional<FanoutId> fanout;
  const LoopRule* rule = nullptr;
  bool parts = false;  // has a place in mappings
  DimSet exhausted;    // by the rules further out
};

class RuleCheck {
 public:
  RuleCheck(const Mapspace& space, const Mapping& mapping) : space_{space}, mapping_{mapping} {}

  std::string run() {
    if (!extents_fit()) {
      return "an extent that a rule forbids";
    }
    if (space_.constraints().one_loop_per_dim && repeats_a_loop()) {
      return "two loops over one dim between two points";
    }
    list_nodes();
    // Nodes up to the one that parts: a region; its loops are those up to there in the mapping.
    std::vector<std::vector<ArchNode>> regions{{}};
    for (const ArchNode& node : nodes_) {
      regions.back().push_back(node);
      if (node.parts) {
        regions.emplace_back();
      }
    }
    std::vector<std::vector<ArchNode>> joined{regions.front()};
    for (std::size_t r = 1; r < regions.size(); ++r) {
      const ArchNode& border = joined.back().back();
      const bool needed = border.fanout || has_rule(joined.back()) || has_rule(regions[r]);
      if (needed && !stands(border)) {
        return "a level between rules that keeps nothing";
      }
      if (needed) {
        joined.push_back(regions[r]);
      } else {
        joined.back().insert(joined.back().end(), regions[r].begin(), regions[r].end());
      }
    }
    std::size_t from = 0;
    for (std::size_t r = 0; r < joined.size(); ++r) {
      const std::vector<Loop> loops = loops_of(joined, r, from);
      if (!orders_fit(joined[r], 0, 0, loops, 0)) {
        return "a loop that a rule forbids";
      }
      for (const DimId d : workload().dims.ids()) {
        std::int64_t outer = 0;
        std::int64_t extent = 0;
        for (const Loop& loop : loops) {
          outer = loop.dim == d && outer == 0 ? loop.outer : outer;
          extent = loop.dim == d ? loop.extent : extent;
        }
        const std::int64_t product = outer > 0 ? (outer + extent - 1) / extent : 1;
        if (!factors_fit(joined[r], 0, d, product)) {
          return "a factor that a rule forbids";
        }
      }
    }
    return "";
  }

 private:
  bool imperfect() const { return space_.constraints().factors.imperfect; }
  const Arch& arch() const { return space_.problem().arch(); }
  const Workload& workload() const { return space_.problem().workload(); }

  // Does a temporal loop over the dim stand below this node?
  bool is_cut_below(std::size_t node, DimId dim) const {
    return std::any_of(mapping_.nodes.begin() + static_cast<std::ptrdiff_t>(node),
                       mapping_.nodes.end(), [dim](const MappingNode& below) {
                         const auto* loop = std::get_if<Temporal>(&below);
                         return loop != nullptr && loop->dim == dim;
                       });
  }

  bool extents_fit() const {
    PerDim<std::int64_t> extents = bounds_of(workload());
    for (std::size_t i = 0; i < mapping_.nodes.size(); ++i) {
      const MappingNode& node = mapping_.nodes[i];
      if (const auto* keep = std::get_if<Keep>(&node)) {
        for (const ExtentRule& rule : space_.constraints().extents) {
          if (rule.level == keep->level && keep->tensors.contains(rule.tensor) &&
              (!rule.extents.contains(extents[rule.dim]) ||
               (rule.done && is_cut_below(i, rule.dim)))) {
            return false;
          }
        }
      } else if (const auto* loop = std::get_if<Temporal>(&node)) {
        extents[loop->dim] = loop->extent;
      } else {
        extents[std::get<Parallel>(node).dim] = std::get<Parallel>(node).extent;
      }
    }
    return true;
  }

  bool stands(const ArchNode& node) const {
    return std::any_of(mapping_.nodes.begin(), mapping_.nodes.end(), [&](const MappingNode& at) {
      const auto* keep = std::get_if<Keep>(&at);
      const auto* parallel = std::get_if<Parallel>(&at);
      return (keep != nullptr && node.level == keep->level) ||
             (parallel != nullptr && node.fanout == parallel->fanout);
    });
  }

  bool may_keep(LevelId level) const {
    bool may = false;
    for (const TensorId t : workload().tensors.ids()) {
      may = may || space_.keep_rule(level, t) != KeepRule::kBypass;
    }
    return may;
  }

  bool repeats_a_loop() const {
    std::set<std::size_t> dims;
    for (const MappingNode& node : mapping_.nodes) {
      const auto* loop = std::get_if<Temporal>(&node);
      if (loop == nullptr) {
        dims.clear();
      } else if (!dims.insert(index_of(loop->dim)).second) {
        return true;
      }
    }
    return false;
  }

  void add_node(ArchNode node) {
    for (const LoopRule& rule : space_.constraints().loops) {
      if (rule.level == node.level && rule.fanout == node.fanout) {
        node.rule = &rule;
      }
    }
    if (!nodes_.empty()) {
      const ArchNode& before = nodes_.back();
      node.exhausted = before.exhausted | (before.rule != nullptr ? before.rule->rest : DimSet{});
    }
    nodes_.push_back(node);
  }

  void list_nodes() {
    for (std::size_t l = 1; l <= arch().levels.size(); ++l) {
      for (const FanoutId f : arch().fanouts.ids()) {
        if (arch().levels_above[f] == l) {
          ArchNode node{std::nullopt, f, nullptr, false, {}};
          node.parts = stands(node);
          add_node(node);
        }
      }
      const auto level = static_cast<LevelId>(l);
      if (l < arch().levels.size() && space_.constraints().even) {
        add_node({level, std::nullopt, nullptr, may_keep(level), {}});
      }
    }
    add_node({});
  }

  static bool has_rule(const std::vector<ArchNode>& nodes) {
    return std::any_of(nodes.begin(), nodes.end(),
                       [](const ArchNode& node) { return node.rule != nullptr; });
  }

  // From mapping node `from` to the border of region r, which it is set to.
  std::vector<Loop> loops_of(const std::vector<std::vector<ArchNode>>& regions, std::size_t r,
                             std::size_t& from) const {
    const ArchNode border = r + 1 < regions.size() ? regions[r].back() : ArchNode{};
    PerDim<std::int64_t> extents = bounds_of(workload());
    std::vector<Loop> loops;
    std::size_t i = 0;
    for (; i < mapping_.nodes.size(); ++i) {
      const auto* keep = std::get_if<Keep>(&mapping_.nodes[i]);
      const auto* parallel = std::get_if<Parallel>(&mapping_.nodes[i]);
      const bool at_border = (keep != nullptr && border.level == keep->level) ||
                             (parallel != nullptr && border.fanout == parallel->fanout);
      if (at_border && i >= from) {
        break;
      }
      if (const auto* loop = std::get_if<Temporal>(&mapping_.nodes[i])) {
        if (i >= from) {
          loops.push_back({loop->dim, extents[loop->dim], loop->extent});
        }
        extents[loop->dim] = loop->extent;
      } else if (parallel != nullptr) {
        extents[parallel->dim] = parallel->extent;
      }
    }
    from = i;
    return loops;
  }

  // Does a rule leave the dim a factor but 1?
  bool may_have_factor(const ArchNode& node, DimId dim) const {
    const std::int64_t bound = workload().dims[dim].bound;
    for (std::int64_t factor = 2; factor <= bound; ++factor) {
      bool allowed = imperfect() || bound % factor == 0;
      for (const FactorRule& rule :
           node.rule != nullptr ? node.rule->factors : std::vector<FactorRule>{}) {
        allowed = allowed && (rule.dim != dim || rule.factors.contains(factor));
      }
      if (allowed) {
        return true;
      }
    }
    return false;
  }

  bool may_loop(const ArchNode& node, std::size_t unrolling_class, DimId dim) const {
    if (node.exhausted.contains(dim) || !may_have_factor(node, dim)) {
      return false;
    }
    return node.rule == nullptr || !node.rule->ordered ||
           node.rule->order[unrolling_class].contains(dim);
  }
  static std::size_t classes(const ArchNode& node) {
    return node.rule != nullptr && node.rule->ordered ? node.rule->order.size() : 1;
  }

  // Can loops from `next` on stand above nodes from `node`, group `group` on?
  bool orders_fit(const std::vector<ArchNode>& nodes, std::size_t node, std::size_t unrolling_class,
                  const std::vector<Loop>& loops, std::size_t next) const {
    if (next == loops.size()) {
      return true;
    }
    if (node == nodes.size()) {
      return false;
    }
    if (unrolling_class == classes(nodes[node])) {
      return orders_fit(nodes, node + 1, 0, loops, next);
    }
    return (may_loop(nodes[node], unrolling_class, loops[next].dim) &&
            orders_fit(nodes, node, unrolling_class, loops, next + 1)) ||
           orders_fit(nodes, node, unrolling_class + 1, loops, next);
  }

  // Is `product` a product of factors that nodes from `node` on allow?
  bool factors_fit(const std::vector<ArchNode>& nodes, std::size_t node, DimId dim,
                   std::int64_t product) const {
    if (node == nodes.size()) {
      return product == 1;
    }
    bool may = false;
    for (std::size_t g = 0; g < classes(nodes[node]); ++g) {
      may = may || may_loop(nodes[node], g, dim);
    }
    for (std::int64_t factor = 1; factor <= (may ? product : 1); ++factor) {
      bool allowed = product % factor == 0;
      for (const FactorRule& rule :
           nodes[node].rule != nullptr ? nodes[node].rule->factors : std::vector<FactorRule>{}) {
        allowed = allowed && (rule.dim != dim || rule.factors.contains(factor));
      }
      if (allowed && factors_fit(nodes, node + 1, dim, product / factor)) {
        return true;
      }
    }
    return false;
  }

  const Mapspace& space_;
  const Mapping& mapping_;
  std::vector<ArchNode> nodes_;
};

}  // namespace

std::string broken_rule(const Mapspace& space, const Mapping& mapping) {
  return RuleCheck{space, mapping}.run();
}

}  // namespace mapsim
