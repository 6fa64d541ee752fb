// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph.hpp"

#include <algorithm>

#include "workloads/form.hpp"

namespace mapsim {

namespace {

template <class Things>
std::optional<std::size_t> find_named(const Things& things, const std::string& name) {
  const auto at = std::find_if(things.begin(), things.end(),
                               [&name](const auto& thing) { return thing.name == name; });
  return at == things.end() ? std::nullopt
                            : std::optional{static_cast<std::size_t>(at - things.begin())};
}

}  // namespace

std::optional<std::size_t> NetworkGraph::find_tensor(const std::string& name) const {
  return find_named(tensors, name);
}

std::optional<std::size_t> NetworkGraph::find_node(const std::string& name) const {
  return find_named(nodes, name);
}

std::int64_t NetworkGraph::macs() const {
  std::int64_t sum = 0;
  for (const GraphNode& node : nodes) {
    for (const NodeLayer& layer : node.layers) {
      sum += layer.count * layer.workload.macs();
    }
  }
  return sum;
}

std::int64_t NetworkGraph::parameters() const {
  std::int64_t sum = 0;
  for (const GraphNode& node : nodes) {
    sum += node.parameters;
  }
  for (const GraphTensor& tensor : tensors) {
    sum += tensor.constant && tensor.shape ? count_elements(*tensor.shape) : 0;
  }
  return sum;
}

GraphLinks links_of(const NetworkGraph& graph) {
  GraphLinks links;
  links.producer.resize(graph.tensors.size());
  links.readers.resize(graph.tensors.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const GraphUse& use : graph.nodes[n].in) {
      std::vector<std::size_t>& readers = links.readers[use.tensor];
      if (readers.empty() || readers.back() != n) {
        readers.push_back(n);
      }
    }
    for (const std::size_t tensor : graph.nodes[n].out) {
      links.producer[tensor] = n;
    }
  }
  return links;
}

std::size_t source_of(const NetworkGraph& graph, const GraphLinks& links, std::size_t tensor) {
  while (const auto producer = links.producer[tensor]) {
    const GraphNode& node = graph.nodes[*producer];
    if (node.kind != OpKind::kAlias || node.in.empty()) {
      break;
    }
    tensor = node.in.front().tensor;
  }
  return tensor;
}

std::int64_t count_elements(const Extents& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) {
    elements *= extent;
  }
  return elements;
}

std::optional<Bits> size_of(const GraphTensor& tensor) {
  if (!tensor.shape || tensor.bits == Bits{0}) {
    return std::nullopt;
  }
  return tensor.bits * count_elements(*tensor.shape);
}

Extents shape_of(const Workload& workload, TensorId tensor) {
  const std::optional<LayerView> view = view_layer(workload);
  Extents shape;
  for (const Rank& rank : workload.tensors[tensor].ranks) {
    shape.push_back(points_along(workload, rank));
  }
  if (!view || !view->convolution || tensor == view->weight) {
    return shape;
  }
  const std::int64_t channels =
      bound_of(workload, view->group) *
      bound_of(workload, tensor == view->input ? view->channel : view->kernel);
  return {bound_of(workload, view->batch), channels, shape[shape.size() - 2], shape.back()};
}

std::int64_t parameters_of(const Workload& workload, const std::vector<GraphUse>& in, bool bias) {
  std::int64_t sum = 0;
  for (const TensorId t : workload.tensors.ids()) {
    const bool passed =
        std::any_of(in.begin(), in.end(), [t](const GraphUse& use) { return use.of == t; });
    if (t != workload.output() && !passed) {
      std::int64_t points = 1;
      for (const Rank& rank : workload.tensors[t].ranks) {
        for (const Term& term : rank.terms) {
          points *= workload.dims[term.dim].bound;  // of a weight, every rank is one dim
        }
      }
      sum += points;
    }
  }
  const std::optional<LayerView> view = view_layer(workload);
  if (bias && view) {
    sum += bound_of(workload, view->kernel) *
           (view->convolution ? bound_of(workload, view->group) : 1);
  }
  return sum;
}

void stretch_tensors(NetworkGraph& graph, std::int64_t batch) {
  for (GraphTensor& tensor : graph.tensors) {
    if (!tensor.constant && tensor.shape && !tensor.shape->empty()) {
      tensor.shape->front() *= batch;
    }
  }
}

}  // namespace mapsim
