// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace mapsim {

// A plan that was made elsewhere (`plan:`, docs/plans.md), in terms of an answer's groups and
// places. Throws ConfigError: nodes or engines that are not there, nodes in no group or in two,
// groups that no rule makes or that do not run where they are put, tensors without a way.
std::vector<PlanStep> load_given_plan(const std::string& path, const Soc& soc,
                                      const PlanAnswer& answer);

// The plan of an answer as such a file.
std::string plan_file(const Soc& soc, const Network& network, const PlanAnswer& answer);

}  // namespace mapsim
