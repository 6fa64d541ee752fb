// SPDX-License-Identifier: Apache-2.0
#include "tests/costmodel/random_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/rng.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/fusion/evaluate_tree.hpp"
#include "costmodel/fusion/shape.hpp"
#include "costmodel/reference/simulate_tree.hpp"
#include "validate/agreement.hpp"
#include "workloads/einsum.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kMostMacs = 3000;  // of one einsum

bool one_in(Rng& rng, std::uint64_t n) { return rng.below(n) == 0; }

Arch random_machine(Rng& rng) {
  constexpr std::array kNames{"DRAM", "L2", "L1", "spad"};
  constexpr std::array kFanouts{"chips", "clusters", "PEs", "lanes"};
  Arch arch;
  arch.name = "random";
  const std::size_t levels = 2 + rng.below(3);
  for (std::size_t l = 0; l < levels; ++l) {
    Storage storage;
    storage.name = kNames[l];
    storage.sliding = !one_in(rng, 3);
    arch.levels.push_back(storage);
    if (one_in(rng, 3)) {
      Fanout fanout;
      fanout.name = kFanouts[l];
      fanout.x = rng.between(1, 4);
      fanout.y = rng.between(1, 3);
      fanout.multicast = RoleSet::from_bits(static_cast<std::uint32_t>(rng.below(8)));
      fanout.spatial_reduction = one_in(rng, 2);
      fanout.forwarding = !one_in(rng, 3);
      if (one_in(rng, 3)) {
        fanout.energy_per_hop = PicojoulesPerBit{1};
      }
      arch.fanouts.push_back(fanout);
      arch.levels_above.push_back(l + 1);
    }
  }
  arch.compute.name = "MAC";
  arch.compute.register_reuse =
      one_in(rng, 3) ? RoleSet::from_bits(static_cast<std::uint32_t>(rng.below(8))) : RoleSet{};
  return arch;
}

// Adds einsums one by one; each reads an intermediate, most often the last.
class ChainWriter {
 public:
  explicit ChainWriter(Rng& rng) : rng_{rng} {}

  EinsumChain write() {
    const std::size_t count = one_in(rng_, 16) ? 1 : 2 + rng_.below(3);
    chain_.name = "random";
    write_first();
    for (std::size_t e = 1; e < count; ++e) {
      write_next();
    }
    for (auto& t : made_) {
      if (!t.readers.empty()) {
        chain_.intermediates.push_back(t);
      }
    }
    return std::move(chain_);
  }

 private:
  void write_first() {
    const auto size = [&](std::int64_t most) { return rng_.between(1, most); };
    switch (rng_.below(3)) {
      case 0:
        add("O[m][n] += A[m][k] * B[k][n]", {{"m", size(8)}, {"n", size(6)}, {"k", size(4)}}, {});
        break;
      case 1:
        add("O[k][p] += I[c][p+r] * W[k][c][r]",
            {{"k", size(4)}, {"p", size(16)}, {"c", size(3)}, {"r", size(3)}}, {});
        break;
      default:
        add("O[k][p][q] += I[c][p+r][q+s] * W[k][c][r][s]",
            {{"k", size(3)},
             {"p", size(9)},
             {"q", size(9)},
             {"c", size(2)},
             {"r", size(2)},
             {"s", size(2)}},
            {});
    }
  }

  // Outputs of a window over so many points, none of which a stride leaves over by itself.
  struct Window {
    std::int64_t outputs = 1, taps = 1, stride = 1, dilation = 1;
  };
  Window window_over(std::int64_t points) {
    Window w;
    w.stride = rng_.between(1, 3);
    w.dilation = rng_.between(1, 2);
    w.taps = rng_.between(1, 3);
    while (w.dilation * (w.taps - 1) + 1 > points) {
      --w.taps;
    }
    w.outputs = (points - w.dilation * (w.taps - 1) - 1) / w.stride + 1;
    return w;
  }

