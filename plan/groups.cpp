// SPDX-License-Identifier: Apache-2.0
#include "plan/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace mapsim {

namespace {

// Of siblings of one shape every set is a group up to so many; of more, runs of neighbours.
constexpr std::size_t kMostSiblings = 4;

bool is_layer(const GraphNode& node) { return !node.layers.empty(); }

// One einsum, once, and nothing beside it.
bool is_one_einsum(const GraphNode& node) {
  return node.layers.size() == 1 && node.layers.front().count == 1 && node.unpriced.empty() &&
         node.out.size() == 1;
}

// Computes a row of its result from a row of its operand: it needs no more of it on chip.
bool is_by_row(const GraphNode& node) {
  return node.kind == OpKind::kPointwise || node.kind == OpKind::kSoftmax ||
         node.op == "LayerNormalization" || node.op == "RMSNormalization" || node.op == "LRN" ||
         node.op == "BatchNormalization";
}

bool may_head(const GraphNode& node) {
  return is_one_einsum(node) || (!is_layer(node) && node.unpriced.empty() && node.out.size() == 1 &&
                                 (is_by_row(node) || node.kind == OpKind::kPool));
}

class Collector {
 public:
  Collector(const Operations& operations, Fusion fusion, const GroupMemory& memory)
      : ops_{operations}, links_{links_of(*operations.graph)}, fusion_{fusion}, memory_{memory} {}

  Groups collect() {
    for (std::size_t i = 0; i < ops_.all.size(); ++i) {
      found_.all.push_back(single(i));
      if (fusion_ >= Fusion::kVertical) {
        add_chains(i);
        add_attention(i);
        add_time_steps(i);
      }
    }
    if (fusion_ >= Fusion::kHorizontal) {
      for (std::size_t tensor = 0; tensor < ops_.readers.size(); ++tensor) {
        add_siblings(ops_.producer[tensor] ? ops_.readers[tensor] : readers_of_input(tensor));
      }
    }
    if (fusion_ >= Fusion::kElision) {
      add_elisions();
    }
    return std::move(found_);
  }

 private:
  const GraphNode& node(std::size_t operation) const { return ops_.node(operation); }
  const std::string& name(std::size_t operation) const { return node(operation).name; }
  Bits size(std::size_t tensor) const {
    return size_of(ops_.graph->tensors[tensor]).value_or(Bits{0});
  }
  void refuse(std::size_t operation, std::string what) {
    found_.obstacles.push_back({operation, std::move(what)});
  }

  // Adds a group that a rule makes; false: memory does not suffice for it.
  bool add(Group group) {
    constexpr std::size_t kLayer = 2000;  // of its workload, by estimate
    bytes_ +=
        sizeof(Group) + group.reason.size() + memory_.beside +
        sizeof(std::size_t) * (group.operations.size() + group.reads.size() + group.writes.size()) +
        (sizeof(NodeLayer) + kLayer) * group.layers.size();
    found_.is_cut = found_.is_cut || bytes_ > memory_.most;
    if (!found_.is_cut) {
      found_.all.push_back(std::move(group));
    }
    return !found_.is_cut;
  }

  Group single(std::size_t i) const {
    const GraphNode& at = node(i);
    Group group;
    group.operations = {i};
    group.anchor = i;
    group.layers = at.layers;
    group.stream = {at.name, at.op, at.reads, at.writes, 1};
    group.unpriced = at.unpriced;
    group.reads = ops_.all[i].in;
    group.writes = ops_.all[i].out;
    if (!at.epilogue.empty()) {
      const std::string words = fmt::format("{}", fmt::join(at.epilogue, ", "));
      group.by = fusion_ == Fusion::kNone ? Fusion::kNone : Fusion::kVertical;
      group.reason = fmt::format("{}: applied to its output in registers", words);
      if (fusion_ == Fusion::kNone && !at.out.empty()) {
        group.reason.clear();
        group.epilogue = size(at.out.front());
      }
    }
    return group;
  }

