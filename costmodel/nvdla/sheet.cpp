// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nvdla/sheet.hpp"

#include <algorithm>
#include <cmath>

namespace mapsim {

namespace {

constexpr std::int64_t kAtom = 16;          // channels and kernels are stored in multiples of it
constexpr std::int64_t kLeastKernels = 32;  // that the buffer has to hold
constexpr double kWinogradSaving = 2.25;    // F(2x2, 3x3): 36 multiplications become 16
constexpr double kWinogradWeights = 16.0 / 9;

std::int64_t over(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t padded(std::int64_t a, std::int64_t b) { return over(a, b) * b; }

double kilobytes(std::int64_t elements, double bytes) {
  return static_cast<double>(elements) * bytes / 1024;
}

double transfer_cycles(double kb, double gbps, double mhz) { return std::ceil(kb / gbps * mhz); }

// A layer with strides is one of unit stride on C * sh * sw channels (space to depth).
struct Unstrided {
  std::int64_t channels = 1;
  std::array<std::int64_t, 2> input{}, kernel{}, output{};
};

Unstrided unstrided(const SheetLayer& layer) {
  Unstrided flat;
  flat.channels = padded(layer.channels * layer.stride[0] * layer.stride[1], kAtom);
  for (const std::size_t axis : {0, 1}) {
    const std::int64_t stride = layer.stride[axis];
    const std::int64_t placed =
        layer.padded ? layer.input[axis] : layer.input[axis] - layer.kernel[axis] + 1;
    flat.input[axis] = over(layer.input[axis], stride);
    flat.kernel[axis] = over(layer.kernel[axis], stride);
    flat.output[axis] = over(placed, stride);
  }
  return flat;
}

std::int64_t batch_of(const SheetEngine& engine, const SheetLayer& layer) {
  return layer.kind == SheetKind::kFullyConnected ? engine.batch : 1;
}

// MACs of padded channels and kernels over the multipliers; kernels of a batch are padded together.
double mac_cycles(const SheetEngine& engine, const SheetLayer& layer, bool winograd) {
  const Unstrided flat = unstrided(layer);
  const std::int64_t batch = batch_of(engine, layer);
  const std::int64_t macs = flat.channels * flat.output[0] * flat.output[1] *
                            padded(layer.kernels * batch, engine.kernel_padding) * layer.kernel[0] *
                            layer.kernel[1];
  return static_cast<double>(macs) / static_cast<double>(layer.stride[0] * layer.stride[1]) /
         engine.macs / (winograd ? kWinogradSaving : 1) / static_cast<double>(batch);
}

void fill_sizes(const SheetEngine& engine, const SheetLayer& layer, SheetRow& row) {
  const Unstrided flat = unstrided(layer);
  const std::int64_t lines = std::min(layer.kernel[0] + layer.extra_lines, flat.input[0]);
  row.input_kb = kilobytes(flat.channels * flat.input[0] * flat.input[1], engine.feature_bytes);
  row.least_input_kb = kilobytes(flat.channels * lines * flat.input[1], engine.feature_bytes);
  row.output_kb = kilobytes(layer.output[0] * layer.output[1] * padded(layer.kernels, kAtom),
                            engine.feature_bytes);
  const double kernel_kb = kilobytes(flat.channels * flat.kernel[0] * flat.kernel[1],
                                     engine.weight_bytes * (1 - engine.weight_compression));
  row.weight_kb = kernel_kb * static_cast<double>(layer.kernels) *
                  (row.winograd && layer.winograd_weights ? kWinogradWeights : 1);
  row.least_weight_kb = kernel_kb * kLeastKernels;
  if (row.least_weight_kb >= engine.buffer_kb) {
    row.least_weight_kb = engine.buffer_kb / 2;
  }
}

// The operand that stays passes once; if not all of it fits beside the least of the other, the
// other passes once for each part.
double refetched_kb(const SheetEngine& engine, const SheetRow& row) {
  const double kept = row.keeps_feature ? row.input_kb : row.weight_kb;
  const double other = row.keeps_feature ? row.weight_kb : row.input_kb;
  const double capacity =
      engine.buffer_kb - (row.keeps_feature ? row.least_weight_kb : row.least_input_kb);
  const double passes = kept > capacity ? std::ceil(kept / capacity) : 1;
  return passes * other + kept + row.output_kb;
}

}  // namespace

SheetRow sheet_row(const SheetEngine& engine, const SheetLayer& layer) {
  SheetRow row;
  row.winograd = engine.winograd && layer.kernel[0] == 3 && layer.kernel[1] == 3;
  fill_sizes(engine, layer, row);
  row.keeps_feature =
      row.input_kb <
      (engine.kept == SheetKept::kBelowWeights ? row.weight_kb : row.least_weight_kb);
  const double added = layer.kind == SheetKind::kElementwise ? row.output_kb : 0;
  row.least_traffic_kb = row.input_kb +
                         row.weight_kb / static_cast<double>(batch_of(engine, layer)) +
                         row.output_kb + added;
  row.traffic_kb = engine.traffic == SheetTraffic::kOnce ? row.least_traffic_kb
                                                         : refetched_kb(engine, row) + added;
  row.mac_cycles = mac_cycles(engine, layer, row.winograd);
  row.dram_cycles = transfer_cycles(row.traffic_kb, engine.dram_gbps, engine.clock_mhz);
  return row;
}

double SheetMemoryRow::cycles() const {
  return std::max({mac_cycles, dram_cycles, read_cycles, write_cycles});
}

SheetMemoryRow sheet_memory_row(const SheetEngine& engine, const SheetMemory& memory,
                                const SheetLayer& layer, const SheetPlaces& places) {
  const SheetRow plain = sheet_row(engine, layer);
  const auto weights = [&](std::int64_t frames) {
    return frames == 0 ? 0 : plain.weight_kb / static_cast<double>(frames);
  };
  SheetMemoryRow row;
  row.mac_cycles = plain.mac_cycles;
  row.dram_kb = weights(places.dram_weights.value_or(batch_of(engine, layer))) +
                (places.dram_input ? plain.input_kb : 0) +
                (places.dram_output ? plain.output_kb : 0);
  row.read_kb = (places.reads_input ? plain.input_kb : 0) + weights(places.memory_weights);
  row.write_kb = places.writes_output ? plain.output_kb : 0;
  row.dram_cycles = transfer_cycles(row.dram_kb, engine.dram_gbps, engine.clock_mhz);
  row.read_cycles = transfer_cycles(row.read_kb, memory.read_gbps, engine.clock_mhz);
  row.write_cycles = transfer_cycles(row.write_kb, memory.write_gbps, engine.clock_mhz);
  return row;
}

}  // namespace mapsim
