// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/diagnostic.hpp"
#include "workloads/einsum.hpp"
#include "workloads/form.hpp"
#include "workloads/network.hpp"

namespace mapsim {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& message) {
  throw ConfigError{{{path, 0, 0, "", message, ""}}};
}

// The dim that counts inputs: N of convolutions, M of matrix products, H of batched ones.
DimId input_dim(const Workload& workload, const std::string& name, const std::string& path) {
  const std::optional<LayerView> view = view_layer(workload);
  if (!view) {
    fail(path, fmt::format("layer {} is neither a convolution nor a matrix product: nothing in it "
                           "says what a batch is",
                           name));
  }
  return view->convolution ? *view->batch : view->group.value_or(*view->rows);
}

void stretch(Workload& workload, const std::string& name, std::int64_t batch,
             const std::string& path) {
  const DimId dim = input_dim(workload, name, path);
  if (workload.macs() > kMaxOperations / batch) {
    fail(path, fmt::format("layer {}: more than 2^53 multiply-accumulates at a batch of {}", name,
                           batch));
  }
  workload.dims[dim].bound *= batch;
  for (Tensor& tensor : workload.tensors) {
    if (tensor.stored_elements && tensor.dims().contains(dim)) {
      tensor.stored_elements = *tensor.stored_elements * batch;
    }
  }
}

}  // namespace

Network batched(const Network& network, std::int64_t batch, const std::string& path) {
  if (batch < 1) {
    fail(path, fmt::format("a batch of {}; at least 1", batch));
  }
  Network result = network;
  result.batch = network.batch * batch;
  for (NetworkLayer& layer : result.layers) {
    stretch(layer.workload, layer.name, batch, path);
  }
  for (Stream& stream : result.streams) {
    stream.in = stream.in * batch;
    stream.out = stream.out * batch;
  }
  if (result.graph) {
    stretch_tensors(*result.graph, batch);
    for (GraphNode& node : result.graph->nodes) {
      for (NodeLayer& layer : node.layers) {
        stretch(layer.workload, layer.name, batch, path);
      }
      node.reads = node.reads * batch;
      node.writes = node.writes * batch;
    }
  }
  return result;
}

}  // namespace mapsim
