// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "validate/calibrate.hpp"
#include "validate/predictions.hpp"

namespace mapsim {

// The result of `calibrate` as JSON (docs/results_keys.md). `head`: JSON text of an object with the
// keys that the result begins with. NaN and infinite numbers become null.
std::string calibration_json(const std::string& head, const Gpu& gpu, const CacheEvidence& cache,
                             const std::vector<GroupCalibration>& groups);

}  // namespace mapsim
