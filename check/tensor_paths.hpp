// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "check/boxes.hpp"
#include "check/rules.hpp"
#include "costmodel/fusion/branch.hpp"

namespace mapsim::check {

// A lower bound of the energy [pJ] of accesses and additions for these tensors, in all mappings of
// an unrolling: the cheapest path of each tensor through the levels that may keep it, to the
// compute units. The cost of a path grows with V, the elements that cross each boundary
// (docs/model.md). V is bounded in these ways, where O is the number of operations:
//
// - Copies. Instances that differ in dims that a tensor lacks each need their own elements: below
//   fanouts with n such instances V_child is at least n times the elements. With imperfect factors
//   n counts the instances that have work.
// - Stays. The transfer of an element begins a stay in each instance that it serves. If at most m
//   operations can take part in one stay, V_child >= O/m. If at most m can take part in the stays
//   of all instances that share the transfer, V_parent >= O/m (reuse.hpp has m). The tensors that
//   share a level bound each other's m, in an order of theirs; the cheapest order counts.
// - Sums. Each crossing sum leaves the child, and comes back unless the instance meets the element
//   for the first time. Networks that merge add V_in - V_out times (with imperfect factors perhaps
//   less, and nothing is counted). Sums are final at an end only if V equals their number there. In
//   a level they are stored as wide as they arrive.
//
// With windows of sums every element crosses once.
//
// For a box of unrollings each figure is taken where it costs least:
//
// - copies that elements need: the fewest, since each is a transfer;
// - copies to which no sum comes back: the most, since each saves a read-back;
// - instances that share: the most, since they divide transfers;
// - m: the largest, since O/m falls in m;
// - tiles that stay: divisors of what the common divisor of the instances leaves, since they
//   include those of each unrolling of the box; with imperfect factors any extents up to what the
//   fewest instances leave, and all indices of a dim where no tile stops the stay.
//
// `together`: tensors that share capacities; each other one has all capacities to itself. The
// result is 0 if there are too many paths. `entry`: all entries have one size; paths begin where
// tensors lie.
double least_paths(const Problem& problem, const Rules& rules, const ChoiceRanges& ranges,
                   const std::vector<TensorId>& together, const BranchEntry& entry = {});

// The same of all tensors, which phases (phases.hpp) bound in pairs: at each level, and at the
// outermost one those whose first keeps move furthest in, whatever levels these are at. 0: there
// are too many paths.
double least_paths_by_phases(const Problem& problem, const Rules& rules,
                             const ChoiceRanges& ranges);

}  // namespace mapsim::check
