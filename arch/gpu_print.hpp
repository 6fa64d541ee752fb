// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/gpu.hpp"

namespace mapsim {

// One item of a file's `calibration:` list, indented as it stands there; parse_gpu() reads it back
// to the same value. `indent` spaces before the dash.
std::string print_calibration(const GpuCalibration& calibration, int indent = 4);

}  // namespace mapsim
