// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/gpu.hpp"

namespace mapsim {

// One item of a file's `calibration:` list, indented as it stands there; parse_gpu() reads it back
// to the same value. `indent` spaces before the dash.
std::string print_calibration(const GpuCalibration& calibration, int indent = 4);

// An architecture file of the GPU, all numbers written out; equal GPUs, equal texts. parse_gpu()
// reads it back, bandwidths to within rounding.
std::string print_gpu(const Gpu& gpu);

}  // namespace mapsim
