// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "core/document.hpp"

namespace mapsim {

// Machines that compute in memory, or on slices of bits, are no part of mapsim. Keys of their
// documents tell that before anything else in them is complained about.
inline constexpr const char* kInMemory = "a machine that computes in memory is no part of mapsim";

// The first key of a document, at any depth, that begins like this, with its value; or nullptr.
const Entry* key_anywhere(const Node& root, std::string_view beginning);

}  // namespace mapsim
