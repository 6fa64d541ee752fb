// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "interop/timeloop_compare.hpp"

namespace mapsim {

// What Timeloop printed about a design: timeloop-model.stats.txt or timeloop-mapper.stats.txt.
// Energies of leakage, of address generators and of reductions are no part of it. Throws
// ConfigError where a storage, the compute units or a total is missing.
TimeloopResult read_timeloop_stats(const std::string& path, const TimeloopDesign& design);
TimeloopResult parse_timeloop_stats(const std::string& text, const std::string& filename,
                                    const TimeloopDesign& design);

}  // namespace mapsim
