// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "validate/metrics.hpp"

namespace mapsim {

// How far predicted times are from measured ones, for the JSON of calibrate and validate.
inline nlohmann::ordered_json errors_json(const ErrorMetrics& errors) {
  return {{"count", errors.count},       {"mape", errors.mape},
          {"mape_low", errors.mape_low}, {"mape_high", errors.mape_high},
          {"median", errors.median},     {"ninetieth", errors.ninetieth},
          {"bias", errors.bias}};
}

}  // namespace mapsim
