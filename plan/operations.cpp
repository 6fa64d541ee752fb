// SPDX-License-Identifier: Apache-2.0
#include "plan/operations.hpp"

#include <algorithm>

#include "workloads/operators.hpp"

namespace mapsim {

namespace {

// Does a node need an engine? Aliases move nothing; what has no operands, no layers and no traffic
// is a constant.
bool does_something(const GraphNode& node) {
  return node.kind != OpKind::kAlias &&
         (!node.in.empty() || !node.layers.empty() || node.reads + node.writes > Bits{0});
}

void add_once(std::vector<std::size_t>& list, std::size_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) {
    list.push_back(value);
  }
}

// The tensors that a tensor is another name of; of an alias of a concat all of its parts.
void add_sources(const NetworkGraph& graph, const GraphLinks& links, std::size_t tensor,
                 std::vector<std::size_t>& sources) {
  while (const auto producer = links.producer[tensor]) {
    const GraphNode& node = graph.nodes[*producer];
    if (node.kind != OpKind::kAlias || node.in.empty()) {
      break;
    }
    if (op_kind(node.op) == OpKind::kConcat) {
      for (const GraphUse& use : node.in) {
        add_sources(graph, links, use.tensor, sources);
      }
      return;
    }
    tensor = node.in.front().tensor;
  }
  add_once(sources, tensor);
}

}  // namespace

Operations operations_of(const NetworkGraph& graph) {
  const GraphLinks links = links_of(graph);
  Operations made;
  made.graph = &graph;
  made.producer.resize(graph.tensors.size());
  made.readers.resize(graph.tensors.size());
  made.is_output.resize(graph.tensors.size());
  for (const std::size_t tensor : graph.outputs) {
    std::vector<std::size_t> sources;
    add_sources(graph, links, tensor, sources);
    for (const std::size_t source : sources) {
      made.is_output[source] = true;
    }
  }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const GraphNode& node = graph.nodes[n];
    if (!does_something(node)) {
      continue;
    }
    Operation operation{n, {}, {}};
    std::vector<std::size_t> sources;
    for (const GraphUse& use : node.in) {
      add_sources(graph, links, use.tensor, sources);
    }
    for (const std::size_t tensor : sources) {
      if (made.producer[tensor]) {
        add_once(operation.in, tensor);
        add_once(made.readers[tensor], made.all.size());
      }
    }
    for (const std::size_t tensor : node.out) {
      made.producer[tensor] = made.all.size();
      operation.out.push_back(tensor);
    }
    made.all.push_back(std::move(operation));
  }
  for (Operation& operation : made.all) {
    std::erase_if(operation.out, [&made](std::size_t tensor) {
      return made.readers[tensor].empty() && !made.is_output[tensor];
    });
  }
  return made;
}

double bytes_of(const Operations& operations, std::size_t tensor) {
  const std::optional<Bits> size = size_of(operations.graph->tensors[tensor]);
  return size ? static_cast<double>(size->count()) / 8 : 0;
}

std::int64_t width_of(const NetworkGraph& graph) {
  for (const GraphNode& node : graph.nodes) {
    if (!node.layers.empty()) {
      return node.layers.front().workload.tensors[TensorId{0}].bits.count();
    }
  }
  return 0;
}

void set_width(NetworkGraph& graph, Bits width) {
  std::optional<Bits> before;
  for (GraphNode& node : graph.nodes) {
    for (NodeLayer& layer : node.layers) {
      before = before.value_or(layer.workload.tensors[TensorId{0}].bits);
      for (Tensor& tensor : layer.workload.tensors) {
        if (tensor.bits == *before) {
          tensor.bits = width;
          tensor.partial_bits = std::max(tensor.partial_bits, width);
        }
        if (tensor.role != Role::kOutput) {
          tensor.partial_bits = tensor.bits;
        }
      }
    }
  }
  if (!before) {
    return;
  }
  const auto scaled = [&](Bits bits) {
    return Bits{bits.count() * width.count() / before->count()};
  };
  for (GraphTensor& tensor : graph.tensors) {
    tensor.bits = tensor.bits == *before ? width : tensor.bits;
  }
  for (GraphNode& node : graph.nodes) {
    node.reads = scaled(node.reads);
    node.writes = scaled(node.writes);
  }
}

}  // namespace mapsim
