// SPDX-License-Identifier: Apache-2.0
#include "costmodel/fusion/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>

namespace mapsim {

namespace {

class ShapeBuilder {
 public:
  ShapeBuilder(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
               std::vector<TreeProblem>& problems)
      : arch_{arch}, chain_{chain}, tree_{tree}, problems_{problems} {}

  TreeShape build() {
    shape_.nodes.resize(tree_.nodes.size());
    if (!find_leaves()) {
      return std::move(shape_);
    }
    find_homes();
    shape_.nodes[0].nominal = bounds_of(chain_.einsums[tree_.nodes[0].einsum]);
    for (std::size_t n = 0; n < tree_.nodes.size(); ++n) {
      find_loops(n);
      find_nominal_children(n);
    }
    if (!problems_.empty()) {
      return std::move(shape_);
    }
    find_lines();
    find_keeps();
    for (const TensorScope& scope : shape_.scopes) {
      check_scope(scope);
    }
    check_residences(arch_, chain_, tree_, shape_, problems_);
    return std::move(shape_);
  }

 private:
  void report(std::size_t node, std::size_t item, std::string what) {
    problems_.push_back({node, item, std::move(what)});
  }
  void report(std::size_t node, std::string what) {
    report(node, tree_.nodes[node].items.size(), std::move(what));
  }
  const TreeNode& node(std::size_t n) const { return tree_.nodes[n]; }
  const Workload& einsum(std::size_t e) const { return chain_.einsums[e]; }
  const std::string& name(std::size_t e) const { return chain_.einsums[e].name; }
  const std::string& name(const ChainTensor& use) const {
    return chain_.names[use.einsum][use.tensor];
  }
  const Tensor& tensor(const ChainTensor& use) const {
    return chain_.einsums[use.einsum].tensors[use.tensor];
  }
  bool within(std::size_t n, std::size_t ancestor) const {
    return TreeShape::is_within(tree_, n, ancestor);
  }

  // Every einsum once, in an order in which intermediates are made before they are read.
  bool find_leaves() {
    shape_.leaf_of.assign(chain_.einsums.size(), kNoNode);
    std::vector<std::size_t> order;
    collect_leaves(0, order);
    std::vector<bool> made(chain_.intermediates.size(), false);
    for (const std::size_t n : order) {
      const std::size_t e = node(n).einsum;
      if (shape_.leaf_of[e] != kNoNode) {
        report(n, fmt::format("{} has two branches", name(e)));
        continue;
      }
      shape_.leaf_of[e] = n;
      for (const TensorId t : einsum(e).tensors.ids()) {
        const auto i = chain_.intermediate_of({e, t});
        if (i && t == einsum(e).output()) {
          made[*i] = true;
        } else if (i && !made[*i]) {
          const Intermediate& read = chain_.intermediates[*i];
          report(n, fmt::format("{} reads {} before {} makes it", name(e), read.name,
                                name(read.producer)));
        }
      }
    }
    for (std::size_t e = 0; e < shape_.leaf_of.size(); ++e) {
      if (shape_.leaf_of[e] == kNoNode) {
        report(0, fmt::format("{} has no branch", name(e)));
      }
    }
    return problems_.empty();
  }
  void collect_leaves(std::size_t n, std::vector<std::size_t>& order) const {
    if (node(n).children.empty()) {
      order.push_back(n);
    }
    for (const std::size_t child : node(n).children) {
      collect_leaves(child, order);
    }
  }

  // The node below which producer and readers of an intermediate part, and whose child makes it.
  void find_homes() {
    for (std::size_t i = 0; i < chain_.intermediates.size(); ++i) {
      const Intermediate& t = chain_.intermediates[i];
      std::size_t child = shape_.leaf_of[t.producer];
      std::size_t home = node(child).parent;
      const auto holds_readers = [&] {
        return std::all_of(t.readers.begin(), t.readers.end(), [&](const ChainTensor& use) {
          return within(shape_.leaf_of[use.einsum], home);
        });
      };
      while (!holds_readers()) {
        child = home;
        home = node(home).parent;
      }
      shape_.scopes.push_back({i, LevelId{0}, 0, 0, home});
      if (node(child).einsum != t.producer) {
        report(child, fmt::format("{} is read outside the group in which {} makes it: {} must be "
                                  "the last einsum of that group, or have a branch of its own "
                                  "beside it",
                                  t.name, name(t.producer), name(t.producer)));
      } else {
        shape_.nodes[child].producer_of = i;
      }
    }
  }

