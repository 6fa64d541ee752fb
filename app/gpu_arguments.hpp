// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "app/output.hpp"

namespace mapsim {

// Of a search of kernels, on a GPU; what is empty was not given.
struct KernelArguments {
  std::optional<std::int64_t> top;  // how many to print
  std::string precision, path;      // by their to_string()
  std::string layout, format;       // format: of --export
  bool any() const {
    return top || !precision.empty() || !path.empty() || !layout.empty() || !format.empty();
  }
};

// mapsim calibrate.
struct CalibrateArguments {
  std::string measurements;
  std::string arch;
  std::string gpu;         // whose rows; empty: the architecture's name
  std::string calibrated;  // the architecture with its calibration goes here, unless empty
  std::int64_t folds = 5;
  std::int64_t fit_rows = 1500;
  std::int64_t seed = 1;
  Output output;
};

}  // namespace mapsim
