// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm.hpp"

#include <vector>

#include "workloads/einsum.hpp"

namespace mapsim {

Workload gemm(const std::string& name, const GemmShape& shape, const Precision& precision) {
  std::vector<Dim> dims;
  if (shape.batch) {
    dims.push_back({"H", *shape.batch});
  }
  dims.insert(dims.end(), {{"M", shape.m}, {"N", shape.n}, {"K", shape.k}});
  Workload workload = einsum(
      name, shape.batch ? "Z[H][M][N] += A[H][M][K] * B[H][K][N]" : "Z[M][N] += A[M][K] * B[K][N]",
      dims, precision);
  workload.bias = shape.bias;
  return workload;
}

}  // namespace mapsim