  // What a loop cuts, in turns or over instances.
  static std::optional<Temporal> loop_of(const TreeItem& item) {
    if (const auto* parallel = std::get_if<Parallel>(&item)) {
      return Temporal{parallel->dim, parallel->extent};
    }
    const auto* loop = std::get_if<Temporal>(&item);
    return loop != nullptr ? std::optional{*loop} : std::nullopt;
  }

  void find_loops(std::size_t n) {
    ShapeNode& at = shape_.nodes[n];
    const Workload& workload = einsum(node(n).einsum);
    PerDim<std::int64_t> extents = at.nominal;
    bool joins = false;
    for (std::size_t i = 0; i < node(n).items.size(); ++i) {
      const std::optional<Temporal> loop = loop_of(node(n).items[i]);
      if (!loop) {
        joins = false;
        continue;
      }
      const std::int64_t above = extents[loop->dim];
      if (loop->extent < 1 || loop->extent > above) {
        report(n, i,
               fmt::format("{} has extent {}, {}", workload.dims[loop->dim].name, loop->extent,
                           loop->extent < 1 ? "which is less than 1"
                                            : fmt::format("more than the {} above it", above)));
        continue;
      }
      extents[loop->dim] = loop->extent;
      if (std::holds_alternative<Parallel>(node(n).items[i])) {
        joins = false;
      } else if (joins && at.loops.back().dim == loop->dim) {
        at.loops.back().extent = loop->extent;
      } else if (loop->extent != above) {
        at.loops.push_back({loop->dim, loop->extent, i, 0, {}, {}});
        joins = true;
      }
    }
    for (const DimId d : workload.dims.ids()) {
      if (node(n).children.empty() && extents[d] != 1) {
        report(n, fmt::format("{} of {} ends at extent {}, not 1", workload.dims[d].name,
                              workload.name, extents[d]));
      }
    }
  }

  // Do loops stand in the node or above it?
  bool has_loops(std::size_t n) const {
    for (; n != kNoNode; n = node(n).parent) {
      if (!shape_.nodes[n].loops.empty()) {
        return true;
      }
    }
    return false;
  }

  // What the children are entered with at most, inferred backwards from the node's sink.
  void find_nominal_children(std::size_t n) {
    if (node(n).children.empty()) {
      return;
    }
    std::vector<PerDim<std::int64_t>> extents(chain_.einsums.size());
    extents[node(n).einsum] = shape_.nodes[n].nominal;
    for (const ShapeLoop& loop : shape_.nodes[n].loops) {
      extents[node(n).einsum][loop.dim] = loop.extent;
    }
    infer(n, extents, true);
  }
  void infer(std::size_t n, std::vector<PerDim<std::int64_t>>& extents, bool here) {
    const auto& children = node(n).children;
    for (std::size_t c = children.size(); c-- > 0;) {
      const std::size_t sink = node(children[c]).einsum;
      const std::size_t i = shape_.nodes[children[c]].producer_of;
      if (c + 1 < children.size()) {
        extents[sink] = bounds_of(einsum(sink));
        if (i != kNoNode && shape_.scopes[i].home == n) {
          need(chain_.intermediates[i], extents);
        } else if (here && has_loops(n)) {
          report(children[c],
                 fmt::format("{} makes nothing that its group reads, so the group's loops do not "
                             "say what it makes; give it a branch outside of the loops",
                             name(sink)));
        }
      }
      shape_.nodes[children[c]].nominal = extents[sink];
      infer(children[c], extents, false);
    }
  }
  void need(const Intermediate& t, std::vector<PerDim<std::int64_t>>& extents) const {
    const Workload& producer = einsum(t.producer);
    const Tensor& out = producer.tensors[producer.output()];
    for (std::size_t r = 0; r < out.ranks.size(); ++r) {
      const DimId dim = out.ranks[r].terms.front().dim;
      std::int64_t most = 0;
      for (const ChainTensor& use : t.readers) {
        const Workload& reader = einsum(use.einsum);
        const Rank& rank = tensor(use).ranks[r];
        std::int64_t points = 1;
        std::int64_t whole = 1;
        const auto [stride, window] = window_of(reader, rank);
        for (const Term& term : rank.terms) {
          points += term.coefficient * (extents[use.einsum][term.dim] - 1);
          whole += term.coefficient * (reader.dims[term.dim].bound - 1);
        }
        // A tile before the last one has the gap behind its window; the last one what is left over.
        points += std::max({std::int64_t{0}, stride - window, producer.dims[dim].bound - whole});
        most = std::max(most, points);
      }
      extents[t.producer][dim] = std::min(most, producer.dims[dim].bound);
    }
  }

