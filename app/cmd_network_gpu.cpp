// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/gpu_request.hpp"
#include "app/onnx_model.hpp"
#include "app/watch.hpp"
#include "arch/gpu_load.hpp"
#include "campaign/gpu_network.hpp"

namespace mapsim {
namespace {

Provenance origin_of(const NetworkArguments& arguments, const Network& network) {
  Provenance origin{"network",
                    {input_file("arch", arguments.arch), input_file("network", arguments.network)}};
  for (const NetworkLayer& layer : network.layers) {
    if (!layer.file.empty()) {
      origin.inputs.push_back(input_file("layer " + layer.name, layer.file));
    }
  }
  return origin;
}

}  // namespace

Answer run_on_gpu(const NetworkArguments& arguments, const Document& machine) {
  refuse_mapspace_options({{!arguments.constraints.empty(), "--constraints"},
                           {arguments.batches, "--batches"},
                           {arguments.even, "--even"}},
                          arguments.objective, arguments.strategy);
  const Gpu gpu = read_gpu(machine);
  const Network network = network_of(arguments.network, arguments.onnx);
  Watch watch;
  GpuNetworkOptions options;
  options.layer = {request_of(arguments.kernels), path_of(arguments.kernels)};
  options.stop = &watch.stop();
  options.progress = [&](std::size_t layer) {
    watch.say(fmt::format(", layer {} of {}: {}", layer + 1, network.layers.size(),
                          network.layers[layer].name));
  };
  const GpuNetworkResult result = search_network(gpu, network, options);
  Answer answer;
  answer.text = arguments.output.json
                    ? gpu_network_json(origin_of(arguments, network), gpu, network, result)
                    : gpu_network_text(gpu, network, result);
  answer.code = result.interrupted
                    ? kInterrupted
                    : (result.missing > 0 || !network.unpriced.empty() ? kNegative : kDone);
  return answer;
}

}  // namespace mapsim