  void write_next() {
    const std::size_t first = one_in(rng_, 3) ? rng_.below(made_.size()) : made_.size() - 1;
    const std::vector<std::int64_t> sizes = sizes_[first];
    for (std::size_t second = 0; second < made_.size(); ++second) {
      if (second != first && sizes_[second] == sizes && one_in(rng_, 2)) {
        write_product(first, second);
        return;
      }
    }
    if (sizes.size() == 3) {
      write_conv2d(first, sizes);
    } else if (one_in(rng_, 2)) {
      write_conv1d(first, sizes);
    } else if (one_in(rng_, 3)) {
      add("O[m][n] += A[m][k] * T[k][n]",
          {{"m", rng_.between(1, 6)}, {"n", sizes[1]}, {"k", sizes[0]}}, {{1, first}});
    } else {
      add("O[m][n] += T[m][k] * B[k][n]",
          {{"m", sizes[0]}, {"n", rng_.between(1, 6)}, {"k", sizes[1]}}, {{0, first}});
    }
  }
  void write_product(std::size_t first, std::size_t second) {
    std::vector<Dim> dims;
    std::string ranks;
    for (std::size_t r = 0; r < sizes_[first].size(); ++r) {
      dims.push_back({std::string(1, static_cast<char>('a' + r)), sizes_[first][r]});
      ranks += "[" + dims.back().name + "]";
    }
    add("O" + ranks + " += T" + ranks + " * U" + ranks, dims, {{0, first}, {1, second}});
  }
  void write_conv1d(std::size_t first, const std::vector<std::int64_t>& sizes) {
    const Window w = window_over(sizes[1]);
    const std::string at = fmt::format("{}*p+{}*r", w.stride, w.dilation);
    if (one_in(rng_, 3)) {
      add("O[c][p] += T[c][" + at + "] * W[c][r]",
          {{"c", sizes[0]}, {"p", w.outputs}, {"r", w.taps}}, {{0, first}});
    } else {
      add("O[k][p] += T[c][" + at + "] * W[k][c][r]",
          {{"k", rng_.between(1, 4)}, {"c", sizes[0]}, {"p", w.outputs}, {"r", w.taps}},
          {{0, first}});
    }
  }
  void write_conv2d(std::size_t first, const std::vector<std::int64_t>& sizes) {
    const Window h = window_over(sizes[1]);
    const Window w = window_over(sizes[2]);
    const std::string at =
        fmt::format("T[c][{}*p+{}*r][{}*q+{}*s]", h.stride, h.dilation, w.stride, w.dilation);
    std::vector<Dim> dims{
        {"c", sizes[0]}, {"p", h.outputs}, {"q", w.outputs}, {"r", h.taps}, {"s", w.taps}};
    if (one_in(rng_, 3)) {
      add("O[c][p][q] += " + at + " * W[c][r][s]", dims, {{0, first}});
    } else {
      dims.push_back({"k", rng_.between(1, 3)});
      add("O[k][p][q] += " + at + " * W[k][c][r][s]", dims, {{0, first}});
    }
  }

  void add(const std::string& equation, const std::vector<Dim>& dims,
           const std::vector<std::pair<std::size_t, std::size_t>>& read) {
    const std::size_t e = chain_.einsums.size();
    Precision precision;
    precision.partial = Bits{one_in(rng_, 2) ? 8 : 32};
    Workload workload = einsum(fmt::format("e{}", e), equation, dims, precision);
    PerTensor<std::string> names;
    for (const Tensor& tensor : workload.tensors) {
      names.push_back(fmt::format("e{}.{}", e, tensor.name));
    }
    names[workload.output()] = fmt::format("t{}", e);
    for (const auto& [operand, made] : read) {
      const auto t = static_cast<TensorId>(operand);
      names[t] = fmt::format("t{}", made);
      made_[made].readers.push_back({e, t});
    }
    std::vector<std::int64_t> sizes;
    for (const Rank& rank : workload.tensors[workload.output()].ranks) {
      sizes.push_back(workload.dims[rank.terms.front().dim].bound);
    }
    sizes_.push_back(sizes);
    made_.push_back({fmt::format("t{}", e), e, {}});
    chain_.einsums.push_back(std::move(workload));
    chain_.names.push_back(names);
  }

  Rng& rng_;
  EinsumChain chain_;
  std::vector<Intermediate> made_;
  std::vector<std::vector<std::int64_t>> sizes_;
};

class TreeWriter {
 public:
  TreeWriter(Rng& rng, const Arch& arch, const EinsumChain& chain)
      : rng_{rng}, arch_{arch}, chain_{chain} {}

  MappingTree write() {
    write_group(0, chain_.einsums.size(), kNoNode);
    for (std::size_t n = 0; n < tree_.nodes.size(); ++n) {
      if (!tree_.nodes[n].children.empty()) {
        write_loops(n, bounds_of(chain_.einsums[tree_.nodes[n].einsum]));
      }
    }
    std::vector<TreeProblem> ignored;
    const TreeShape shape = shape_of(arch_, chain_, tree_, ignored);
    for (std::size_t n = 0; n < tree_.nodes.size(); ++n) {
      if (tree_.nodes[n].children.empty() && !shape.nodes[n].nominal.empty()) {
        write_leaf(n, shape.nodes[n].nominal);
      }
    }
    ignored.clear();
    const TreeShape whole = shape_of(arch_, chain_, tree_, ignored);
    scope_levels_.assign(chain_.intermediates.size(), 0);
    for (const TensorScope& scope : whole.scopes) {
      if (!whole.lines.empty()) {
        write_scope(whole, scope);
      }
    }
    for (std::size_t e = 0; e < chain_.einsums.size(); ++e) {
      for (const TensorId t : chain_.einsums[e].tensors.ids()) {
        write_keeps({e, t});
      }
    }
    return std::move(tree_);
  }

