// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "workloads/einsum.hpp"
#include "workloads/graph_shapes.hpp"

namespace mapsim {

namespace {

std::string plain(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

Extents without_ones(const Extents& shape) {
  Extents rest;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(rest),
               [](std::int64_t extent) { return extent != 1; });
  return rest;
}

// What a stride may leave over at the end.
std::int64_t stride_of(const Rank& rank) {
  std::int64_t stride = 1;
  for (const Term& term : rank.terms) {
    stride = std::max(stride, term.coefficient);
  }
  return stride;
}

bool is_one_dim(const Rank& rank) {
  return rank.terms.size() == 1 && rank.terms[0].coefficient == 1;
}

// Z[d0][d1] += A[d0][d1] * B[d0], where an operand has the first `ranks` axes.
Workload rowwise(const std::string& name, const Extents& shape, std::size_t out_ranks,
                 const std::vector<std::size_t>& ranks, Bits bits) {
  std::vector<Dim> dims;
  std::string all;
  std::vector<std::string> first{""};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    dims.push_back({fmt::format("d{}", i), shape[i]});
    first.push_back(first.back() + fmt::format("[d{}]", i));
  }
  std::string equation = "Z" + first[out_ranks] + " +=";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    equation +=
        fmt::format(" {}{}{}", i == 0 ? "" : "* ", static_cast<char>('A' + i), first[ranks[i]]);
  }
  Precision widths;
  widths.roles = {{Role::kInput, bits}, {Role::kWeight, bits}, {Role::kOutput, bits}};
  widths.partial = std::max(bits, Bits{32});
  return einsum(name, equation, dims, widths);
}

class Cutter {
 public:
  Cutter(const NetworkGraph& graph, const std::vector<std::size_t>& nodes)
      : graph_{graph}, links_{links_of(graph)}, nodes_{nodes.begin(), nodes.end()} {}

  std::variant<GraphCut, std::vector<CutProblem>> cut() {
    check_convex();
    for (const std::size_t n : nodes_) {
      if (problems_.empty()) {
        add(graph_.nodes[n]);
      }
    }
    if (problems_.empty()) {
      check_outside();
      make_padding();
      check_ends();
    }
    if (problems_.empty()) {
      check_connected();
    }
    if (!problems_.empty()) {
      return std::move(problems_);
    }
    finish();
    return std::move(cut_);
  }

 private:
  // Where a tensor of the graph is made in the chain.
  struct Made {
    std::size_t einsum = 0;
    Extents shape;  // as the graph has it where the einsum makes it
  };

  void fail(const std::string& node, const std::string& what) { problems_.push_back({node, what}); }

