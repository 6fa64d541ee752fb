// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "validate/metrics.hpp"

namespace mapsim {

// Errors of predicted times, as the JSON of calibrate, predict and validate has them.
inline nlohmann::ordered_json errors_json(const ErrorMetrics& errors) {
  return {{"count", errors.count},       {"mape", errors.mape},
          {"mape_low", errors.mape_low}, {"mape_high", errors.mape_high},
          {"median", errors.median},     {"ninetieth", errors.ninetieth},
          {"bias", errors.bias}};
}

}  // namespace mapsim