 private:
  void write_group(std::size_t first, std::size_t last, std::size_t parent) {
    const std::size_t n = tree_.nodes.size();
    tree_.nodes.push_back({last - 1, parent, {}, {}});
    if (parent != kNoNode) {
      tree_.nodes[parent].children.push_back(n);
    }
    while (last - first > 1 && first < last) {
      const std::size_t room = last - first;
      std::size_t size = one_in(rng_, 3) ? 1 + rng_.below(room) : 1;
      if (tree_.nodes[n].children.empty()) {
        size = std::min(size, room - 1);
      }
      write_group(first, first + size, n);
      first += size;
      if (last - first == 1) {
        write_group(first, last, n);
        return;
      }
    }
  }

  // Mostly over dims of the sink's output, which more often move the intermediates.
  void write_loops(std::size_t n, PerDim<std::int64_t> extents) {
    const Workload& sink = chain_.einsums[tree_.nodes[n].einsum];
    const DimSet outside = sink.tensors[sink.output()].dims();
    for (std::uint64_t count = rng_.below(4); count > 0; --count) {
      const auto d = static_cast<DimId>(rng_.below(extents.size()));
      if (extents[d] > 1 && (outside.contains(d) || one_in(rng_, 4))) {
        extents[d] = one_in(rng_, 2) ? rng_.between(1, extents[d]) : extents[d] / 2;
        tree_.nodes[n].items.emplace_back(Temporal{d, extents[d]});
      }
    }
  }

  void write_leaf(std::size_t n, PerDim<std::int64_t> extents) {
    auto& items = tree_.nodes[n].items;
    std::vector<DimId> open;
    for (const DimId d : extents.ids()) {
      if (extents[d] > 1) {
        open.push_back(d);
      }
    }
    std::size_t f = 0;  // the next loop over instances is over this fanout or one further in
    while (!open.empty()) {
      const std::size_t pick = rng_.below(open.size());
      const DimId d = open[pick];
      if (f < arch_.fanouts.size() && one_in(rng_, 2)) {
        f += rng_.below(arch_.fanouts.size() - f);
        const auto fanout = static_cast<FanoutId>(f);
        const Axis axis = one_in(rng_, 2) ? Axis::kX : Axis::kY;
        const std::int64_t most = std::min(extents[d], arch_.fanouts[fanout].size(axis));
        const std::int64_t count = rng_.between(1, most);
        extents[d] = (extents[d] + count - 1) / count;
        items.emplace_back(Parallel{d, extents[d], fanout, axis});
        f += one_in(rng_, 2) ? 1 : 0;
      } else {
        extents[d] = one_in(rng_, 2) ? 1 : rng_.between(1, extents[d] - 1);
        items.emplace_back(Temporal{d, extents[d]});
      }
      if (extents[d] == 1) {
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(pick));
      }
    }
  }

  // Somewhere above the sequence and below the last loop that does not move the intermediate.
  void write_scope(const TreeShape& shape, const TensorScope& scope) {
    const std::size_t producer = chain_.intermediates[scope.intermediate].producer;
    const ChainTensor use{producer, chain_.einsums[producer].output()};
    std::vector<std::pair<std::size_t, std::size_t>> places;  // node, loops of it above
    bool moved = true;
    for (std::size_t n = scope.home; n != kNoNode && moved; n = tree_.nodes[n].parent) {
      const auto& loops = shape.nodes[n].loops;
      places.emplace_back(n, loops.size());
      for (std::size_t k = loops.size(); k-- > 0 && moved;) {
        moved = TreeShape::moves(chain_, loops[k], use);
        if (moved) {
          places.emplace_back(n, k);
        }
      }
    }
    if (moved && one_in(rng_, 4)) {
      return;  // spilled
    }
    const auto [n, above] = places[rng_.below(places.size())];
    const std::size_t level = one_in(rng_, 4) ? 0 : 1 + rng_.below(arch_.levels.size() - 1);
    scope_levels_[scope.intermediate] = level;
    auto& items = tree_.nodes[n].items;
    std::size_t item = 0;
    for (std::size_t loops = 0; loops < above; ++item) {
      loops += std::holds_alternative<TreeKeep>(items[item]) ? 0 : 1;
    }
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(item),
                 TreeKeep{static_cast<LevelId>(level), {use}});
  }

  // Keeps along the path from the root to the leaf, of an intermediate from where its producer and
  // its readers part, at levels that go inwards.
  void write_keeps(const ChainTensor& use) {
    std::vector<std::size_t> path;
    for (std::size_t n = leaf_of(use.einsum); n != kNoNode; n = tree_.nodes[n].parent) {
      path.insert(path.begin(), n);
    }
    std::size_t level = 1;
    if (const auto i = chain_.intermediate_of(use)) {
      level += scope_levels_[*i];
      const Intermediate& t = chain_.intermediates[*i];
      path.erase(path.begin(), std::find_if(path.begin(), path.end(),
                                            [&](std::size_t n) { return !is_shared(t, n); }));
    }
    std::size_t from = 0;
    std::size_t at = 0;
    while (level < arch_.levels.size()) {
      if (!one_in(rng_, 3)) {
        const std::size_t step = from + rng_.below(path.size() - from);
        auto& items = tree_.nodes[path[step]].items;
        const std::size_t least = step == from ? at : 0;
        const std::size_t place = least + rng_.below(items.size() - least + 1);
        items.insert(items.begin() + static_cast<std::ptrdiff_t>(place),
                     TreeKeep{static_cast<LevelId>(level), {use}});
        from = step;
        at = place + 1;
      }
      level += 1 + rng_.below(2);
    }
  }
  bool is_shared(const Intermediate& t, std::size_t n) const {
    return TreeShape::is_within(tree_, leaf_of(t.producer), n) &&
           std::all_of(t.readers.begin(), t.readers.end(), [&](const ChainTensor& use) {
             return TreeShape::is_within(tree_, leaf_of(use.einsum), n);
           });
  }
  std::size_t leaf_of(std::size_t e) const {
    std::size_t n = 0;
    while (tree_.nodes[n].einsum != e || !tree_.nodes[n].children.empty()) {
      ++n;
    }
    return n;
  }

  Rng& rng_;
  const Arch& arch_;
  const EinsumChain& chain_;
  MappingTree tree_;
  std::vector<std::size_t> scope_levels_;
};