  // Why an operation cannot join the chain that makes `tensor`; nullopt: `next` can.
  std::optional<std::string> no_link(std::size_t tensor, bool rows, std::size_t& next) const {
    const std::vector<std::size_t>& readers = ops_.readers[tensor];
    if (ops_.is_output[tensor]) {
      return fmt::format("{} is an output of the network", ops_.graph->tensors[tensor].name);
    }
    if (readers.size() != 1) {
      return fmt::format("{} operations read {}", readers.size(), ops_.graph->tensors[tensor].name);
    }
    next = readers.front();
    const GraphNode& at = node(next);
    if (at.kind != OpKind::kPointwise && !(rows && is_by_row(at))) {
      return fmt::format("{} ({}) is not computed {} by {}", at.name, at.op,
                         rows ? "row" : "element", rows ? "row" : "element");
    }
    if (!at.unpriced.empty() || at.out.size() != 1) {
      return fmt::format("{} ({}) has no price, or several results", at.name, at.op);
    }
    const auto& from = ops_.graph->tensors[tensor].shape;
    const auto& to = ops_.graph->tensors[at.out.front()].shape;
    if (!from || !to || count_elements(*from) != count_elements(*to)) {
      return fmt::format("{} changes the number of elements", at.name);
    }
    return std::nullopt;
  }

  void add_chains(std::size_t head) {
    const GraphNode& first = node(head);
    if (!may_head(first)) {
      return;
    }
    const bool einsum = is_layer(first);
    const bool rows = !einsum && is_by_row(first);
    Group group = single(head);
    group.by = Fusion::kVertical;
    for (std::size_t last = head;;) {
      const std::size_t tensor = node(last).out.front();
      std::size_t next = 0;
      if (ops_.all[last].out.empty()) {
        return;  // nobody reads it
      }
      if (const auto why = no_link(tensor, rows, next)) {
        refuse(last, fmt::format("no operator is fused to its output: {}", *why));
        return;
      }
      extend(group, tensor, next, einsum);
      group.reason = fmt::format(
          "{}, on the output of {}, which has no other reader",
          einsum ? "element by element, in registers" : "row by row, on chip", name(head));
      if (!add(group)) {
        return;
      }
      last = next;
    }
  }

  // Adds `next`, which reads `tensor` of the chain.
  void extend(Group& group, std::size_t tensor, std::size_t next, bool einsum) const {
    const GraphNode& at = node(next);
    group.operations.push_back(next);
    group.anchor = next;
    group.writes = ops_.all[next].out;
    for (const std::size_t read : ops_.all[next].in) {
      if (read != tensor &&
          std::find(group.reads.begin(), group.reads.end(), read) == group.reads.end()) {
        group.reads.push_back(read);
      }
    }
    const Bits inner = size(tensor);
    const Bits more = std::max(at.reads - inner, Bits{0});
    if (!einsum) {
      group.stream.in += more;
      group.stream.out = at.writes;
      group.stream.name = at.name;
      return;
    }
    Workload& workload = group.layers.front().workload;
    Tensor& output = workload.tensors[workload.output()];
    output.bits = std::max(ops_.graph->tensors[at.out.front()].bits, Bits{1});
    output.partial_bits = std::max(output.partial_bits, output.bits);
    if (more > Bits{0} && more == at.writes && !group.adds_tensor) {
      group.adds_tensor = true;
    } else {
      group.stream.in += more;
    }
  }

  // The product that reads what softmax makes of the scores of `head`, with all that is between.
  void add_attention(std::size_t head) {
    const auto is_product = [&](std::size_t i) {
      return is_one_einsum(node(i)) && ops_.all[i].in.size() == 2;
    };
    if (!is_product(head)) {
      return;
    }
    Group group = single(head);
    const Bits scores = size(node(head).out.front());
    group.stream.in = operand_bits(head);
    bool normalised = false;
    for (std::size_t last = head; !ops_.all[last].out.empty();) {
      const std::size_t tensor = node(last).out.front();
      if (ops_.is_output[tensor] || ops_.readers[tensor].size() != 1) {
        return;
      }
      const std::size_t next = ops_.readers[tensor].front();
      const GraphNode& at = node(next);
      group.operations.push_back(next);
      group.anchor = next;
      for (const std::size_t read : ops_.all[next].in) {
        if (read != tensor &&
            std::find(group.reads.begin(), group.reads.end(), read) == group.reads.end()) {
          group.reads.push_back(read);
        }
      }
      if (is_product(next)) {
        if (normalised) {
          group.stream.in += operand_bits(next) - size(tensor);
          group.stream.out = size(at.out.front());
          group.writes = ops_.all[next].out;
          group.layers.push_back(at.layers.front());
          group.kernel = GroupKernel::kAttention;
          group.by = Fusion::kVertical;
          group.reason = "the scores stay on the chip between both products and softmax";
          add(std::move(group));
        }
        return;
      }
      const bool rows = at.kind == OpKind::kPointwise || at.kind == OpKind::kSoftmax;
      if (!rows || at.out.size() != 1 || size(at.out.front()) != scores) {
        return;
      }
      normalised = normalised || at.kind == OpKind::kSoftmax;
      group.stream.in += std::max(at.reads - scores, Bits{0});
      last = next;
    }
  }

