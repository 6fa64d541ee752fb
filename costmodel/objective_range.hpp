// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/objective_function.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// Why values of an objective may exceed the largest number, for layers that run one after the other
// on a machine; empty: no mapping's value does. Such values are all infinite, so that no mapping is
// known to be better than another, or to fit. High powers of large energies have them.
std::string range_obstacle(const ObjectiveFunction& function, const Arch& arch,
                           const std::vector<Workload>& layers);

}  // namespace mapsim
