// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nvdla/features.hpp"

#include <cmath>
#include <optional>

#include "workloads/form.hpp"

namespace mapsim {

namespace {

Padding to_words(const Problem& problem, std::optional<DimId> channel, std::int64_t bits) {
  const std::int64_t word = problem.arch().levels[LevelId{0}].word.count();
  const std::int64_t used = (channel ? problem.workload().dims[*channel].bound : 1) * bits;
  return padding_of((used + word - 1) / word * word, used);
}

}  // namespace

PerTensor<Padding> feature_paddings(const Problem& problem) {
  constexpr Bits kByte{8};
  const auto* timing = std::get_if<NvdlaTiming>(&problem.arch().compute.timing);
  if (timing == nullptr || timing->mode == NvdlaMode::kSheet ||
      problem.arch().levels[LevelId{0}].word <= kByte) {
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

bool holds_padded_features(const Arch& arch, LevelId level) {
  const auto* timing = std::get_if<NvdlaTiming>(&arch.compute.timing);
  return timing != nullptr && level < timing->buffer;
}

Bits buffer_tile(const PerTensor<Padding>& paddings, TensorId tensor, const TensorCounts& at) {
  const std::int64_t bits = at.footprint * at.bits.count();
  return paddings.empty() ? Bits{bits}
                          : Bits{static_cast<std::int64_t>(
                                std::ceil(paddings[tensor].of(static_cast<double>(bits))))};
}

}  // namespace mapsim
