// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "plan/plan.hpp"

namespace mapsim {

inline constexpr const char* kNoneInBudget =
    "none was found in this memory (--memory) and time (--budget)";

// Replaces the plan of the answer by the best plan that keeps the limits on latency and power, and
// the bound by a bound on all such plans. False: there is no such plan, or none was found; `misfit`
// may say why.
bool plan_within(const Soc& soc, const PlanOptions& options, PlanAnswer& answer);

// Where the tensors of the best plan, or they and its weights, take too much memory: the best plan
// that fits, as far as is found, and a bound on all that do; or `misfit`.
void keep_memory(const Soc& soc, const PlanOptions& options, PlanAnswer& answer);

MemoryMap memory_of(const PlanAnswer& answer);
// [B]. Constants that a node holds have the precision of its group, those that are tensors their
// own.
std::int64_t weights_of_plan(const PlanAnswer& answer);

}  // namespace mapsim
