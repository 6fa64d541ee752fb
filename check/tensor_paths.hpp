// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "check/boxes.hpp"
#include "check/entry.hpp"
#include "check/rules.hpp"

namespace mapsim::check {

// The least energy, in pJ, that accesses and additions for these tensors come to in any mapping of
// the unrolling: over all levels that may keep them, the cheapest path to the compute units. What a
// way costs grows with the elements V that cross each boundary (docs/model.md). With perfect
// factors and O operations, of a child of n instances' copies:
//
// - Instances that differ in dims that a tensor lacks need its elements each for themselves: below
//   fanouts of n such instances V_child is n times the elements, or more.
// - A transfer of an element leads to a stay in each instance that it serves. If no more than m
//   operations can take part in such a stay, V_child >= O/m; if no more than m in the stays of all
//   instances that share the transfer, V_parent >= O/m (stays.hpp has m). The tensors that share a
//   level bound each other's m, in one order of theirs: the cheapest one counts.
// - A sum of V_child leaves the child and comes back but for the first time that an instance meets
//   the element; networks that merge add V_in - V_out times; sums are final at an end iff V is
//   their number there, and lie as wide in a level as they come to it.
//
// Of windows of sums, and of imperfect factors, every element crosses once.
// Of a box of unrollings each figure is taken where it costs least: copies that are needed as few,
// and those that no sum comes back to, instances that share, and stays, as many as any of them has;
// tiles that stay are divisors of what the common divisor of their instances leaves.
// Together: tensors share capacities; else each has all of them for itself. Zero where there are
// too many paths to look at.
// `entry`: of one size; paths begin where tensors lie.
double least_paths(const Problem& problem, const Rules& rules, const ChoiceRanges& ranges,
                   const std::vector<TensorId>& together, const NestEntry& entry = {});

}  // namespace mapsim::check
