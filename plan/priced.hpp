// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace mapsim {

// The parts that plans of a frame and of a stream of frames are made from.

// Groups of the first place, and their prices at all places. `batches`: by engine; prices are by
// the frame.
struct Offer {
  Groups groups;
  Prices prices;
};
Offer offer_of(const std::vector<Place>& places, const Versions& versions, Pricing& pricing,
               const PlanOptions& options, Fusion fusion, const std::vector<std::int64_t>& batches);

// What the search is given: costs of groups at places, in numbers.
PlanProblem problem_of(const Soc& soc, const std::vector<Place>& places, const Versions& versions,
                       const Offer& offer, const Pricing& pricing,
                       const std::vector<std::int64_t>& batches);
// The same with all engines but one left out.
PlanProblem only_on(PlanProblem problem, const std::vector<Place>& places, std::size_t engine);

// What steps take, one after the other; with their prices if these are given.
Plan plan_of(const PlanProblem& problem, const std::vector<PlanStep>& steps,
             const Prices* prices = nullptr);

// Throws ConfigError about `file` if nothing has a price, or an operation runs on no engine.
void check_engines(const Soc& soc, const std::vector<Place>& places, const Operations& operations,
                   const Offer& offer, const std::string& file);
// Throws ConfigError: operations run, but tensors do not get there.
[[noreturn]] void fail_without_plan(const Soc& soc, const Network& network,
                                    const std::vector<Place>& places, const Operations& operations,
                                    const PlanProblem& problem, const std::string& soc_file);

std::vector<std::string> unpriced_of(const Operations& operations);

}  // namespace mapsim
