// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/quantity_text.hpp"
#include "plan/options.hpp"
#include "plan/soc.hpp"

namespace mapsim {

// The index of the engine of this name; the text: there is none, and what may have been meant.
Parsed<std::size_t> engine_named(const Soc& soc, const std::string& name);

// The chip with no engines but these (at least one; indices), in their order, and the transitions
// between them.
Soc with_engines(const Soc& soc, const std::vector<std::size_t>& engines);

// An option that does not go with another: "at-once", "is for latency".
struct OptionConflict {
  std::string option, why;
};
// The first conflict of the options of a plan of one frame; nullopt: there is none.
std::optional<OptionConflict> conflict_of(const PlanOptions& options);

}  // namespace mapsim
