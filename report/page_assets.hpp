// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace mapsim {

// page.css and page.js as the build found them.
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;

}  // namespace mapsim
