// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "validate/calibrate.hpp"
#include "validate/specification.hpp"

namespace mapsim {

// Refusals and warnings of a fit whose scores and parameters are there, and whether it is good for
// times only: then `fixed`, the kernel that is best on average, goes into it. `held_out`: how many
// problems, or kernels of one, were held out in turn.
void judge(GroupCalibration& result, const SpecificationCheck& check, std::int64_t held_out,
           const std::optional<FixedKernel>& fixed);

}  // namespace mapsim
