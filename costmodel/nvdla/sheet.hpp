// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>

namespace mapsim {

// NVIDIA's performance workbook for NVDLA (nvdla/hw, perf/NVDLA_OpenSource_Performance.xlsx), cell
// formula by cell formula. It knows no stripes and no mapping: MAC cycles from the shape, traffic
// from what fits the convolution buffer. Its units are kept: KB of 1024 bytes, GB/s of 10^9, and
// 1 KB through 1 GB/s counted as 1 us, in doubles, because the workbook does not round MAC cycles.
// docs/nvdla.md has the formulas in symbols.

// What the workbook takes from a layer.
enum class SheetKind : std::uint8_t { kConvolution, kElementwise, kFullyConnected };
struct SheetLayer {
  SheetKind kind = SheetKind::kConvolution;  // kElementwise: convolution + addition of a tensor
  std::int64_t channels = 1;
  std::int64_t kernels = 1;
  std::array<std::int64_t, 2> input{1, 1};   // height, width
  std::array<std::int64_t, 2> kernel{1, 1};  // height, width
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> output{1, 1};  // behind fused pooling
  bool padded = false;                       // the input's size is the output's, before the stride
  std::int64_t extra_lines = 0;  // of the least input; 1 in AlexNet and in ResNet-50's first row
};

// Where the DRAM-only column takes its traffic from: operands that do not fit are fetched again
// (ResNet-50), or everything passes once, weights once per batch (AlexNet).
enum class SheetTraffic : std::uint8_t { kRefetched, kOnce };

struct SheetEngine {
  double macs = 2048;  // multipliers
  double buffer_kb = 512;
  double clock_mhz = 1000;
  double dram_gbps = 10;
  double feature_bytes = 1;
  double weight_bytes = 1;
  double weight_compression = 0;      // share of the weights' bytes that is saved
  std::int64_t batch = 16;            // frames that share the weights of fully connected layers
  std::int64_t kernel_padding = 128;  // kernels are counted in multiples; 16 but in that column
  bool winograd = true;               // for kernels of 3 x 3
  SheetTraffic traffic = SheetTraffic::kRefetched;
};

struct SheetRow {
  double input_kb = 0, least_input_kb = 0;  // least: the lines of one kernel
  double output_kb = 0;
  double weight_kb = 0, least_weight_kb = 0;  // least: 32 kernels
  bool winograd = false;
  bool keeps_feature = false;  // the smaller operand stays in the buffer
  double traffic_kb = 0, least_traffic_kb = 0;
  double mac_cycles = 0, dram_cycles = 0;
  double cycles() const { return mac_cycles > dram_cycles ? mac_cycles : dram_cycles; }
};
SheetRow sheet_row(const SheetEngine& engine, const SheetLayer& layer);

// With a second memory: inputs are read from it, outputs written to it, and the DRAM carries the
// weights, and what `spill` says: tensors of a row that lie in DRAM as well.
struct SheetMemory {
  double read_gbps = 25, write_gbps = 25;
};
enum class SheetSpill : std::uint8_t { kNothing, kInput, kOutput };
struct SheetMemoryRow {
  double dram_kb = 0, read_kb = 0, write_kb = 0;
  double mac_cycles = 0, dram_cycles = 0, read_cycles = 0, write_cycles = 0;
  double cycles() const;
};
// `reads_memory`: false where the input comes from DRAM alone (the first row).
SheetMemoryRow sheet_memory_row(const SheetEngine& engine, const SheetMemory& memory,
                                const SheetLayer& layer, SheetSpill spill, bool reads_memory);

}  // namespace mapsim
