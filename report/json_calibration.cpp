// SPDX-License-Identifier: Apache-2.0
#include "report/json_calibration.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace mapsim {

std::string calibration_source(const GpuCalibration& calibration, GpuPrecision precision) {
  if (calibration.fitted_from.empty()) {
    return "uncalibrated";
  }
  const GpuPrecision fitted = calibration.precision.value_or(precision);
  const std::string chip =
      calibration.fitted_on.empty() ? "" : fmt::format(" on {}", calibration.fitted_on);
  const std::string format = fitted == precision ? "" : fmt::format(" in {}", to_string(fitted));
  return fmt::format("calibrated on {}{}{}{}", calibration.fitted_from,
                     chip.empty() && format.empty() ? "" : ", measured", chip, format);
}

nlohmann::ordered_json calibration_source_json(const GpuCalibration& calibration,
                                               const std::string& gpu, GpuPrecision precision) {
  nlohmann::ordered_json json;
  if (calibration.fitted_from.empty()) {
    return json;
  }
  const GpuPrecision fitted = calibration.precision.value_or(precision);
  json = nlohmann::ordered_json::object();
  json["fitted_from"] = calibration.fitted_from;
  json["chip"] = calibration.fitted_on.empty() ? gpu : calibration.fitted_on;
  json["precision"] = to_string(fitted);
  json["path"] = calibration.path ? nlohmann::ordered_json(to_string(*calibration.path))
                                  : nlohmann::ordered_json();  // null: a library's kernels
  json["shared"] = !calibration.fitted_on.empty() || fitted != precision;
  json["log_error_90"] = calibration.error;
  return json;
}

}  // namespace mapsim
