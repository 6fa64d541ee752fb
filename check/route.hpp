// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "check/rules.hpp"

namespace mapsim::check {

// Hops from beside the first column of a mesh, in the middle of its rows, to a group of instances
// that are served together, on average over the groups:
// docs/model.md#networks. Every instance is looked at.
double mean_route(const Fanout& fanout, const Rules::AxisFactors& axes, DimSet shared);

}  // namespace mapsim::check
