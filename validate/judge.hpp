// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "validate/calibrate.hpp"
#include "validate/specification.hpp"

namespace mapsim {

// Sets refusal and warnings of a fit whose scores and parameters are known. If the fit is good for
// times only, `fixed`, the kernel that is best on average, goes into it. `held_out`: the number of
// problems, or of kernels of one problem, that were held out in turn.
void judge(GroupCalibration& result, const SpecificationCheck& check, std::int64_t held_out,
           const std::optional<FixedKernel>& fixed);

}  // namespace mapsim
