// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/index.hpp"

namespace mapsim {

struct Arch;
struct TimingText;

// An engine after NVDLA: docs/nvdla.md. kStripe: weights stay for a stripe of outputs; kSheet: the
// cycles and the traffic of NVIDIA's workbook, whatever the mapping.
enum class NvdlaMode : std::uint8_t { kStripe, kSheet };
struct NvdlaTiming {
  NvdlaMode mode = NvdlaMode::kStripe;
  FanoutId array{};                            // atomic-K along X, atomic-C along Y
  LevelId buffer{};                            // the convolution buffer, of limited size
  std::int64_t banks = 16;                     // a tile takes whole ones
  std::optional<std::int64_t> weight_banks{};  // absent: any split that fits
  std::int64_t least_stripe = 16;              // cycles to fetch the weights of the next stripe
  std::int64_t most_stripe = 32;               // outputs
  std::int64_t image_stripe = 64;              // the same for image input
  std::int64_t post_throughput = 0;            // outputs a cycle behind the array; 0: no limit
  bool winograd = false;
  bool image_input = false;
  bool wide_operands = false;        // 16 b at half of the kernels
  bool halved = false;               // the array has been halved for them: bind_widths()
  std::int64_t most_batch = 1;       // frames that share the weights of a fully connected layer
  std::int64_t sheet_padding = 128;  // kSheet: kernels are counted in multiples of it
  std::int64_t sheet_batch = 16;     // kSheet: frames of fully connected layers
  bool sheet_once = false;           // kSheet: every operand passes once, weights once a batch
  bool sheet_least = false;          // kSheet: an input stays if below the least of the weights
  double sheet_compression = 0;      // kSheet: share of the weights' bytes that is saved
  friend bool operator==(const NvdlaTiming&, const NvdlaTiming&) = default;
};

TimingText text_of(const NvdlaTiming&);
std::string print(const NvdlaTiming& timing, const Arch& arch);

}  // namespace mapsim
