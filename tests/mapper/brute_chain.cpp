// SPDX-License-Identifier: Apache-2.0
#include "tests/mapper/brute_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "arch/load.hpp"
#include "core/rng.hpp"
#include "costmodel/evaluate_into.hpp"
#include "costmodel/fusion/evaluate_tree.hpp"
#include "costmodel/fusion/shape.hpp"
#include "tests/mapper/tree_points.hpp"

namespace mapsim {

namespace {

// All trees of one partition into groups: the groups do not depend on each other.
class BruteForce {
 public:
  BruteForce(const Arch& arch, const EinsumChain& chain, bool timed, std::int64_t& trees)
      : arch_{arch}, chain_{chain}, timed_{timed}, trees_{trees} {}

  TreePoints front() {
    const std::size_t cuts = chain_.einsums.size() - 1;
    TreePoints front;
    for (std::size_t mask = 0; mask < (std::size_t{1} << cuts); ++mask) {
      groups_ = {{0, 0}};
      for (std::size_t e = 1; e <= cuts; ++e) {
        if ((mask >> (e - 1) & 1U) != 0) {
          groups_.push_back({e, e});
        } else {
          groups_.back().second = e;
        }
      }
      held_.assign(groups_.size(), {});
      add(hold(0), front);
    }
    std::sort(front.begin(), front.end(),
              [](const TreePoint& a, const TreePoint& b) { return a.energy < b.energy; });
    return front;
  }

 private:
  // What passes from group g to the next is held whole at a level, with its final sums or not, or
  // spilled.
  struct Held {
    std::size_t level = 0;
    bool final_sums = false;
  };
  TreePoints hold(std::size_t g) {
    if (g + 1 >= groups_.size()) {
      TreePoints sums{{0, 0}};
      for (std::size_t i = 0; i < groups_.size() && !sums.empty(); ++i) {
        sums = sum_of(sums, front_of_group(i));
      }
      return sums;
    }
    TreePoints front;
    for (std::size_t l = 0; l < arch_.levels.size() && is_above_arrays(l); ++l) {
      for (const bool final_sums : {false, true}) {
        held_[g] = {l, final_sums};
        if (!final_sums || (l > 0 && has_two_widths(groups_[g].second))) {
          add(hold(g + 1), front);
        }
      }
    }
    return front;
  }
  bool has_two_widths(std::size_t e) const {
    const Tensor& made = chain_.einsums[e].tensors[chain_.einsums[e].output()];
    return made.bits != made.partial_bits;
  }
  bool is_above_arrays(std::size_t level) const {
    return std::all_of(arch_.levels_above.begin(), arch_.levels_above.end(),
                       [&](std::size_t above) { return level < above; });
  }

  ChainTensor output(std::size_t e) const { return {e, chain_.einsums[e].output()}; }

  // The tree with plain branches, and group g as given.
  MappingTree base(std::size_t g, const std::vector<TreeItem>& prefix) const {
    MappingTree tree;
    tree.nodes.resize(1);
    tree.nodes[0].einsum = chain_.einsums.size() - 1;
    for (std::size_t i = 0; i + 1 < groups_.size(); ++i) {
      if (held_[i].level > 0) {
        tree.nodes[0].items.emplace_back(
            TreeKeep{static_cast<LevelId>(held_[i].level), {output(groups_[i].second)}});
      }
    }
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      std::size_t parent = 0;
      const auto [first, last] = groups_[i];
      if (groups_.size() > 1) {
        tree.nodes[0].children.push_back(tree.nodes.size());
      }
      if (last > first && groups_.size() > 1) {
        parent = tree.nodes.size();
        tree.nodes.emplace_back().parent = 0;
        tree.nodes[parent].einsum = last;
      }
      if (last > first && i == g) {
        auto& items = tree.nodes[parent].items;
        items.insert(items.end(), prefix.begin(), prefix.end());
      }
      for (std::size_t e = first; e <= last; ++e) {
        if (chain_.einsums.size() == 1) {
          break;
        }
        if (last > first) {
          tree.nodes[parent].children.push_back(tree.nodes.size());
        }
        TreeNode leaf;
        leaf.einsum = e;
        leaf.parent = parent;
        for (const DimId d : chain_.einsums[e].dims.ids()) {
          leaf.items.emplace_back(Temporal{d, 1});
        }
        tree.nodes.push_back(leaf);
      }
    }
    return tree;
  }
  static std::size_t leaf_of(const MappingTree& tree, std::size_t e) {
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
      if (tree.nodes[n].children.empty() && tree.nodes[n].einsum == e) {
        return n;
      }
    }
    return 0;
  }

