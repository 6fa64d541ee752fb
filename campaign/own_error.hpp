// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "campaign/campaign.hpp"

namespace mapsim {

// The error of a setting's value by itself, such as its unit: an error at the value's place in the
// architecture with the first values of the grid, and also after any one of these is exchanged.
// Errors of some designs only are reported for these designs. A value that fits only after two
// other values are exchanged is refused, too. `beside`: the item of the list with the value;
// nullptr: the value is in the grid, and combined with each item.
std::optional<std::string> own_error(const Machine& machine, const Settings* beside,
                                     const Setting& tried);

}  // namespace mapsim
