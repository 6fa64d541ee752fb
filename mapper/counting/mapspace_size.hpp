// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// Exact number of mappings of a space, as a decimal string. By a closed form: docs/mapspace.md.
// Throws UnsupportedSearch where that is beyond it: imperfect factors under rules, large extent
// domains.
std::string mapspace_size(const Mapspace& space);
// The same; nullopt once `stop` returns true, or where the number is beyond the closed form.
std::optional<std::string> mapspace_size_unless(const Mapspace& space,
                                                const std::function<bool()>& stop);

}  // namespace mapsim
