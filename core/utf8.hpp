// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace mapsim {

// The first byte that is not part of UTF-8 text: a malformed sequence, or a control character other
// than tab and line ends.
std::optional<std::size_t> first_non_text_byte(std::string_view text);

}  // namespace mapsim
