// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nvdla/sheet_layer.hpp"

#include <cmath>

#include "workloads/form.hpp"

namespace mapsim {

namespace {

std::int64_t bound(const Workload& workload, std::optional<DimId> dim) {
  return dim ? workload.dims[*dim].bound : 1;
}

}  // namespace

std::optional<SheetLayers> sheet_layers(const Workload& workload) {
  const std::optional<LayerView> view = view_layer(workload);
  if (!view) {
    return std::nullopt;
  }
  SheetLayers found;
  SheetLayer& layer = found.layer;
  layer.channels = bound(workload, view->channel);
  layer.kernels = bound(workload, view->kernel);
  found.rows = bound(workload, view->batch) * bound(workload, view->group);
  if (!view->convolution) {
    layer.kind = SheetKind::kFullyConnected;
    found.rows *= bound(workload, view->rows);
    return found;
  }
  layer.kernel = {bound(workload, view->filter_rows), bound(workload, view->filter_columns)};
  layer.stride = view->stride;
  layer.output = {bound(workload, view->rows), bound(workload, view->columns)};
  std::int64_t touched = layer.channels * found.rows;
  for (const std::size_t axis : {0, 1}) {
    layer.input[axis] = layer.stride[axis] * (layer.output[axis] - 1) +
                        view->dilation[axis] * (layer.kernel[axis] - 1) + 1;
    touched *= layer.input[axis];
  }
  layer.padded = workload.tensors[view->input].stored_elements.value_or(touched) < touched;
  for (const std::size_t axis : {0, 1}) {
    layer.input[axis] = layer.padded ? layer.output[axis] * layer.stride[axis] : layer.input[axis];
  }
  return found;
}

SheetEngine sheet_engine(const Problem& problem, const NvdlaTiming& timing) {
  const Arch& arch = problem.arch();
  constexpr double kBitsPerByte = 8;
  SheetEngine engine;
  engine.macs = static_cast<double>(arch.fanouts[timing.array].x * arch.fanouts[timing.array].y);
  engine.buffer_kb = static_cast<double>(arch.levels[timing.buffer].capacity.total().count()) /
                     kBitsPerByte / 1024;
  engine.clock_mhz = arch.clock.count() / 1e6;
  const auto& dram = arch.levels[LevelId{0}].bandwidth.shared;
  engine.dram_gbps = dram ? dram->count() / kBitsPerByte * arch.clock.count() / 1e9 : HUGE_VAL;
  const Workload& workload = problem.workload();
  for (const Tensor& tensor : workload.tensors) {
    const double bytes = static_cast<double>(tensor.bits.count()) / kBitsPerByte;
    (tensor.role == Role::kWeight ? engine.weight_bytes : engine.feature_bytes) = bytes;
  }
  engine.batch = timing.sheet_batch;
  engine.kernel_padding = timing.sheet_padding;
  engine.winograd = timing.winograd;
  return engine;
}

std::optional<SheetTimes> sheet_times(const Problem& problem) {
  const auto* timing = std::get_if<NvdlaTiming>(&problem.arch().compute.timing);
  if (timing == nullptr || timing->mode != NvdlaMode::kSheet) {
    return std::nullopt;
  }
  const std::optional<SheetLayers> layers = sheet_layers(problem.workload());
  if (!layers) {
    return std::nullopt;
  }
  const SheetRow row = sheet_row(sheet_engine(problem, *timing), layers->layer);
  const auto rows = static_cast<double>(layers->rows);
  return SheetTimes{Cycles{static_cast<std::int64_t>(std::ceil(row.mac_cycles * rows))},
                    Cycles{static_cast<std::int64_t>(row.dram_cycles * rows)}};
}

}  // namespace mapsim
