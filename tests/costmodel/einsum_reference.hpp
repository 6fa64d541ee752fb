// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "core/index.hpp"
#include "costmodel/reference/simulate.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// The output of an einsum by Eigen's matrix product: operands gathered into the matrices of the
// implicit GEMM, one product per batch index, results scattered to the output's points.
DenseTensor einsum_by_eigen(const Workload& workload, const PerTensor<DenseTensor>& operands);

}  // namespace mapsim
