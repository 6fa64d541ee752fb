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
  std::int64_t extra_lines = 0;  // of the least input; 1 everywhere but in 53 rows of ResNet-50
  bool winograd_weights = true;  // 16/9 for 3 x 3; false in 8 rows of GoogLeNet
};

// Where the DRAM-only column takes its traffic from: operands that do not fit are fetched again
// (ResNet-50), or everything passes once, weights once per batch (AlexNet).
enum class SheetTraffic : std::uint8_t { kRefetched, kOnce };
// The input stays in the buffer if it is smaller than all weights (ResNet-50) or than the least
// that the buffer has to hold of them (GoogLeNet).
enum class SheetKept : std::uint8_t { kBelowWeights, kBelowLeastWeights };

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
  SheetKept kept = SheetKept::kBelowWeights;
};

struct SheetRow {
  double input_kb = 0, least_input_kb = 0;  // least: the lines of one kernel
  double output_kb = 0;
  double weight_kb = 0, least_weight_kb = 0;  // least: 32 kernels
  bool winograd = false;
  bool keeps_feature = false;  // the input stays in the buffer, not the weights
  double traffic_kb = 0, least_traffic_kb = 0;
  double mac_cycles = 0, dram_cycles = 0;
  double cycles() const { return mac_cycles > dram_cycles ? mac_cycles : dram_cycles; }
};
SheetRow sheet_row(const SheetEngine& engine, const SheetLayer& layer);

struct SheetMemory {
  double read_gbps = 25, write_gbps = 25;
};
// With a second memory: which tensors of a row pass which port. The workbook says so row by row.
struct SheetPlaces {
  bool dram_input = false, dram_output = false;  // the DRAM's port, beside the weights
  bool reads_input = true;                       // from the second memory
  bool writes_output = true;                     // to it
  // Frames that share the weights at each port; 0: none pass. nullopt: the batch of fully connected
  // layers, else 1.
  std::optional<std::int64_t> dram_weights{};
  std::int64_t memory_weights = 0;
};
struct SheetMemoryRow {
  double dram_kb = 0, read_kb = 0, write_kb = 0;
  double mac_cycles = 0, dram_cycles = 0, read_cycles = 0, write_cycles = 0;
  double cycles() const;
};
SheetMemoryRow sheet_memory_row(const SheetEngine& engine, const SheetMemory& memory,
                                const SheetLayer& layer, const SheetPlaces& places);

}  // namespace mapsim
