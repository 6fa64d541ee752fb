// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "check/chain_objective.hpp"
#include "check/goal.hpp"

namespace mapsim::check {

// No mapping tree has less of a sum over einsums (is_sum_over_einsums) [pJ, cycles].
struct ProvenSum {
  ObjectiveFunction function = ObjectiveFunction::product(1, 0);
  double least = 0;
};

// A lower bound of the goal's function for all trees within its limits, from their least sums;
// infinite: they say that there is no such tree. The function is quasi-concave: on a line between
// two points it is nowhere less than at the better one.
double least_of_sums(const Goal& goal, const std::vector<ProvenSum>& sums);

// The sums that are needed for a bound of at least `enough`; at least one.
std::vector<ProvenSum> needed_sums(const Goal& goal, std::vector<ProvenSum> sums, double enough);

}  // namespace mapsim::check
