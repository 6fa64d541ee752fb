// SPDX-License-Identifier: Apache-2.0
#include "tests/nvdla/engines.hpp"

#include <fmt/format.h>

#include "arch/load.hpp"

namespace mapsim {

Arch shipped_engine(const std::string& name) {
  return load_arch(kNvdlaConfigs + "arch/" + name + ".yaml");
}

Arch small_engine(const SmallEngine& engine) {
  return parse_arch(fmt::format(R"(name: small_engine
nodes:
  - storage: DRAM
    word: {} B
    capacity: unlimited
    bandwidth: {{shared: 2 B/cycle}}
    energy: {{read: 100 pJ/B, write: 110 pJ/B}}
  - storage: CBUF
    capacity: {} B
    energy: {{read: 2 pJ/B, write: 3 pJ/B}}
    keep: [input, weight]
    bypass: [output]
  - storage: CACC
    capacity: {} B
    energy: {{read: 1 pJ/B, write: 1.5 pJ/B}}
    keep: [output]
    bypass: [input, weight]
  - fanout: MACs
    x: {{size: {}, dims: [gemm_n]}}
    y: {{size: {}, dims: [gemm_k]}}
    spatial_reduction: true
  - storage: CMAC
    capacity: {{weight: 2 B}}
    energy: {{read: 0.1 pJ/B, write: 0.2 pJ/B}}
    keep: [weight]
    bypass: [input, output]
  - compute: MAC
    energy: 0.3 pJ
    timing: {{model: nvdla, banks: {}{}}}
)",
                                engine.word, engine.buffer_bytes, 4 * engine.sums, engine.kernels,
                                engine.channels, engine.banks, engine.timing),
                    "small_engine.yaml");
}

Workload layer(const ConvShape& shape) {
  return conv2d("layer", shape,
                {{{Role::kInput, Bits{8}}, {Role::kOutput, Bits{8}}}, {}, Bits{32}});
}

}  // namespace mapsim
