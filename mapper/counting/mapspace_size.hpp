// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// The exact number of mappings of a space, decimal, by a closed form (docs/mapspace.md). Throws
// UnsupportedSearch if there is none: imperfect factors under rules, or large extent domains.
std::string mapspace_size(const Mapspace& space);
// The same. nullopt if `stop` returns true, or if there is no closed form.
std::optional<std::string> mapspace_size_unless(const Mapspace& space,
                                                const std::function<bool()>& stop);

}  // namespace mapsim