  Bits operand_bits(std::size_t i) const {
    Bits sum{0};
    for (const GraphUse& use : node(i).in) {
      sum += size(use.tensor);
    }
    return sum;
  }

  void add_time_steps(std::size_t i) {
    const std::vector<NodeLayer>& layers = node(i).layers;
    const bool recurs = std::any_of(layers.begin(), layers.end(),
                                    [](const NodeLayer& each) { return each.count > 1; });
    if (!recurs || layers.size() < 2 || !node(i).unpriced.empty()) {
      return;
    }
    Group group = single(i);
    group.kernel = GroupKernel::kTimeSteps;
    group.by = Fusion::kVertical;
    group.reason = "one kernel for all time steps, with a barrier between steps";
    add(std::move(group));
  }

  // The dim of output channels that two layers may differ in; nullopt: they are no siblings.
  std::optional<std::string> no_siblings(const Workload& a, Workload b) const {
    b.name = a.name;
    b.note = a.note;
    std::size_t columns = 0;
    for (const DimId dim : a.dims.ids()) {
      const GemmAxis axis = a.gemm_axis(dim);
      if (axis == GemmAxis::kBatch && a.dims[dim].bound > 1) {
        return "its weights are in groups";
      }
      if (axis == GemmAxis::kN && index_of(dim) < b.dims.size()) {
        ++columns;
        b.dims[dim].bound = a.dims[dim].bound;
      }
    }
    if (columns != 1) {
      return "its output channels are not a single dim";
    }
    return b == a ? std::nullopt
                  : std::optional<std::string>{"another kernel, stride, padding or width"};
  }

  bool may_merge(std::size_t i) const {
    return is_one_einsum(node(i)) && node(i).in.size() == 1 && node(i).in.front().of.has_value();
  }

  // Operations that read what no operation makes, which is there for all of them.
  std::vector<std::size_t> readers_of_input(std::size_t tensor) const {
    std::vector<std::size_t> readers;
    for (std::size_t i = 0; i < ops_.all.size(); ++i) {
      const auto& in = node(i).in;
      if (std::any_of(in.begin(), in.end(), [&](const GraphUse& use) {
            return source_of(*ops_.graph, links_, use.tensor) == tensor;
          })) {
        readers.push_back(i);
      }
    }
    return readers;
  }

  void add_siblings(const std::vector<std::size_t>& readers) {
    std::vector<std::vector<std::size_t>> classes;
    for (const std::size_t i : readers) {
      if (!may_merge(i)) {
        continue;
      }
      std::string why;
      const auto alike = [&](const std::vector<std::size_t>& each) {
        const GraphNode& first = node(each.front());
        if (first.epilogue != node(i).epilogue) {
          why = "another epilogue";
          return false;
        }
        const auto problem =
            no_siblings(first.layers.front().workload, node(i).layers.front().workload);
        why = problem.value_or("");
        return !problem;
      };
      const auto at = std::find_if(classes.begin(), classes.end(), alike);
      if (at != classes.end()) {
        at->push_back(i);
        continue;
      }
      if (!classes.empty()) {
        refuse(i, fmt::format("it does not merge with {}, which shares its input: {}",
                              name(classes.back().front()), why));
      }
      classes.push_back({i});
    }
    for (const std::vector<std::size_t>& each : classes) {
      add_sets(each);
    }
  }