  // Dims that move together: in one rank of a tensor, or through an intermediate below loops.
  void find_lines() {
    std::vector<std::size_t> parent(chain_.einsums.size() * kMaxDims);
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto key = [](std::size_t e, DimId d) { return e * kMaxDims + index_of(d); };
    const auto root = [&](std::size_t k) {
      while (parent[k] != k) {
        k = parent[k];
      }
      return k;
    };
    for (std::size_t e = 0; e < chain_.einsums.size(); ++e) {
      for (const Tensor& tensor : einsum(e).tensors) {
        for (const Rank& rank : tensor.ranks) {
          for (const Term& term : rank.terms) {
            parent[root(key(e, term.dim))] = root(key(e, rank.terms.front().dim));
          }
        }
      }
    }
    for (const TensorScope& scope : shape_.scopes) {
      const Intermediate& t = chain_.intermediates[scope.intermediate];
      const Workload& producer = einsum(t.producer);
      const auto& ranks = producer.tensors[producer.output()].ranks;
      for (const ChainTensor& use : t.readers) {
        for (std::size_t r = 0; r < ranks.size() && has_loops(scope.home); ++r) {
          for (const Term& term : tensor(use).ranks[r].terms) {
            parent[root(key(use.einsum, term.dim))] =
                root(key(t.producer, ranks[r].terms.front().dim));
          }
        }
      }
    }
    std::vector<std::size_t> number(parent.size(), kNoNode);
    for (std::size_t e = 0; e < chain_.einsums.size(); ++e) {
      shape_.lines.emplace_back(einsum(e).dims.size());
      for (const DimId d : einsum(e).dims.ids()) {
        std::size_t& line = number[root(key(e, d))];
        line = line == kNoNode ? shape_.line_count++ : line;
        shape_.lines[e][d] = line;
      }
    }
    for (std::size_t n = 0; n < tree_.nodes.size(); ++n) {
      for (ShapeLoop& loop : shape_.nodes[n].loops) {
        loop.line = shape_.lines[node(n).einsum][loop.dim];
        loop.drives.assign(chain_.einsums.size(), DimSet{});
        loop.drives[node(n).einsum].insert(loop.dim);
        loop.surely = loop.drives;
        if (!node(n).children.empty()) {
          drive(n, loop);
        }
      }
    }
  }

