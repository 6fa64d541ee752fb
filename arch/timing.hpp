// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <variant>

#include "core/index.hpp"
#include "core/units.hpp"

namespace mapsim {

// Cycles between two MACs of operands of these widths and narrower ones, in either order.
struct WidthInterval {
  Bits wide{0};
  Bits narrow{0};
  std::int64_t cycles = 1;
  friend bool operator==(const WidthInterval&, const WidthInterval&) = default;
};

// Operands and sums that move one instance a cycle through a fanout, rows along Y and columns along
// X, past a tensor that stays: docs/systolic.md.
struct SystolicTiming {
  FanoutId array{};          // the fanout that is the array
  bool full_folds = true;    // waves cross the whole array, also where a fold uses a part of it
  bool hides_load = false;   // the next tile that stays is shifted in during the fold before
  bool hides_drain = false;  // the next fold follows at once, while the wave before leaves
  // Operands that must stay in the array reach it, through every port above, in tiles of the whole
  // array, whatever a fold uses of it. Only with full folds.
  bool whole_tiles = false;
  bool scalesim = false;  // `compat: scalesim`: the number of the last cycle, as that tool has it
  friend bool operator==(const SystolicTiming&, const SystolicTiming&) = default;
};

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

// How steps become cycles. Without a model: at the issue interval, one after the other.
using Timing = std::variant<std::monostate, SystolicTiming, NvdlaTiming>;

}  // namespace mapsim
