// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "campaign/campaign.hpp"

namespace mapsim {

// What is wrong with the value of a setting in itself, such as its unit: an error at its place in
// the architecture beside the first values of the grid, and with any one of these exchanged. What
// is wrong in some designs only is said of these designs. A value that fits only after two of the
// others are exchanged is refused, too. `beside`: the item of the list that the
// value is in; nullptr: it is in the grid, and stands beside each item.
std::optional<std::string> own_error(const Machine& machine, const Settings* beside,
                                     const Setting& tried);

}  // namespace mapsim
