// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <variant>

#include "arch/timing/nvdla.hpp"
#include "arch/timing/systolic.hpp"
#include "core/units.hpp"

namespace mapsim {

// Cycles between two MACs of operands of these widths and narrower ones, in either order.
struct WidthInterval {
  Bits wide{0};
  Bits narrow{0};
  std::int64_t cycles = 1;
  friend bool operator==(const WidthInterval&, const WidthInterval&) = default;
};

// How steps become cycles. Without a model: at the issue interval, one after the other. A model is
// one line here, a description in arch/timing/ and a table in costmodel/timing/models.cpp; nobody
// else knows which there are: docs/decisions/0061-timing-seam.md.
using Timing = std::variant<std::monostate,  //
                            SystolicTiming,  //
                            NvdlaTiming>;

}  // namespace mapsim
