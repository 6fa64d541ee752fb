// SPDX-License-Identifier: Apache-2.0
#include "mapper/rules_reader.hpp"

namespace mapsim {
namespace {

// Dims of the windows of the inputs: of the last rank that slides, or of the others.
DimSet window_dims(const Workload& workload, GemmAxis axis, bool last) {
  DimSet set;
  for (const Tensor& tensor : workload.tensors) {
    std::vector<DimSet> windows;
    for (const Rank& rank : tensor.ranks) {
      if (tensor.role == Role::kInput && rank.terms.size() > 1) {
        DimSet& dims = windows.emplace_back();
        for (const Term& term : rank.terms) {
          dims.insert(term.dim);
        }
      }
    }
    for (std::size_t i = 0; i < windows.size(); ++i) {
      set = (i + 1 == windows.size()) == last ? set | windows[i] : set;
    }
  }
  DimSet on_axis;
  for (const DimId d : workload.dims.ids()) {
    if (set.contains(d) && workload.gemm_axis(d) == axis) {
      on_axis.insert(d);
    }
  }
  return on_axis;
}

}  // namespace

std::vector<std::pair<std::string, DimSet>> dim_words(const Workload& workload) {
  std::vector<std::pair<std::string, DimSet>> words;
  for (const DimId d : workload.dims.ids()) {
    words.emplace_back(workload.dims[d].name, DimSet{d});
  }
  for (const GemmAxis axis : {GemmAxis::kM, GemmAxis::kN, GemmAxis::kK, GemmAxis::kBatch}) {
    DimSet set;
    for (const DimId d : workload.dims.ids()) {
      if (workload.gemm_axis(d) == axis) {
        set.insert(d);
      }
    }
    words.emplace_back(to_string(axis), set);
  }
  words.emplace_back("row_out", window_dims(workload, GemmAxis::kM, true));
  words.emplace_back("row_kernel", window_dims(workload, GemmAxis::kK, true));
  words.emplace_back("column_out", window_dims(workload, GemmAxis::kM, false));
  words.emplace_back("column_kernel", window_dims(workload, GemmAxis::kK, false));
  return words;
}

std::vector<std::pair<std::string, TensorSet>> tensor_words(const Workload& workload) {
  std::vector<std::pair<std::string, TensorSet>> words;
  for (const TensorId t : workload.tensors.ids()) {
    words.emplace_back(workload.tensors[t].name, TensorSet{t});
  }
  for (const Role role : {Role::kInput, Role::kWeight, Role::kOutput}) {
    TensorSet set;
    for (const TensorId t : workload.tensors.ids()) {
      if (workload.tensors[t].role == role) {
        set.insert(t);
      }
    }
    words.emplace_back(to_string(role), set);
  }
  return words;
}

}  // namespace mapsim
