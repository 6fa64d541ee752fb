// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "arch/gpu.hpp"
#include "costmodel/gpu/estimate.hpp"

namespace mapsim {

// Which calibration prices `precision`, as Gpu::calibration() gave it: "uncalibrated"; the file of
// measurements; and, where it is shared, the chip and the precision that were measured, if they
// are others.
std::string calibration_source(const GpuCalibration& calibration, GpuPrecision precision);

// The same for programs (docs/results.md); null: uncalibrated. `gpu` is the name of the chip.
nlohmann::ordered_json calibration_source_json(const GpuCalibration& calibration,
                                               const std::string& gpu, GpuPrecision precision);

// Seconds of each resource, and of what a kernel does before and after its main loop.
nlohmann::ordered_json time_json(const GpuTime& time);

}  // namespace mapsim
