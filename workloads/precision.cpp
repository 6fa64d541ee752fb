// SPDX-License-Identifier: Apache-2.0
#include "workloads/precision.hpp"

#include <algorithm>
#include <stdexcept>

namespace mapsim {
namespace {

constexpr Bits kDefaultOperand{8};

Bits width(const Precision& precision, const Tensor& tensor, Bits otherwise) {
  if (const auto by_name = precision.tensors.find(tensor.name);
      by_name != precision.tensors.end()) {
    return by_name->second;
  }
  const auto by_role = precision.roles.find(tensor.role);
  return by_role == precision.roles.end() ? otherwise : by_role->second;
}

}  // namespace

bool apply(const Precision& precision, Workload& workload) {
  PerTensor<Tensor> tensors = workload.tensors;
  Bits widest{0};
  for (const TensorId t : tensors.ids()) {
    Tensor& tensor = tensors[t];
    const bool is_output = t == workload.output();
    tensor.bits = width(precision, tensor, is_output ? widest : kDefaultOperand);
    tensor.partial_bits = is_output ? precision.partial.value_or(tensor.bits) : tensor.bits;
    widest = std::max(widest, tensor.bits);
    if (tensor.partial_bits < tensor.bits) {
      return false;
    }
  }
  workload.tensors = tensors;
  return true;
}

void apply_or_throw(const Precision& precision, Workload& workload) {
  if (!apply(precision, workload)) {
    throw std::invalid_argument{"partial sums are narrower than the output"};
  }
}

}  // namespace mapsim