  // Backwards through the intermediates that are made in the node.
  void drive(std::size_t n, ShapeLoop& loop) {
    for (std::size_t e = chain_.einsums.size(); e-- > 0;) {
      drive_surely(n, loop, e);
      for (const TensorId t : einsum(e).tensors.ids()) {
        const auto i = chain_.intermediate_of({e, t});
        if (!i || t == einsum(e).output() || !within(shape_.scopes[*i].home, n)) {
          continue;
        }
        const std::size_t producer = chain_.intermediates[*i].producer;
        const auto& made = einsum(producer).tensors[einsum(producer).output()].ranks;
        const auto& ranks = einsum(e).tensors[t].ranks;
        for (std::size_t r = 0; r < ranks.size(); ++r) {
          drive_rank(n, loop, e, ranks[r], {producer, made[r].terms.front().dim});
        }
      }
    }
  }
  // What all readers move on with each tile, the producer does.
  void drive_surely(std::size_t n, ShapeLoop& loop, std::size_t e) const {
    const auto i = chain_.intermediate_of({e, einsum(e).output()});
    if (!i || !within(shape_.scopes[*i].home, n)) {
      return;
    }
    const auto& ranks = einsum(e).tensors[einsum(e).output()].ranks;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (!standing_reader(loop, chain_.intermediates[*i], r)) {
        loop.surely[e].insert(ranks[r].terms.front().dim);
      }
    }
  }
  struct ProducerDim {
    std::size_t einsum = 0;
    DimId dim{};
  };
  void drive_rank(std::size_t n, ShapeLoop& loop, std::size_t e, const Rank& rank,
                  ProducerDim producer) {
    for (const Term& term : rank.terms) {
      if (!loop.drives[e].contains(term.dim)) {
        continue;
      }
      if (primary_dim(einsum(e), rank) != term.dim) {
        report(n, loop.item,
               fmt::format("{} of {} is not the dim over which its windows move, so that it cannot "
                           "be shared with {}; cut it in the branch",
                           einsum(e).dims[term.dim].name, name(e), name(producer.einsum)));
      }
      loop.drives[producer.einsum].insert(producer.dim);
    }
  }

  void find_keeps() {
    std::vector<bool> scoped(chain_.intermediates.size(), false);
    for (std::size_t n = 0; n < tree_.nodes.size(); ++n) {
      std::size_t position = 0;
      for (std::size_t i = 0; i < node(n).items.size(); ++i) {
        while (position < shape_.nodes[n].loops.size() &&
               shape_.nodes[n].loops[position].item < i) {
          ++position;
        }
        if (const auto* keep = std::get_if<TreeKeep>(&node(n).items[i])) {
          for (const ChainTensor& use : keep->tensors) {
            find_keep(n, i, position, keep->level, use, scoped);
          }
        }
      }
    }
  }

  void find_keep(std::size_t n, std::size_t item, std::size_t position, LevelId level,
                 const ChainTensor& use, std::vector<bool>& scoped) {
    const auto i = chain_.intermediate_of(use);
    if (i && use.tensor == einsum(use.einsum).output() && within(shape_.scopes[*i].home, n)) {
      if (scoped[*i]) {
        report(n, item,
               fmt::format("{} has a scope already: between einsums it is kept once", name(use)));
      }
      scoped[*i] = true;
      shape_.scopes[*i].level = level;
      shape_.scopes[*i].node = n;
      shape_.scopes[*i].position = position;
      return;
    }
    if (i && use.tensor != einsum(use.einsum).output() && within(shape_.scopes[*i].home, n)) {
      report(n, item,
             fmt::format("{} is made in this group: its keep here is the scope of {}", name(use),
                         chain_.intermediates[*i].name));
      return;
    }
    if (level == LevelId{0} && (position > 0 || has_loops(node(n).parent))) {
      report(n, item,
             fmt::format("{} is kept at {} from the start", name(use), arch_.levels[level].name));
    }
    if (level == LevelId{0} || !within(shape_.leaf_of[use.einsum], n)) {
      return;  // it is there anyway
    }
    std::size_t moving = kNoLoop;
    for (std::size_t k = 0; k < position; ++k) {
      if (TreeShape::moves(chain_, shape_.nodes[n].loops[k], use)) {
        moving = k;
      }
    }
    shape_.keeps.push_back({use, level, n, position, moving});
  }

