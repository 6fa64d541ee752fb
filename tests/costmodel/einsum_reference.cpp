// SPDX-License-Identifier: Apache-2.0
#include "tests/costmodel/einsum_reference.hpp"

#include <Eigen/Core>
#include <vector>

namespace mapsim {
namespace {

using Coordinates = PerDim<std::int64_t>;  // an iteration: one index per dim

// Every combination of the indices of the dims on one GEMM axis, zero in the other dims.
std::vector<Coordinates> combinations(const Workload& workload, GemmAxis axis) {
  std::vector<Coordinates> all{Coordinates(workload.dims.size(), 0)};
  for (const DimId d : workload.dims.ids()) {
    if (workload.gemm_axis(d) != axis) {
      continue;
    }
    std::vector<Coordinates> longer;
    for (const Coordinates& shorter : all) {
      for (std::int64_t i = 0; i < workload.dims[d].bound; ++i) {
        longer.push_back(shorter);
        longer.back()[d] = i;
      }
    }
    all = longer;
  }
  return all;
}

Coordinates sum(Coordinates a, const Coordinates& b) {
  for (const DimId d : a.ids()) {
    a[d] += b[d];
  }
  return a;
}

std::size_t index_in(const Tensor& tensor, const DenseTensor& dense, const Coordinates& at) {
  std::int64_t index = 0;
  for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
    index *= dense.shape[r];
    for (const Term& term : tensor.ranks[r].terms) {
      index += term.coefficient * at[term.dim];
    }
  }
  return static_cast<std::size_t>(index);
}

// The product of all operands of a role; 1 if there is none.
double product_of(const Workload& workload, const PerTensor<DenseTensor>& operands, Role role,
                  const Coordinates& at) {
  double product = 1;
  for (const TensorId t : workload.tensors.ids()) {
    if (workload.tensors[t].role == role) {
      product *= operands[t].values[index_in(workload.tensors[t], operands[t], at)];
    }
  }
  return product;
}

}  // namespace

DenseTensor einsum_by_eigen(const Workload& workload, const PerTensor<DenseTensor>& operands) {
  const TensorId out = workload.output();
  DenseTensor output{operands[out].shape, std::vector<double>(operands[out].values.size(), 0)};
  const std::vector<Coordinates> m = combinations(workload, GemmAxis::kM);
  const std::vector<Coordinates> n = combinations(workload, GemmAxis::kN);
  const std::vector<Coordinates> k = combinations(workload, GemmAxis::kK);
  const auto gather = [&](const auto& rows, const auto& columns, const Coordinates& batch,
                          Role role) {
    return Eigen::MatrixXd::NullaryExpr(
               static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(columns.size()),
               [&](Eigen::Index i, Eigen::Index j) {
                 const Coordinates at =
                     sum(rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
                 return product_of(workload, operands, role, sum(at, batch));
               })
        .eval();
  };
  for (const Coordinates& batch : combinations(workload, GemmAxis::kBatch)) {
    const Eigen::MatrixXd input = gather(m, k, batch, Role::kInput);
    const Eigen::MatrixXd weight = gather(k, n, batch, Role::kWeight);
    const Eigen::MatrixXd product = input * weight;
    for (std::size_t i = 0; i < m.size(); ++i) {
      for (std::size_t j = 0; j < n.size(); ++j) {
        const Coordinates at = sum(sum(m[i], n[j]), batch);
        output.values[index_in(workload.tensors[out], output, at)] +=
            product(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      }
    }
  }
  return output;
}

}  // namespace mapsim