  void add_sets(const std::vector<std::size_t>& siblings) {
    const std::size_t n = siblings.size();
    if (n <= kMostSiblings) {
      for (std::size_t set = 0; set < (std::size_t{1} << n); ++set) {
        std::vector<std::size_t> chosen;
        for (std::size_t i = 0; i < n; ++i) {
          if ((set >> i & 1) != 0) {
            chosen.push_back(siblings[i]);
          }
        }
        if (chosen.size() > 1) {
          add(merged(chosen));
        }
      }
      return;
    }
    for (std::size_t begin = 0; begin < n; ++begin) {
      for (std::size_t end = begin + 2; end <= n; ++end) {
        if (!add(merged({siblings.begin() + static_cast<std::ptrdiff_t>(begin),
                         siblings.begin() + static_cast<std::ptrdiff_t>(end)}))) {
          return;
        }
      }
    }
  }

  Group merged(const std::vector<std::size_t>& siblings) const {
    Group group = single(siblings.front());
    group.by = Fusion::kHorizontal;
    group.reason = fmt::format(
        "the same kernel on the same input, {}",
        ops_.graph
            ->tensors[source_of(*ops_.graph, links_, node(siblings.front()).in.front().tensor)]
            .name);
    group.operations = siblings;
    Workload& workload = group.layers.front().workload;
    for (std::size_t s = 1; s < siblings.size(); ++s) {
      const GraphNode& at = node(siblings[s]);
      const Workload& other = at.layers.front().workload;
      for (const DimId dim : workload.dims.ids()) {
        if (workload.gemm_axis(dim) == GemmAxis::kN) {
          workload.dims[dim].bound += other.dims[dim].bound;
        }
      }
      const std::vector<std::size_t>& more = ops_.all[siblings[s]].out;
      group.writes.insert(group.writes.end(), more.begin(), more.end());
      group.stream.in += at.reads;
      group.stream.out += at.writes;
    }
    return group;
  }

  void add_elisions() {
    std::vector<bool> taken(ops_.graph->tensors.size());
    for (std::size_t i = 0; i < ops_.all.size(); ++i) {
      const GraphNode& at = node(i);
      if (at.kind != OpKind::kConcat || at.out.size() != 1) {
        continue;
      }
      if (const auto why = no_elision(i, taken)) {
        refuse(i, fmt::format("it copies its operands: {}", *why));
        continue;
      }
      for (const GraphUse& use : at.in) {
        taken[use.tensor] = true;
      }
      Group group = single(i);
      group.by = Fusion::kElision;
      group.reason = "each operand is written to its place in the result";
      group.elided = true;
      add(std::move(group));
    }
  }

  std::optional<std::string> no_elision(std::size_t i, const std::vector<bool>& taken) const {
    const GraphNode& at = node(i);
    if (at.in.size() != ops_.all[i].in.size()) {
      return "one of them twice, a constant, or an input of the network";
    }
    for (const GraphUse& use : at.in) {
      const std::string& tensor = ops_.graph->tensors[use.tensor].name;
      const std::vector<std::size_t>& in = ops_.all[i].in;
      if (std::find(in.begin(), in.end(), use.tensor) == in.end()) {
        return fmt::format("{} is a reshaped tensor", tensor);
      }
      if (ops_.is_output[use.tensor]) {
        return fmt::format("{} is an output of the network", tensor);
      }
      if (taken[use.tensor]) {
        return fmt::format("{} is part of another concat already", tensor);
      }
    }
    return std::nullopt;
  }

  const Operations& ops_;
  GraphLinks links_;
  Fusion fusion_;
  GroupMemory memory_;
  std::size_t bytes_ = 0;
  Groups found_;
};

}  // namespace

const char* to_string(Fusion fusion) {
  constexpr std::array<const char*, kFusions> kWords{"none", "vertical", "horizontal", "elision"};
  return kWords[static_cast<std::size_t>(fusion)];
}

Groups groups_of(const Operations& operations, Fusion fusion, const GroupMemory& memory) {
  return Collector{operations, fusion, memory}.collect();
}

}  // namespace mapsim
