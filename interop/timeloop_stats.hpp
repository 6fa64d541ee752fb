// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "interop/timeloop_compare.hpp"

namespace mapsim {

// Reads Timeloop's figures of a design: timeloop-model.stats.txt or timeloop-mapper.stats.txt.
// Energies of leakage, address generators and reductions are not read. Throws ConfigError if a
// storage, the compute units or a total is missing.
TimeloopResult read_timeloop_stats(const std::string& path, const TimeloopDesign& design);
TimeloopResult parse_timeloop_stats(const std::string& text, const std::string& filename,
                                    const TimeloopDesign& design);

}  // namespace mapsim