  // Rule F2: each loop between the scope and the sequence moves one rank of the intermediate, and
  // those of one line the same one.
  void check_scope(const TensorScope& scope) {
    const Intermediate& t = chain_.intermediates[scope.intermediate];
    const Workload& producer = einsum(t.producer);
    const auto& ranks = producer.tensors[producer.output()].ranks;
    std::vector<std::size_t> rank_of_line(shape_.line_count, kNoNode);
    for (std::size_t n = scope.home; n != node(scope.node).parent; n = node(n).parent) {
      const auto& loops = shape_.nodes[n].loops;
      for (std::size_t k = n == scope.node ? scope.position : 0; k < loops.size(); ++k) {
        std::vector<std::size_t> moved;
        for (std::size_t r = 0; r < ranks.size(); ++r) {
          if (loops[k].drives[t.producer].contains(ranks[r].terms.front().dim)) {
            moved.push_back(r);
          }
        }
        std::size_t& rank = rank_of_line[loops[k].line];
        if (moved.empty()) {
          report_in_scope(n, loops[k], t,
                          "does not move it: keep {0} inside the loop (it is made anew for each "
                          "tile), or put the loop into a sequence of its own");
        } else if (moved.size() > 1 || (rank != kNoNode && rank != moved.front())) {
          report_in_scope(n, loops[k], t,
                          "moves two of its ranks together, which is not supported: keep {0} "
                          "inside the loop");
        } else if (const auto reader = standing_reader(loops[k], t, moved.front())) {
          report_in_scope(n, loops[k], t,
                          fmt::format("does not move what {} reads of it: keep {{0}} inside the "
                                      "loop, or put the loop into a sequence without {}",
                                      name(*reader), name(*reader)));
        } else {
          rank = moved.front();
        }
      }
    }
  }
  // An einsum that reads the same points of the rank in all tiles of the loop, if there is one: the
  // first tile would then need what it does, and later ones would make nothing.
  std::optional<std::size_t> standing_reader(const ShapeLoop& loop, const Intermediate& t,
                                             std::size_t rank) const {
    for (const ChainTensor& use : t.readers) {
      const auto primary = primary_dim(einsum(use.einsum), tensor(use).ranks[rank]);
      if (!primary || !loop.surely[use.einsum].contains(*primary)) {
        return use.einsum;
      }
    }
    return std::nullopt;
  }
  void report_in_scope(std::size_t n, const ShapeLoop& loop, const Intermediate& t,
                       const std::string& what) {
    report(n, loop.item,
           fmt::format("the loop over {} lies within the scope of {} and ",
                       einsum(node(n).einsum).dims[loop.dim].name, t.name) +
               fmt::format(fmt::runtime(what), t.name));
  }

  const Arch& arch_;
  const EinsumChain& chain_;
  const MappingTree& tree_;
  std::vector<TreeProblem>& problems_;
  TreeShape shape_;
};

}  // namespace

bool TreeShape::is_within(const MappingTree& tree, std::size_t node, std::size_t ancestor) {
  while (node != kNoNode && node != ancestor) {
    node = tree.nodes[node].parent;
  }
  return node == ancestor;
}

bool TreeShape::moves(const EinsumChain& chain, const ShapeLoop& loop, const ChainTensor& use) {
  return !(loop.drives[use.einsum] & chain.einsums[use.einsum].tensors[use.tensor].dims()).empty();
}

TreeShape shape_of(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                   std::vector<TreeProblem>& problems) {
  return ShapeBuilder{arch, chain, tree, problems}.build();
}

TreeShape shape_of(const Arch& arch, const EinsumChain& chain, const MappingTree& tree) {
  std::vector<TreeProblem> problems;
  TreeShape shape = shape_of(arch, chain, tree, problems);
  assert(problems.empty());
  return shape;
}

std::vector<TreeProblem> check_tree(const Arch& arch, const EinsumChain& chain,
                                    const MappingTree& tree) {
  std::vector<TreeProblem> problems;
  shape_of(arch, chain, tree, problems);
  return problems;
}

}  // namespace mapsim