  // Bits that are used while each einsum of a group runs, by level.
  using Used = std::vector<std::vector<std::int64_t>>;
  // A way to map one einsum of a group.
  struct Way {
    double energy = 0;
    std::int64_t cycles = 0;
    Used used;  // more than by scopes and what is held, with plain branches
  };
  bool is_held(const Occupant& occupant, std::size_t g) const {
    return occupant.scoped && held_[g].level > 0 && occupant.tensor == output(groups_[g].second);
  }
  // What is held whole takes the width of its state, whatever the branches are.
  Used used_by(const MappingTree& tree, const TreeCounts& counts, std::size_t g) const {
    const auto [first, last] = groups_[g];
    Used used;
    for (const TreePhase& phase : phases_of(arch_, chain_, tree, counts)) {
      if (phase.einsum < first || phase.einsum > last) {
        continue;
      }
      used.emplace_back(arch_.levels.size(), 0);
      for (const LevelId l : arch_.levels.ids()) {
        for (const Occupant& occupant : phase.levels[l]) {
          Bits width = occupant.bits;
          for (std::size_t i = 0; i < groups_.size(); ++i) {
            const auto [e, t] = occupant.tensor;
            const Tensor& tensor = chain_.einsums[e].tensors[t];
            width = !is_held(occupant, i) ? width
                    : held_[i].final_sums ? tensor.bits
                                          : tensor.partial_bits;
          }
          used.back()[index_of(l)] += occupant.elements * width.count();
        }
      }
    }
    return used;
  }
  // Does an einsum of the group bring what is held behind it there as the state says?
  bool is_as_held(const MappingTree& tree, const TreeCounts& counts, std::size_t g) const {
    for (const TreePhase& phase : phases_of(arch_, chain_, tree, counts)) {
      for (const LevelId l : arch_.levels.ids()) {
        for (const Occupant& occupant : phase.levels[l]) {
          if (is_held(occupant, g) && held_[g].final_sums &&
              occupant.bits !=
                  chain_.einsums[groups_[g].second].tensors[occupant.tensor.tensor].bits) {
            return false;
          }
        }
      }
    }
    return true;
  }

  TreePoints front_of_group(std::size_t g) {
    const auto [first, last] = groups_[g];
    if (first == last) {
      return front_with(g, {}, 0);
    }
    TreePoints front;
    for_prefixes(g, [&](const std::vector<TreeItem>& prefix, std::size_t loops) {
      add(front_with(g, prefix, loops), front);
    });
    return front;
  }
  // Where groups may keep tensors.
  std::vector<LevelId> group_levels() const {
    std::vector<LevelId> levels;
    for (std::size_t l = 1; l < arch_.levels.size() && is_above_arrays(l); ++l) {
      levels.push_back(static_cast<LevelId>(l));
    }
    return levels;
  }

  // Every order of every set of loops over the sink's dims, scopes everywhere, at all levels.
  template <class Visit>
  void for_prefixes(std::size_t g, const Visit& visit) const {
    const auto [first, last] = groups_[g];
    const Workload& sink = chain_.einsums[last];
    const std::vector<LevelId> levels = group_levels();
    std::vector<Temporal> loops;
    const std::function<void()> grow = [&] {
      const std::size_t places = (loops.size() + 1) * levels.size();
      std::vector<std::size_t> scopes(last - first, 0);  // position * levels + level
      std::size_t i = 0;
      do {
        std::vector<TreeItem> items;
        for (std::size_t p = 0; p <= loops.size(); ++p) {
          for (std::size_t s = 0; s < scopes.size() && !levels.empty(); ++s) {
            if (scopes[s] / levels.size() == p) {
              items.emplace_back(TreeKeep{levels[scopes[s] % levels.size()], {output(first + s)}});
            }
          }
          if (p < loops.size()) {
            items.emplace_back(loops[p]);
          }
        }
        if (check_tree(arch_, chain_, base(g, items)).empty()) {
          visit(items, loops.size());
        }
        for (i = 0; i < scopes.size() && ++scopes[i] >= places; ++i) {
          scopes[i] = 0;
        }
      } while (i < scopes.size());
      for (const DimId d : sink.dims.ids()) {
        const bool is_cut = std::any_of(loops.begin(), loops.end(),
                                        [&](const Temporal& loop) { return loop.dim == d; });
        for (std::int64_t n = 1; n < sink.dims[d].bound && !is_cut; ++n) {
          if (sink.dims[d].bound % n == 0) {
            loops.push_back({d, n});
            grow();
            loops.pop_back();
          }
        }
      }
    };
    grow();
  }

  TreePoints front_with(std::size_t g, const std::vector<TreeItem>& prefix, std::size_t loops) {
    const auto [first, last] = groups_[g];
    std::vector<std::vector<Way>> ways;
    const MappingTree plain = base(g, prefix);
    const Used fixed = used_by(plain, count_tree(arch_, chain_, plain), g);
    for (std::size_t e = first; e <= last; ++e) {
      ways.push_back(ways_of(g, prefix, loops, e, fixed));
    }
    return join(ways, fixed);
  }

