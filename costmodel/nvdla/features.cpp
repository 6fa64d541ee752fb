// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nvdla/features.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "costmodel/timing/model.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

Padding to_words(const Problem& problem, std::optional<DimId> channel, std::int64_t bits) {
  const std::int64_t word = problem.arch().levels[LevelId{0}].word.count();
  const std::int64_t used = (channel ? problem.workload().dims[*channel].bound : 1) * bits;
  return padding_of((used + word - 1) / word * word, used);
}

}  // namespace

PerTensor<Padding> feature_words(const Problem& problem) {
  const auto* timing = std::get_if<NvdlaTiming>(&problem.arch().compute.timing);
  if (timing == nullptr || timing->mode == NvdlaMode::kSheet) {
    return {};
  }
  const Workload& workload = problem.workload();
  const std::optional<LayerView> view = view_layer(workload);
  if (!view) {
    return {};
  }
  PerTensor<Padding> found(workload.tensors.size());
  if (workload.form.kind != FormKind::kImage) {
    found[view->input] =
        to_words(problem, view->channel, workload.tensors[view->input].bits.count());
  }
  const TensorId output = workload.output();
  found[output] = to_words(problem, view->kernel,
                           workload.tensors[output].bits.count() / outputs_per_element(workload));
  return found;
}

bool moves_zeros(const Arch& arch, const Workload& workload) {
  const auto has_zeros = [&workload](const Tensor& tensor) {
    std::int64_t box = 1;
    for (const Rank& rank : tensor.ranks) {
      std::int64_t extent = 1;
      for (const Term& term : rank.terms) {
        extent += std::abs(term.coefficient) * (workload.dims[term.dim].bound - 1);
      }
      box *= extent;
    }
    return tensor.stored_elements.value_or(box) < box;
  };
  return !timing_model(arch).is_engine &&
         std::any_of(workload.tensors.begin(), workload.tensors.end(), has_zeros);
}

bool holds_padded_features(const Arch& arch, LevelId level) {
  const auto* timing = std::get_if<NvdlaTiming>(&arch.compute.timing);
  return timing != nullptr && level < timing->buffer;
}

PerTensor<Padding> feature_paddings(const Problem& problem, const PerTensor<TensorCounts>& memory) {
  PerTensor<Padding> found = feature_words(problem);
  for (const TensorId t : found.ids()) {
    const std::optional<std::int64_t>& stored = problem.workload().tensors[t].stored_elements;
    const std::int64_t touched = memory[t].footprint;  // of the whole tensor
    if (stored && *stored < touched && memory[t].total.reads % touched == 0) {
      const Padding zeros = padding_of(*stored, touched);
      found[t] = padding_of(found[t].whole * zeros.whole, found[t].used * zeros.used);
    }
  }
  return found;
}

Bits buffer_tile(const Problem& problem, const PerTensor<Padding>& words, TensorId tensor,
                 const TensorCounts& at) {
  if (words.empty()) {
    return Bits{at.footprint * at.bits.count()};
  }
  const std::int64_t most =
      problem.workload().tensors[tensor].stored_elements.value_or(at.footprint);
  const std::int64_t bits = std::min(at.footprint, most) * at.bits.count();
  return Bits{static_cast<std::int64_t>(std::ceil(words[tensor].of(static_cast<double>(bits))))};
}

}  // namespace mapsim
