// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "check/certificate.hpp"
#include "check/check.hpp"
#include "costmodel/evaluate.hpp"

namespace mapsim::check {

// The figures of a mapping with this cost. If several frames are computed together, they are per
// frame. Infinite beyond the limits, which apply to all frames together.
Figures figures_of(const Problem& problem, const Goal& goal, const Cost& cost);

// The faults of a point of a certificate, independent of the mapspace; empty: none. The mapping
// must fit, be within the limits, and have the claimed figures. If it has at most `max_steps` MACs,
// the reference simulator must count the same; this sets `walked`.
std::vector<std::string> faults_of_point(const Problem& problem, const Goal& goal,
                                         const Point& point, std::int64_t max_steps, bool& walked);

}  // namespace mapsim::check
