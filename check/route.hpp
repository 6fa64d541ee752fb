// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "check/rules.hpp"

namespace mapsim::check {

// The mean number of hops to a group of instances that one transfer serves. A route begins next to
// the first column of a mesh, at the middle of its rows (docs/model.md#networks). Computed by
// visiting every instance.
double mean_route(const Fanout& fanout, const Rules::AxisFactors& axes, DimSet shared);

}  // namespace mapsim::check
