// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "validate/calibrate.hpp"
#include "validate/predictions.hpp"

namespace mapsim {

// What a calibration gave, for programs (docs/results.md). `head`: JSON text of an object that the
// result begins with. NaN and infinite become null.
std::string calibration_json(const std::string& head, const Gpu& gpu, const CacheEvidence& cache,
                             const std::vector<GroupCalibration>& groups);

}  // namespace mapsim
