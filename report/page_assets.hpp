// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace mapsim {

// The files page.css and page.js, embedded by the build.
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;
// stepper.css and stepper.js, for pages that have a stepper.
extern const std::string_view kStepperStyle;
extern const std::string_view kStepperScript;

}  // namespace mapsim
