// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "arch/gpu.hpp"
#include "costmodel/gpu/estimate.hpp"

namespace mapsim {

// Names a calibration of Gpu::calibration(), which predicts times of `precision`: "uncalibrated",
// or the measurements file; if the calibration is shared, also the chip and precision measured.
std::string calibration_source(const GpuCalibration& calibration, GpuPrecision precision);

// The same as JSON (docs/results.md); null: uncalibrated. `gpu` is the name of the chip.
nlohmann::ordered_json calibration_source_json(const GpuCalibration& calibration,
                                               const std::string& gpu, GpuPrecision precision);

// The parts of a kernel's time [s]: of each resource, and before and after the main loop.
nlohmann::ordered_json time_json(const GpuTime& time);

}  // namespace mapsim
