// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/operators.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

using Extents = std::vector<std::int64_t>;  // extents, outermost axis first

// What one node makes and others read, or an input of the graph. Constants of the model (weights)
// are part of the nodes that read them; only those that stand between nodes (a class token) are
// tensors.
struct GraphTensor {
  std::string name;
  std::optional<Extents> shape;  // nullopt: not known
  Bits bits{8};                  // of an element; 0: not known
  bool constant = false;         // the same for every input: a batch shares it
  friend bool operator==(const GraphTensor&, const GraphTensor&) = default;
};

// An operand of a node. `of`: the operand of its first layer that it is; nullopt: of none.
struct GraphUse {
  std::size_t tensor = 0;
  std::optional<TensorId> of{};
  friend bool operator==(const GraphUse&, const GraphUse&) = default;
};

// An einsum that a node computes, `count` times. A node has one layer, but for transposed
// convolutions (one for each phase), recurrent nodes (inputs, states) and fused attention.
struct NodeLayer {
  std::string name;  // what results call it
  Workload workload;
  std::int64_t count = 1;  // >= 1
  std::string file{};      // where the workload was read; empty: part of the graph
  friend bool operator==(const NodeLayer&, const NodeLayer&) = default;
};

struct GraphNode {
  std::string name;
  std::string op;  // Conv, Add, MaxPool
  OpKind kind = OpKind::kOther;
  std::vector<GraphUse> in;
  std::vector<std::size_t> out;         // tensors; each is made by one node
  std::vector<NodeLayer> layers{};      // of kEinsum
  std::vector<std::string> epilogue{};  // what rides on its output: bias, relu; costs nothing
  Bits reads{0}, writes{0};             // memory traffic besides the layers (network.hpp, Stream)
  std::int64_t parameters = 0;          // constants of the model that it holds, in elements
  std::string unpriced{};               // why it is in no sum: Conv_of_unknown_shape; empty: it is
  // Of concat, split and softmax, the axis; of a transpose, the axes; of windows, what else there
  // is is in the shapes. Empty: none.
  std::vector<std::int64_t> axes{};
  friend bool operator==(const GraphNode&, const GraphNode&) = default;
};

// A network as a graph. Invariants of every loaded value: names of nodes and names of tensors are
// distinct, nodes stand in an order in which they can run, each tensor is an input or made by one
// node, shapes and widths agree where both ends know them.
struct NetworkGraph {
  std::vector<GraphTensor> tensors;
  std::vector<GraphNode> nodes;
  std::vector<std::size_t> inputs, outputs;  // tensors
  std::optional<std::size_t> find_tensor(const std::string& name) const;
  std::optional<std::size_t> find_node(const std::string& name) const;
  std::int64_t macs() const;
  std::int64_t parameters() const;  // of all nodes and constants between them
  friend bool operator==(const NetworkGraph&, const NetworkGraph&) = default;
};

// By tensor: the node that makes it (nullopt: an input), and those that read it, once each.
struct GraphLinks {
  std::vector<std::optional<std::size_t>> producer;
  std::vector<std::vector<std::size_t>> readers;
};
GraphLinks links_of(const NetworkGraph& graph);

// The tensor that an alias (Reshape, Identity) is another name of, itself for all others.
std::size_t source_of(const NetworkGraph& graph, const GraphLinks& links, std::size_t tensor);

std::int64_t count_elements(const Extents& shape);  // at most 2^56, checked by the readers
// What it takes in memory; nullopt: not known.
std::optional<Bits> size_of(const GraphTensor& tensor);

// The shape of a workload's tensor as a graph has it: groups and their channels are one axis, the
// input of a convolution has its padding. The shape of what is stored where that is known.
Extents shape_of(const Workload& workload, TensorId tensor);

// Constants that a layer holds, in elements: weights that no tensor of the graph is, and its bias.
std::int64_t parameters_of(const Workload& workload, const std::vector<GraphUse>& in, bool bias);

// The same graph for `batch` inputs at a time: the first axis of every tensor that is no constant
// grows. Layers grow by network.hpp's batched().
void stretch_tensors(NetworkGraph& graph, std::int64_t batch);

}  // namespace mapsim
