// SPDX-License-Identifier: Apache-2.0
#include "workloads/workload.hpp"

#include <fmt/format.h>

namespace mapsim {

DimSet Tensor::dims() const {
  DimSet set;
  for (const Rank& rank : ranks) {
    for (const Term& term : rank.terms) {
      set.insert(term.dim);
    }
  }
  return set;
}

std::int64_t Workload::macs() const {
  std::int64_t product = 1;
  for (const Dim& dim : dims) {
    product *= dim.bound;
  }
  return product;
}

namespace {

std::string subscripted(const Workload& workload, const Tensor& tensor) {
  std::string text = tensor.name;
  for (const Rank& rank : tensor.ranks) {
    text += '[';
    for (std::size_t i = 0; i < rank.terms.size(); ++i) {
      const Term& term = rank.terms[i];
      text += i == 0 ? "" : "+";
      if (term.coefficient != 1) {
        text += fmt::format("{}*", term.coefficient);
      }
      text += workload.dims[term.dim].name;
    }
    text += ']';
  }
  return text;
}

}  // namespace

std::string Workload::equation() const {
  std::string text = subscripted(*this, tensors[output()]) + " += ";
  for (const TensorId t : tensors.ids()) {
    if (t != output()) {
      text += (index_of(t) == 0 ? "" : " * ") + subscripted(*this, tensors[t]);
    }
  }
  return text;
}

GemmAxis Workload::gemm_axis(DimId dim) const {
  if (!tensors[output()].dims().contains(dim)) {
    return GemmAxis::kK;
  }
  bool input = false;
  bool weight = false;
  for (const Tensor& tensor : tensors) {
    if (tensor.role != Role::kOutput && tensor.dims().contains(dim)) {
      (tensor.role == Role::kInput ? input : weight) = true;
    }
  }
  if (input && weight) {
    return GemmAxis::kBatch;
  }
  return weight ? GemmAxis::kN : GemmAxis::kM;
}

std::optional<DimId> Workload::find_dim(const std::string& dim_name) const {
  for (const DimId d : dims.ids()) {
    if (dims[d].name == dim_name) {
      return d;
    }
  }
  return std::nullopt;
}

std::optional<TensorId> Workload::find_tensor(const std::string& tensor_name) const {
  for (const TensorId t : tensors.ids()) {
    if (tensors[t].name == tensor_name) {
      return t;
    }
  }
  return std::nullopt;
}

std::int64_t points_along(const Workload& workload, const Rank& rank) {
  std::int64_t points = 1;
  for (const Term& term : rank.terms) {
    points += term.coefficient * (workload.dims[term.dim].bound - 1);
  }
  return points;
}

}  // namespace mapsim
