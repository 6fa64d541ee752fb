// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace mapsim {

// `words` with every byte that XML does not allow replaced by U+FFFD.
std::string repaired(std::string_view words);
// repaired(), and escaped for HTML and SVG, between tags or in quotes.
std::string markup(std::string_view words);
// repaired(), as a JSON string with its quotes, which cannot end a script element around it.
std::string json_string(std::string_view words);

}  // namespace mapsim
