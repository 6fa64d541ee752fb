// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/gpu.hpp"

namespace mapsim {

// One item of a file's `calibration:` list, with `indent` spaces before its dash. parse_gpu() reads
// it back to the same value.
std::string print_calibration(const GpuCalibration& calibration, int indent = 4);

// The GPU as an architecture file with all numbers written out. Equal GPUs give equal texts.
// parse_gpu() reads it back, bandwidths to within rounding.
std::string print_gpu(const Gpu& gpu);

}  // namespace mapsim
