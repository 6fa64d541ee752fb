// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <variant>

#include "arch/timing/nvdla.hpp"
#include "arch/timing/systolic.hpp"
#include "core/units.hpp"

namespace mapsim {

// A MAC whose operands have at most these widths, in either order, starts `cycles` after the one
// before it.
struct WidthInterval {
  Bits wide{0};
  Bits narrow{0};
  std::int64_t cycles = 1;
  friend bool operator==(const WidthInterval&, const WidthInterval&) = default;
};

// The timing model, which turns steps into cycles. Without one, a step takes the issue interval. A
// model is one line here, a description in arch/timing/ and a table in costmodel/timing/models.cpp;
// no other file depends on the list of models: docs/decisions/0061-timing-seam.md.
using Timing = std::variant<std::monostate,  //
                            SystolicTiming,  //
                            NvdlaTiming>;

}  // namespace mapsim
