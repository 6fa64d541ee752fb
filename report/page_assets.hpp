// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace mapsim {

// page.css and page.js as the build found them.
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;
// Of a page that has a stepper.
extern const std::string_view kStepperStyle;
extern const std::string_view kStepperScript;

}  // namespace mapsim
