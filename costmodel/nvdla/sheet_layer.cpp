// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nvdla/sheet_layer.hpp"

#include <cmath>

#include "workloads/form.hpp"

namespace mapsim {

namespace {

std::int64_t bound(const Workload& workload, std::optional<DimId> dim) {
  return dim ? workload.dims[*dim].bound : 1;
}

Cycles whole(double cycles) { return Cycles{static_cast<std::int64_t>(std::ceil(cycles))}; }

constexpr double kBitsPerByte = 8;

double gigabytes_per_second(const Arch& arch, const std::optional<BitsPerCycle>& port) {
  return port ? port->count() / kBitsPerByte * arch.clock.count() / 1e9 : HUGE_VAL;
}

SheetMemory second_memory(const Problem& problem, LevelId level) {
  const auto& ports = problem.arch().levels[level].bandwidth;
  return {gigabytes_per_second(problem.arch(), ports.shared ? ports.shared : ports.read),
          gigabytes_per_second(problem.arch(), ports.shared ? ports.shared : ports.write)};
}

SheetPlaces places_of(const WorkbookRow& row) {
  return {row.dram == Role::kInput, row.dram == Role::kOutput, row.reads_memory,
          row.writes_memory,        row.dram_weights,          row.memory_weights};
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
  SheetEngine engine;
  engine.macs = static_cast<double>(arch.fanouts[timing.array].x * arch.fanouts[timing.array].y);
  engine.buffer_kb = static_cast<double>(arch.levels[timing.buffer].capacity.total().count()) /
                     kBitsPerByte / 1024;
  engine.clock_mhz = arch.clock.count() / 1e6;
  engine.dram_gbps = gigabytes_per_second(arch, arch.levels[LevelId{0}].bandwidth.shared);
  const Workload& workload = problem.workload();
  for (const Tensor& tensor : workload.tensors) {
    const double bytes = static_cast<double>(tensor.bits.count()) / kBitsPerByte;
    (tensor.role == Role::kWeight ? engine.weight_bytes : engine.feature_bytes) = bytes;
  }
  engine.batch = timing.sheet_batch;
  engine.kernel_padding = timing.sheet_padding;
  engine.winograd = timing.winograd;
  engine.weight_compression = timing.sheet_compression;
  engine.traffic = timing.sheet_once ? SheetTraffic::kOnce : SheetTraffic::kRefetched;
  engine.kept = timing.sheet_least ? SheetKept::kBelowLeastWeights : SheetKept::kBelowWeights;
  return engine;
}

std::optional<SheetTimes> sheet_times(const Problem& problem, const WorkbookRow& row) {
  const auto* timing = std::get_if<NvdlaTiming>(&problem.arch().compute.timing);
  if (timing == nullptr || timing->mode != NvdlaMode::kSheet) {
    return std::nullopt;
  }
  std::optional<SheetLayers> layers = sheet_layers(problem.workload());
  if (!layers) {
    return std::nullopt;
  }
  SheetLayer& layer = layers->layer;
  layer.kind = row.addition ? SheetKind::kElementwise : layer.kind;
  layer.output = row.pooled.value_or(layer.output);
  layer.extra_lines = row.extra_lines;
  layer.winograd_weights = row.winograd_weights;
  const auto rows = static_cast<double>(layers->rows);
  const SheetEngine engine = sheet_engine(problem, *timing);
  SheetTimes times;
  times.mac = whole(sheet_row(engine, layer).mac_cycles * rows);
  if (index_of(timing->buffer) < 2) {
    times.dram = whole(sheet_row(engine, layer).dram_cycles * rows);
    return times;
  }
  times.memory = LevelId{1};
  const SheetMemoryRow found =
      sheet_memory_row(engine, second_memory(problem, *times.memory), layer, places_of(row));
  times.dram = whole(found.dram_cycles * rows);
  times.read = whole(found.read_cycles * rows);
  times.write = whole(found.write_cycles * rows);
  return times;
}

Latency sheet_latency(const SheetTimes& times) {
  Latency latency;
  latency.compute.busy = times.mac;
  latency.resources.push_back({PortKind::kCompute, LevelId{}, times.mac, 0});
  latency.resources.push_back({PortKind::kShared, LevelId{0}, times.dram, 0});
  if (times.memory) {
    latency.resources.push_back({PortKind::kRead, *times.memory, times.read, 0});
    latency.resources.push_back({PortKind::kWrite, *times.memory, times.write, 0});
  }
  latency.steady = latency.ramped = times.total();
  latency.stall = latency.steady - times.mac;
  for (std::size_t i = 0; i < latency.resources.size(); ++i) {
    Resource& resource = latency.resources[i];
    resource.utilization =
        static_cast<double>(resource.time.count()) / static_cast<double>(latency.steady.count());
    if (resource.time > latency.resources[latency.bottleneck].time) {
      latency.bottleneck = i;
    }
  }
  return latency;
}

void fuse(const Problem& problem, const WorkbookRow& row, Cost& cost) {
  const std::optional<SheetTimes> times = sheet_times(problem, row);
  if (!times) {
    return;
  }
  const Cycles alone = cost.latency.steady;
  cost.latency = sheet_latency(*times);
  cost.utilization *=
      static_cast<double>(alone.count()) / static_cast<double>(cost.latency.steady.count());
  const Picojoules leaked = cost.energy.leakage;
  cost.energy.leakage = problem.leakage(cost.latency.steady);
  cost.energy.total = cost.energy.total - leaked + cost.energy.leakage;
}

}  // namespace mapsim
