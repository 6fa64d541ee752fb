// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "check/certificate.hpp"
#include "check/check.hpp"
#include "costmodel/evaluate.hpp"

namespace mapsim::check {

// The figures of a mapping that costs this; of several frames that are computed together, those of
// one. Infinite beyond the limits, which are about all of them.
Figures figures_of(const Problem& problem, const Goal& goal, const Cost& cost);

// What is wrong with a point of a certificate, whatever the mapspace: its mapping fits, is within
// the limits, and has the figures that are claimed; if it takes no more than `max_steps`, the
// reference simulator counts the same, which sets `walked`. Nothing: no fault.
std::vector<std::string> faults_of_point(const Problem& problem, const Goal& goal,
                                         const Point& point, std::int64_t max_steps, bool& walked);

}  // namespace mapsim::check
