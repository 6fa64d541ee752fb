// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/index.hpp"

namespace mapsim {

struct Arch;
struct TimingText;

// An NVDLA-like engine: docs/nvdla.md. kStripe: weights stay for a stripe of outputs; kSheet:
// cycles and traffic are those of NVIDIA's workbook, whatever the mapping.
enum class NvdlaMode : std::uint8_t { kStripe, kSheet };
struct NvdlaTiming {
  NvdlaMode mode = NvdlaMode::kStripe;
  FanoutId array{};                            // atomic-K along X, atomic-C along Y
  LevelId buffer{};                            // the convolution buffer, of limited size
  std::int64_t banks = 16;                     // of the buffer; a tile takes whole banks
  std::optional<std::int64_t> weight_banks{};  // absent: any split that fits
  std::int64_t least_stripe = 16;              // cycles to fetch the weights of the next stripe
  std::int64_t most_stripe = 32;               // outputs
  std::int64_t image_stripe = 64;              // most_stripe for image input
  std::int64_t post_throughput = 0;            // outputs a cycle behind the array; 0: no limit
  bool winograd = false;
  bool image_input = false;
  bool wide_operands = false;        // 16 b at half of the kernels
  bool halved = false;               // the array is halved for these operands: bind_widths()
  std::int64_t most_batch = 1;       // frames that share the weights of a fully connected layer
  std::int64_t sheet_padding = 128;  // kSheet: kernels are counted in multiples of it
  std::int64_t sheet_batch = 16;     // kSheet: frames of fully connected layers
  bool sheet_once = false;           // kSheet: each operand moves once, weights once per batch
  bool sheet_least = false;          // kSheet: an input stays if below 32 kernels' weights
  double sheet_compression = 0;      // kSheet: share of the weights' bytes that is saved
  friend bool operator==(const NvdlaTiming&, const NvdlaTiming&) = default;
};

TimingText text_of(const NvdlaTiming&);                          // its keys in files
std::string print(const NvdlaTiming& timing, const Arch& arch);  // as YAML

}  // namespace mapsim