  // No path may leave the cut and come back.
  void check_convex() {
    std::set<std::size_t> beyond;  // tensors made outside of what the cut makes
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const bool inside = nodes_.contains(n);
      for (const GraphUse& use : graph_.nodes[n].in) {
        const auto producer = links_.producer[use.tensor];
        const bool after =
            beyond.contains(use.tensor) || (!inside && producer && nodes_.contains(*producer));
        if (inside && beyond.contains(use.tensor)) {
          fail(graph_.nodes[n].name,
               fmt::format("reads {}, which depends on the chain but is made outside it",
                           graph_.tensors[use.tensor].name));
        } else if (!inside && after) {
          beyond.insert(graph_.nodes[n].out.begin(), graph_.nodes[n].out.end());
        }
      }
    }
  }

  bool is_read_outside(std::size_t tensor) const {
    const auto& readers = links_.readers[tensor];
    return std::find(graph_.outputs.begin(), graph_.outputs.end(), tensor) !=
               graph_.outputs.end() ||
           std::any_of(readers.begin(), readers.end(),
                       [this](std::size_t n) { return !nodes_.contains(n); });
  }

  void add(const GraphNode& node) {
    switch (node.kind) {
      case OpKind::kEinsum:
        return add_layer(node);
      case OpKind::kPointwise:
        return add_pointwise(node);
      case OpKind::kSoftmax:
        return add_softmax(node);
      case OpKind::kAlias:
        return add_alias(node);
      case OpKind::kNorm:
      case OpKind::kPool:
      case OpKind::kConcat:
      case OpKind::kSplit:
      case OpKind::kTranspose:
      case OpKind::kMove:
      case OpKind::kOther:
        return fail(node.name,
                    fmt::format("{} ({}) is no einsum of a chain", node.op, to_string(node.kind)));
    }
  }

  // ---- einsums ----

  // The name of a tensor that is made outside.
  std::string outer_name(std::size_t tensor) const { return plain(graph_.tensors[tensor].name); }

  // An einsum with the tensors of the graph that its operands are; nullopt: weights.
  std::size_t push(Workload workload, const std::string& name,
                   const std::vector<std::optional<std::size_t>>& operands) {
    EinsumChain& chain = cut_.chain;
    std::string unique = plain(name);
    while (chain.find_einsum(unique) || unique == "sequence" || unique == "group") {
      unique += '_';
    }
    workload.name = unique;
    workload.note.clear();
    PerTensor<std::string> names;
    for (const Tensor& tensor : workload.tensors) {
      names.push_back(fmt::format("{}.{}", unique, tensor.name));
    }
    const std::size_t e = chain.einsums.size();
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto t = static_cast<TensorId>(i);
      if (!operands[i]) {
        continue;
      }
      if (const auto made = made_.find(*operands[i]); made != made_.end()) {
        workload.tensors[t].stored_elements.reset();
        reads_.push_back({{e, t}, made->second.einsum});
      } else {
        names[t] = outer_name(*operands[i]);
      }
    }
    chain.einsums.push_back(std::move(workload));
    chain.names.push_back(names);
    nodes_of_.push_back(name);
    return e;
  }

  void add_layer(const GraphNode& node) {
    if (node.layers.size() != 1 || node.layers[0].count != 1) {
      return fail(node.name, fmt::format("{} is several einsums that depend on each other: no "
                                         "einsum of a chain",
                                         node.op));
    }
    const Workload& workload = node.layers[0].workload;
    std::vector<std::optional<std::size_t>> operands(workload.tensors.size() - 1);
    for (const GraphUse& use : node.in) {
      if (!use.of) {
        return fail(node.name, fmt::format("reads {}, which is no operand of its einsum",
                                           graph_.tensors[use.tensor].name));
      }
      operands[index_of(*use.of)] = use.tensor;
    }
    const std::size_t e = push(workload, node.name, operands);
    made_[node.out[0]] = {e, *graph_.tensors[node.out[0]].shape};
  }

  void add_pointwise(const GraphNode& node) {
    std::vector<std::size_t> inside;
    std::vector<std::optional<std::size_t>> operands;
    for (const GraphUse& use : node.in) {
      if (made_.contains(use.tensor)) {
        inside.push_back(use.tensor);
      }
      operands.emplace_back(use.tensor);
    }
    const GraphTensor& out = graph_.tensors[node.out[0]];
    if (inside.size() == 1 && *graph_.tensors[inside[0]].shape == *out.shape &&
        links_.readers[inside[0]].size() == 1 && !is_read_outside(inside[0])) {
      return ride(node, inside[0]);
    }
    for (const GraphUse& use : node.in) {
      if (*graph_.tensors[use.tensor].shape != *out.shape) {
        return fail(node.name, fmt::format("its operands have different shapes ({}, {}): a chain "
                                           "repeats none",
                                           shape_text(*graph_.tensors[use.tensor].shape),
                                           shape_text(*out.shape)));
      }
    }
    if (operands.size() >= kMaxTensors) {
      return fail(node.name,
                  fmt::format("{} operands are too many for an einsum", operands.size()));
    }
    const std::vector<std::size_t> ranks(operands.size(), out.shape->size());
    const std::size_t e =
        push(rowwise("", *out.shape, out.shape->size(), ranks, out.bits), node.name, operands);
    made_[node.out[0]] = {e, *out.shape};
    cut_.notes.push_back(fmt::format("{} ({}) is an einsum of one operation per element",
                                     cut_.chain.einsums[e].name, node.op));
  }

  void ride(const GraphNode& node, std::size_t operand) {
    const Made made = made_[operand];
    made_[node.out[0]] = made;
    Workload& producer = cut_.chain.einsums[made.einsum];
    Tensor& output = producer.tensors[producer.output()];
    output.bits = graph_.tensors[node.out[0]].bits;
    output.partial_bits = std::max(output.bits, output.partial_bits);
    cut_.rides.emplace_back(producer.name, node.name);
    for (const GraphUse& use : node.in) {
      if (use.tensor != operand) {
        cut_.notes.push_back(
            fmt::format("{} rides on {}: reading its other operand {} ({} elements) is not counted",
                        node.name, producer.name, graph_.tensors[use.tensor].name,
                        count_elements(*graph_.tensors[use.tensor].shape)));
      }
    }
  }

  // Exact: a row's maximum, its exponentials, their sum, and the quotients (no running maximum).
  void add_softmax(const GraphNode& node) {
    const std::size_t in = node.in[0].tensor;
    const GraphTensor& out = graph_.tensors[node.out[0]];
    const Extents& shape = *out.shape;
    const auto last = static_cast<std::int64_t>(shape.size()) - 1;
    if (!node.axes.empty() && node.axes[0] != -1 && node.axes[0] != last) {
      return fail(node.name, "its axis is not the last one");
    }
    const std::size_t all = shape.size();
    const auto einsum_of = [&](const char* part, std::size_t out_ranks,
                               const std::vector<std::size_t>& ranks) {
      return rowwise(node.name + part, shape, out_ranks, ranks, out.bits);
    };
    // Tensors inside of it have no number in the graph: these stand for them.
    const std::size_t maximum = next_inner_--, exponentials = next_inner_--, sum = next_inner_--;
    const Extents rows(shape.begin(), shape.end() - 1);
    made_[maximum] = {push(einsum_of("_max", all - 1, {all}), node.name + "_max", {in}), rows};
    made_[exponentials] = {
        push(einsum_of("_exp", all, {all, all - 1}), node.name + "_exp", {in, maximum}), shape};
    made_[sum] = {push(einsum_of("_sum", all - 1, {all}), node.name + "_sum", {exponentials}),
                  rows};
    made_[node.out[0]] = {push(einsum_of("", all, {all, all - 1}), node.name, {exponentials, sum}),
                          shape};
    cut_.notes.push_back(
        fmt::format("{} becomes four einsums (maximum, exponentials, sum, quotients), each with "
                    "one operation per element, and is exact",
                    node.name));
  }

  void add_alias(const GraphNode& node) {
    const std::size_t in = node.in[0].tensor;
    const auto made = made_.find(in);
    if (made == made_.end()) {
      return;  // of what comes from outside: its readers read that
    }
    const Extents& shape = *graph_.tensors[node.out[0]].shape;
    const bool same = node.op != "Transpose" && node.op != "Concat" && node.op != "Slice" &&
                      node.op != "Split" && without_ones(shape) == without_ones(made->second.shape);
    if (!same) {
      return fail(node.name,
                  fmt::format("{} of {} to {} splits, joins or turns axes: an intermediate of a "
                              "chain has the ranks of its producer",
                              node.op, shape_text(made->second.shape), shape_text(shape)));
    }
    made_[node.out[0]] = made->second;
  }

  // ---- the whole ----

  // What is read inside and outside would have to be written as well.
  void check_outside() {
    std::map<std::size_t, bool> read;  // by einsum: is its output read inside
    for (const auto& [use, producer] : reads_) {
      read[producer] = true;
    }
    for (const std::size_t n : nodes_) {
      for (const std::size_t tensor : graph_.nodes[n].out) {
        const auto made = made_.find(tensor);
        if (made != made_.end() && read.contains(made->second.einsum) && is_read_outside(tensor)) {
          fail(graph_.nodes[n].name,
               fmt::format("{} is read inside and outside of what is cut: a chain writes no "
                           "intermediate",
                           graph_.tensors[tensor].name));
        }
      }
    }
  }

  // Makes every producer as large as its readers read, padding included, from the last one back.
  void make_padding() {
    const auto macs = [this] {
      return std::accumulate(
          cut_.chain.einsums.begin(), cut_.chain.einsums.end(), std::int64_t{0},
          [](std::int64_t sum, const Workload& einsum) { return sum + einsum.macs(); });
    };
    const std::int64_t before = macs();
    for (auto read = reads_.rbegin(); read != reads_.rend(); ++read) {
      const auto& [use, producer] = *read;
      const Workload& reader = cut_.chain.einsums[use.einsum];
      Workload& made = cut_.chain.einsums[producer];
      const Tensor& out = made.tensors[made.output()];
      const Tensor& in = reader.tensors[use.tensor];
      for (std::size_t r = 0; r < std::min(out.ranks.size(), in.ranks.size()); ++r) {
        if (in.ranks[r].terms.size() == 1 || !is_one_dim(out.ranks[r])) {
          continue;
        }
        std::int64_t& bound = made.dims[out.ranks[r].terms[0].dim].bound;
        bound = std::max(bound, points_along(reader, in.ranks[r]));
      }
    }
    if (const std::int64_t more = macs() - before; more > 0) {
      cut_.notes.push_back(
          fmt::format("padding between einsums is made: {} more MACs ({:.1f} %)", more,
                      100. * static_cast<double>(more) / static_cast<double>(before)));
    }
  }

  // Both ends of every intermediate agree, as load_chain() demands.
  void check_ends() {
    for (const auto& [use, producer] : reads_) {
      const Workload& reader = cut_.chain.einsums[use.einsum];
      const Workload& made = cut_.chain.einsums[producer];
      const Tensor& out = made.tensors[made.output()];
      const Tensor& in = reader.tensors[use.tensor];
      const std::string& node = nodes_of_[use.einsum];
      if (out.ranks.size() != in.ranks.size()) {
        fail(node, fmt::format("reads as {} ranks what {} makes as {}", in.ranks.size(), made.name,
                               out.ranks.size()));
        continue;
      }
      if (out.bits != in.bits) {
        fail(node, fmt::format("reads {} b, {} makes {} b", in.bits.count(), made.name,
                               out.bits.count()));
      }
      for (std::size_t r = 0; r < out.ranks.size(); ++r) {
        if (!is_one_dim(out.ranks[r])) {
          fail(node,
               fmt::format("reads what {} makes: its rank {} is not one dim", made.name, r + 1));
          continue;
        }
        const std::int64_t size = made.dims[out.ranks[r].terms[0].dim].bound;
        const std::int64_t read = points_along(reader, in.ranks[r]);
        if (read > size || size - read >= stride_of(in.ranks[r])) {
          fail(node, fmt::format("reads {} of the {} points that {} makes in rank {}: a chain has "
                                 "no tensor that is read with and without padding, or in part",
                                 read, size, made.name, r + 1));
        }
      }
    }
    if (cut_.chain.einsums.size() > kMaxEinsums) {
      fail(nodes_of_[kMaxEinsums],
           fmt::format("{} einsums; at most {}", cut_.chain.einsums.size(), kMaxEinsums));
    }
    if (cut_.chain.einsums.empty()) {
      fail("", "nothing of what is cut is an einsum");
    }
  }

  void check_connected() {
    std::vector<std::size_t> part(cut_.chain.einsums.size());
    std::iota(part.begin(), part.end(), std::size_t{0});
    for (const auto& [use, producer] : reads_) {
      const std::size_t from = part[use.einsum], to = part[producer];
      std::replace(part.begin(), part.end(), from, to);
    }
    for (std::size_t e = 1; e < part.size(); ++e) {
      if (part[e] != part[0]) {
        return fail(nodes_of_[e],
                    fmt::format("nothing that is cut connects it with {}", nodes_of_[0]));
      }
    }
  }

  // Names what is passed on, by the tensors of the graph where they have one.
  void finish() {
    EinsumChain& chain = cut_.chain;
    std::map<std::size_t, std::string> names;  // of outputs, by einsum; the last alias or ride wins
    for (const auto& [tensor, made] : made_) {
      if (tensor < graph_.tensors.size()) {
        names[made.einsum] = plain(graph_.tensors[tensor].name);
      }
    }
    std::sort(reads_.begin(), reads_.end(), [](const auto& a, const auto& b) {
      return std::tuple{a.second, a.first.einsum, a.first.tensor} <
             std::tuple{b.second, b.first.einsum, b.first.tensor};
    });
    for (const auto& [use, producer] : reads_) {
      const TensorId out = chain.einsums[producer].output();
      if (chain.intermediates.empty() || chain.intermediates.back().producer != producer) {
        const std::string name =
            names.contains(producer) ? names[producer] : chain.einsums[producer].name + "_out";
        chain.intermediates.push_back({name, producer, {}});
        chain.names[producer][out] = name;
      }
      chain.intermediates.back().readers.push_back(use);
      chain.names[use.einsum][use.tensor] = chain.intermediates.back().name;
    }
    chain.name = "cut";
  }

  const NetworkGraph& graph_;
  GraphLinks links_;
  std::set<std::size_t> nodes_;  // in the order of the graph
  GraphCut cut_;
  std::vector<CutProblem> problems_;
  std::map<std::size_t, Made> made_;                        // by tensor
  std::vector<std::pair<ChainTensor, std::size_t>> reads_;  // who reads what which einsum makes
  std::vector<std::string> nodes_of_;                       // by einsum
  std::size_t next_inner_ = static_cast<std::size_t>(-1);
};

}  // namespace

std::variant<GraphCut, std::vector<CutProblem>> cut_chain(const NetworkGraph& graph,
                                                          const std::vector<std::size_t>& nodes) {
  return Cutter{graph, nodes}.cut();
}

}  // namespace mapsim
