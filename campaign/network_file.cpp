// SPDX-License-Identifier: Apache-2.0
#include "campaign/network_file.hpp"

#include <fmt/format.h>

#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& message) {
  throw ConfigError{{Diagnostic{path, 0, 0, "", message, ""}}};
}

Network read_model(const std::string& path, const OnnxOptions& options) {
  const OnnxGraph graph = read_onnx(path, options);
  if (options.batch > 1 && graph.batch != options.batch) {
    fail(path,
         "no batch: the first dims of the model's inputs are neither symbolic nor 1 throughout, or "
         "the "
         "dims name them; export the model with a symbolic batch");
  }
  Network network = to_network(graph, options);
  if (network.layers.empty() && network.streams.empty()) {
    std::string has;
    for (const auto& [kind, count] : network.unpriced) {
      has += fmt::format("{}{}, {} x", has.empty() ? "; it has " : "; ", kind, count);
    }
    fail(path, "nothing in the model has a price" + has);
  }
  return network;
}

}  // namespace

Network read_network(const std::string& path, const OnnxOptions& options,
                     const std::vector<std::string>& configs) {
  if (path.ends_with(".onnx")) {
    return read_model(path, options);
  }
  if (!options.dims.empty() || !options.inputs.empty() || options.operand_bits) {
    fail(path, "dims and a width of operands are for ONNX models; this file has its own");
  }
  const Network network = load_network(path, configs);
  return options.batch == 1 ? network : batched(network, options.batch, path);
}

}  // namespace mapsim