  std::vector<Way> ways_of(std::size_t g, const std::vector<TreeItem>& prefix, std::size_t loops,
                           std::size_t e, const Used& fixed) {
    const auto [first, last] = groups_[g];
    std::vector<PossibleKeep> own;  // a tensor's from the outside in
    for (const TensorId t : chain_.einsums[e].tensors.ids()) {
      const auto i = chain_.intermediate_of({e, t});
      const bool is_passed = i && chain_.intermediates[*i].producer >= first &&
                             chain_.intermediates[*i].readers.back().einsum <= last;
      for (const LevelId level : group_levels()) {
        if (!is_passed && last > first) {
          own.push_back({{e, t}, level});
        }
      }
    }
    std::vector<Way> ways;
    std::vector<std::size_t> positions(own.size(), 0);  // 0: none; else position + 1
    std::size_t i = 0;
    do {
      const std::vector<TreeItem> with_keeps = insert(prefix, own, positions);
      const MappingTree tree = base(g, with_keeps);
      if (check_tree(arch_, chain_, tree).empty()) {
        add_nests(g, tree, e, fixed, ways);
      }
      for (i = 0; i < own.size() && ++positions[i] > loops + 1; ++i) {
        positions[i] = 0;
      }
    } while (i < own.size());
    return ways;
  }
  // Every nest of one branch.
  void add_nests(std::size_t g, const MappingTree& tree, std::size_t e, const Used& fixed,
                 std::vector<Way>& ways) {
    const std::size_t leaf = leaf_of(tree, e);
    const Workload& workload = chain_.einsums[e];
    const PerDim<std::int64_t> common = common_sizes(tree, e);
    MappingTree grown = tree;
    grown.nodes[leaf].items.clear();
    PerTensor<std::size_t> kept(workload.tensors.size());
    const std::function<void(PerDim<std::int64_t>&, std::size_t)> grow =
        [&](PerDim<std::int64_t>& extents, std::size_t first_tensor) {
          const bool is_done =
              std::all_of(extents.begin(), extents.end(), [](std::int64_t n) { return n == 1; });
          if (is_done && is_grown_mapping(grown, leaf)) {
            add_cost(g, grown, e, fixed, ways);
          }
          auto& items = grown.nodes[leaf].items;
          for (const TensorId t : workload.tensors.ids()) {
            for (std::size_t l = kept[t] + 1;
                 index_of(t) >= first_tensor && l < arch_.levels.size(); ++l) {
              const std::size_t before = kept[t];
              kept[t] = l;
              items.emplace_back(TreeKeep{static_cast<LevelId>(l), {{e, t}}});
              grow(extents, 0);
              items.pop_back();
              kept[t] = before;
            }
          }
          for (const DimId d : workload.dims.ids()) {
            for (std::int64_t n = 1; n < extents[d]; ++n) {
              if (common[d] % n != 0 || extents[d] % n != 0) {
                continue;
              }
              const std::int64_t before = extents[d];
              extents[d] = n;
              items.emplace_back(Temporal{d, n});
              grow(extents, 0);
              items.pop_back();
              for (std::size_t f = 0; common[d] == largest_[d] && f < arch_.fanouts.size(); ++f) {
                for (const Axis axis : {Axis::kX, Axis::kY}) {
                  const auto fanout = static_cast<FanoutId>(f);
                  if (before / n <= arch_.fanouts[fanout].size(axis)) {
                    items.emplace_back(Parallel{d, n, fanout, axis});
                    grow(extents, 0);
                    items.pop_back();
                  }
                }
              }
              extents[d] = before;
            }
          }
        };
    PerDim<std::int64_t> extents = largest_;
    grow(extents, 0);
  }
  // The space has the parallel loops of a fanout together, over one dim and axis once.
  bool is_grown_mapping(const MappingTree& tree, std::size_t leaf) const {
    const auto& items = tree.nodes[leaf].items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto* one = std::get_if<Parallel>(&items[i]);
      bool apart = false;
      for (std::size_t k = i + 1; one != nullptr && k < items.size(); ++k) {
        const auto* other = std::get_if<Parallel>(&items[k]);
        const bool same = other != nullptr && other->fanout == one->fanout;
        if (same && (apart || (other->dim == one->dim && other->axis == one->axis))) {
          return false;
        }
        apart = apart || !same;
      }
    }
    return check_tree(arch_, chain_, tree).empty();
  }
  // Of the sizes with which a dim of the branch is entered; `largest_` has the most. From what the
  // counts of a branch say when one of its dims is cut into ones: iterations per entry.
  PerDim<std::int64_t> common_sizes(const MappingTree& tree, std::size_t e);

  void add_cost(std::size_t g, const MappingTree& tree, std::size_t e, const Used& fixed,
                std::vector<Way>& ways) {
    ++trees_;
    const TreeCounts counts = count_tree(arch_, chain_, tree);
    if (e == groups_[g].second && !is_as_held(tree, counts, g)) {
      return;
    }
    Way way;
    const Problem problem{arch_, chain_.einsums[e]};
    Energy energy;
    energy_into(problem, counts.einsums[e], energy);
    way.energy = energy.total.count();
    if (timed_) {
      Latency latency;
      latency_into(problem, Nest{}, counts.einsums[e], latency);
      way.cycles = latency.steady.count();
    }
    way.used = used_by(tree, counts, g);
    for (std::size_t p = 0; p < way.used.size(); ++p) {
      std::transform(way.used[p].begin(), way.used[p].end(), fixed[p].begin(), way.used[p].begin(),
                     std::minus<>{});
    }
    add_way(way, ways);
  }
  static void add_way(const Way& way, std::vector<Way>& ways) {
    const auto no_worse = [](const Way& a, const Way& b) {
      const auto less = [](std::int64_t x, std::int64_t y) { return x <= y; };
      const auto none_more = [&](const std::vector<std::int64_t>& x,
                                 const std::vector<std::int64_t>& y) {
        return std::equal(x.begin(), x.end(), y.begin(), less);
      };
      return a.energy <= b.energy && a.cycles <= b.cycles &&
             std::equal(a.used.begin(), a.used.end(), b.used.begin(), none_more);
    };
    for (const Way& other : ways) {
      if (no_worse(other, way)) {
        return;
      }
    }
    std::erase_if(ways, [&](const Way& other) { return no_worse(way, other); });
    ways.push_back(way);
  }

  TreePoints join(const std::vector<std::vector<Way>>& ways, const Used& fixed) const {
    TreePoints front;
    std::vector<const Way*> chosen;
    const std::function<void(const TreePoint&)> choose = [&](const TreePoint& so_far) {
      if (chosen.size() == ways.size()) {
        if (fits(chosen, fixed)) {
          add(so_far, front);
        }
        return;
      }
      for (const Way& way : ways[chosen.size()]) {
        const TreePoint next{so_far.energy + way.energy, so_far.cycles + way.cycles};
        if (timed_ || front.empty() || next.energy < front.front().energy) {
          chosen.push_back(&way);
          choose(next);
          chosen.pop_back();
        }
      }
    };
    choose({0, 0});
    return front;
  }
  bool fits(const std::vector<const Way*>& chosen, const Used& fixed) const {
    const Problem problem{arch_, chain_.einsums.front()};
    for (std::size_t phase = 0; phase < chosen.size(); ++phase) {
      for (const LevelId l : arch_.levels.ids()) {
        const std::size_t at = index_of(l);
        std::int64_t used = fixed[phase][at];
        for (const Way* way : chosen) {
          used += way->used[phase][at];
        }
        const auto room = problem.capacity(l, Role::kInput);
        if (room && used > room->count()) {
          return false;
        }
      }
    }
    return true;
  }

  const Arch& arch_;
  const EinsumChain& chain_;
  bool timed_;
  std::int64_t& trees_;
  std::vector<std::pair<std::size_t, std::size_t>> groups_;
  std::vector<Held> held_;  // per group: what it passes on
  PerDim<std::int64_t> largest_;
};

PerDim<std::int64_t> BruteForce::common_sizes(const MappingTree& tree, std::size_t e) {
  const TreeShape shape = shape_of(arch_, chain_, tree);
  const std::size_t leaf = leaf_of(tree, e);
  PerDim<std::int64_t> common(chain_.einsums[e].dims.size(), 0);
  largest_ = PerDim<std::int64_t>(common.size(), 0);
  for (std::size_t line = 0; line < shape.line_count; ++line) {
    const LineCounts counts = walk_line(arch_, chain_, tree, shape, line);
    for (const auto& [sizes, entries] : counts.entries[leaf]) {
      std::size_t at = 0;
      for (const DimId d : common.ids()) {
        if (shape.lines[e][d] == line) {
          common[d] = std::gcd(common[d], sizes[at]);
          largest_[d] = std::max(largest_[d], sizes[at]);
          ++at;
        }
      }
    }
  }
  return common;
}

}  // namespace

std::vector<TreePoint> front_by_force(const Arch& arch, const EinsumChain& chain, bool timed,
                                      std::int64_t& trees) {
  return BruteForce(arch, chain, timed, trees).front();
}

}  // namespace mapsim