bool is_small(const EinsumChain& chain) {
  return std::all_of(chain.einsums.begin(), chain.einsums.end(),
                     [](const Workload& workload) { return workload.macs() <= kMostMacs; });
}

}  // namespace

RandomTree random_tree(std::uint64_t seed) {
  Rng rng{seed};
  RandomTree random{random_machine(rng), {}, {}, 0};
  do {
    if (random.tries % 8 == 0) {
      do {
        random.chain = ChainWriter{rng}.write();
      } while (!is_small(random.chain));
    }
    random.tree = TreeWriter{rng, random.arch, random.chain}.write();
    ++random.tries;
  } while (!check_tree(random.arch, random.chain, random.tree).empty());
  return random;
}

TreeTraits traits_of(const RandomTree& random) {
  const auto& [arch, chain, tree, tries] = random;
  const TreeShape shape = shape_of(arch, chain, tree);
  const TreeCounts counts = count_tree(arch, chain, tree);
  TreeTraits traits;
  for (const TreeNode& node : tree.nodes) {
    traits.nested = traits.nested || (node.parent != kNoNode && !node.children.empty());
    traits.parallel =
        traits.parallel || std::any_of(node.items.begin(), node.items.end(), [](const auto& item) {
          return std::holds_alternative<Parallel>(item);
        });
  }
  for (const TensorScope& scope : shape.scopes) {
    const Intermediate& t = chain.intermediates[scope.intermediate];
    const Workload& producer = chain.einsums[t.producer];
    const std::int64_t points = footprint(producer.tensors[producer.output()], bounds_of(producer));
    const IntermediateCounts& at = counts.intermediates[scope.intermediate];
    traits.recomputed = traits.recomputed || at.made > points;
    traits.retained = traits.retained || (at.held.carried > 0 && at.held.live < points);
    traits.whole = traits.whole || (at.held.live == points && scope.level != LevelId{0});
    traits.spilled = traits.spilled || scope.level == LevelId{0};
    traits.shared = traits.shared || !shape.nodes[scope.home].loops.empty();
    traits.graph = traits.graph || t.readers.size() > 1;
  }
  return traits;
}

}  // namespace mapsim
