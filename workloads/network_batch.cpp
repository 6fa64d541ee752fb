// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "core/diagnostic.hpp"
#include "workloads/einsum.hpp"
#include "workloads/form.hpp"
#include "workloads/network.hpp"

namespace mapsim {

namespace {

// The dim that counts inputs: N of convolutions, M of matrix products, H of batched ones.
DimId input_dim(const NetworkLayer& layer, const std::string& path) {
  const std::optional<LayerView> view = view_layer(layer.workload);
  if (!view) {
    throw ConfigError{{{path, 0, 0, "",
                        fmt::format("layer {} is neither a convolution nor a matrix product: "
                                    "nothing in it says what a batch is",
                                    layer.name),
                        ""}}};
  }
  return view->convolution ? *view->batch : view->group.value_or(*view->rows);
}

}  // namespace

Network batched(const Network& network, std::int64_t batch, const std::string& path) {
  Network result = network;
  result.batch = network.batch * batch;
  for (NetworkLayer& layer : result.layers) {
    const DimId dim = input_dim(layer, path);
    if (layer.workload.macs() > kMaxOperations / batch) {
      throw ConfigError{{{path, 0, 0, "",
                          fmt::format("layer {}: more than 2^53 multiply-accumulates at a batch "
                                      "of {}",
                                      layer.name, batch),
                          ""}}};
    }
    layer.workload.dims[dim].bound *= batch;
    for (Tensor& tensor : layer.workload.tensors) {
      if (tensor.stored_elements && tensor.dims().contains(dim)) {
        tensor.stored_elements = *tensor.stored_elements * batch;
      }
    }
  }
  for (Stream& stream : result.streams) {
    stream.in = stream.in * batch;
    stream.out = stream.out * batch;
  }
  return result;
}

}  // namespace mapsim
