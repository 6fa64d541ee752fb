// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

// The parts of a small design of Timeloop: DRAM, a global buffer, and 4 x 2 units with a
// scratchpad.
namespace mapsim::timeloop_design {

inline const std::string kProblem = R"(problem:
  shape:
    name: conv1d
    dimensions: [R, P, K]
    coefficients: [{name: Stride, default: 1}, {name: Dilation, default: 1}]
    data_spaces:
      - {name: Weights, projection: [[[K]], [[R]]]}
      - {name: Inputs, projection: [[[R, Dilation], [P, Stride]]]}
      - {name: Outputs, projection: [[[K]], [[P]]], read_write: true}
  instance: {R: 3, P: 10, K: 8, Stride: 2, densities: {}}
)";

inline const std::string kEnergies = R"(ERT:
  version: 0.4
  tables:
    - {name: 'chip.DRAM(1..1)', actions: [{name: read, energy: 64}, {name: write, energy: 60}]}
    - name: chip.glb
      actions:
        - {name: read, arguments: {data_delta: 0}, energy: 1}
        - {name: read, arguments: {data_delta: 1}, energy: 4.5}
        - {name: write, energy: 5}
        - {name: update, energy: 6}
        - {name: leak, energy: 0.5}
    - {name: 'chip.PE[0..7].spad', actions: [{name: read, energy: 0.5}, {name: write, energy: 0.75}]}
    - {name: 'chip.PE[0..7].mac', actions: [{name: mac_random, energy: 2}, {name: idle, energy: 9}]}
)";

// The same machine in the two forms of the front ends.
inline const std::string kNested = R"(architecture:
  version: 0.3
  subtree:
    - name: chip
      attributes: {technology: 45nm}
      local:
        - {name: DRAM, class: DRAM, attributes: {width: 64, word-bits: 16}}
        - name: glb
          class: smartbuffer_SRAM
          attributes: {memory_depth: 512, memory_width: 64, word-bits: 16, read_bandwidth: 8}
      subtree:
        - name: PE[0..7]
          local:
            - {name: spad, class: smartbuffer_RF, attributes: {depth: 24, word-bits: 16, meshX: 4}}
            - {name: mac, class: intmac, attributes: {datawidth: 16, meshX: 4}}
)";
inline const std::string kNodes = R"(architecture:
  version: 0.4
  nodes:
    - !Container
      name: chip
      attributes: {technology: 45nm}
    - !Component
      name: DRAM
      class: DRAM
      attributes: {width: 64, datawidth: 16}
    - !Component
      name: glb
      class: smartbuffer_SRAM
      attributes: {depth: 512, width: 64, datawidth: 16, read_bandwidth: 8}
      constraints: {dataspace: {keep_only: [Inputs, Outputs]}, temporal: {factors: []}}
    - !Container
      name: PE
      spatial: {meshX: 4, meshY: 2}
    - !Component
      name: spad
      class: smartbuffer_RF
      attributes: {depth: 24, datawidth: 16}
    - !Component
      name: mac
      class: intmac
      attributes: {datawidth: 16}
)";
inline const std::string kMapping = R"(mapping:
  - {target: DRAM, type: temporal, factors: P=3, permutation: RPK}
  - {target: glb, type: datatype, keep: [Inputs, Outputs], bypass: [Weights]}
  - {target: glb, type: temporal, factors: R3 K2, permutation: K R}
  - {target: glb, type: spatial, factors: [K=4, 'P=2,1'], permutation: 'K,P,R', split: 1}
  - {target: spad, type: temporal, factors: P=2, no_iteration_over_dataspaces: []}
)";

}  // namespace mapsim::timeloop_design
