// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace mapsim {

// Bytes that are no text become U+FFFD: in a file of XML they would be an error.
std::string repaired(std::string_view words);
// Words as they stand in HTML and in SVG, between tags or in quotes; repaired.
std::string markup(std::string_view words);
// Words as a string of JSON, quotes included, that cannot end a script element around it; repaired.
std::string json_string(std::string_view words);

}  // namespace mapsim
