// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/load.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping.hpp"
#include "workloads/load.hpp"

namespace mapsim::testing {

// Z[m][n] += A[m][k] * B[k][n] with 6 x 4 x 8 on DRAM, a shared buffer of 64 B, 2 x 2 MAC units.
inline Problem small_problem() {
  const std::string arch = R"(
name: small
nodes:
  - storage: DRAM
    capacity: unlimited
    bandwidth: {shared: 1 B/cycle}
    energy: {read: 80 pJ/B, write: 80 pJ/B}
  - storage: GLB
    capacity: 64 B
    bandwidth: {read: 8 B/cycle}
    energy: {read: 8 pJ/B, write: 16 pJ/B, update: 24 pJ/B}
  - fanout: PEs
    x: 2
    y: 2
    spatial_reduction: true
    reduction_energy: 0.5 pJ
  - compute: MAC
    energy: 4 pJ
)";
  const std::string work = "name: gemm\ngemm: {m: 6, n: 4, k: 8}\n";
  return {parse_arch(arch, "small.yaml"), parse_workload(work, "gemm.yaml")};
}

// M in partial tiles of 4, N and K spatial; `tile_k` of K at a time in the buffer.
inline Mapping small_mapping(std::int64_t tile_k = 2) {
  const DimId m{0};
  const DimId n{1};
  const DimId k{2};
  const TensorSet all{TensorId{0}, TensorId{1}, TensorId{2}};
  return {{Keep{LevelId{0}, all}, Temporal{m, 4}, Temporal{k, tile_k}, Keep{LevelId{1}, all},
           Parallel{n, 2, FanoutId{0}, Axis::kX}, Parallel{k, 1, FanoutId{0}, Axis::kY},
           Temporal{n, 1}, Temporal{m, 1}}};
}

// The same with another timing of the compute units, one line of YAML.
inline Problem small_problem_timed(const std::string& timing) {
  const std::string arch = R"(
name: small
nodes:
  - storage: DRAM
    capacity: unlimited
    energy: {read: 80 pJ/B, write: 80 pJ/B}
  - storage: GLB
    capacity: 64 B
    energy: {read: 8 pJ/B, write: 16 pJ/B}
    keep: [input, weight, output]
  - fanout: PEs
    x: 2
    y: 2
    spatial_reduction: true
  - compute: MAC
    energy: 4 pJ
    timing: )" + timing + "\n";
  return {parse_arch(arch, "small.yaml"), small_problem().workload()};
}

}  // namespace mapsim::testing
