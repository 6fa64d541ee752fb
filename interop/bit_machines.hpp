// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "core/document.hpp"
#include "core/reader.hpp"

namespace mapsim {

// mapsim has no model of machines that compute in memory or on slices of bits. Keys of their
// documents show what they are, so that this is the only error of such a document.
inline constexpr const char* kInMemory = "a machine that computes in memory is no part of mapsim";

// The first entry of a document, at any depth, whose key begins with `beginning`; or nullptr.
const Entry* key_anywhere(const Node& root, std::string_view beginning);

// An error of the reader if variables of CiMLoop's designs say what none of the components does.
void refuse_bit_machines(Reader& reader);

}  // namespace mapsim
