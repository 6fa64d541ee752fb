// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "workloads/workload.hpp"

namespace mapsim::check {

// Two machines that enclose a set of machines whose nodes differ in numbers alone: the largest
// resources at the lowest energies, and the smallest of everything.
struct Range {
  Arch most, least;
};
// Makes the range hold another machine's node, too. False: they differ in more than numbers.
bool widen(Storage& most, Storage& least, const Storage& other);
bool widen(Fanout& most, Fanout& least, const Fanout& other);
bool widen(Compute& most, Compute& least, const Compute& other);

// The resources of a range's larger machine, its energies, and all the rest of it. Between two
// ranges of equal `rest` every mapping of a machine with less of each resource is a mapping of the
// one with more, with the same counts and no more cycles there; its energy is a sum of counts times
// energies (docs/design.md, "The proof").
struct Comparable {
  std::string rest;
  std::vector<double> resources, energies;
};
Comparable comparable(const Range& range);
// What is left on a machine `now` of energies on a machine `then`, in which all of its mappings
// are: the least ratio of energies, at most 1. Negative: not all of them are.
double share_of_energies(const Comparable& then, const Comparable& now);

// Do sizes of arrays belong to the rest? They do more than add resources.
bool sizes_matter(const Arch& arch);

// What no machine of the range leaks less than [pJ a cycle]; of a layer, whose widths MACs have.
double least_leakage(const Range& range, const Workload* layer);
// The machine that no machine of the range is better than for a layer, as one to be searched.
Arch best_machine(const Range& range, const Workload* layer);
// With MACs of the widths of the layer whose MACs are largest [mm2]; nullopt: no node has an area.
std::optional<double> area_of(const Arch& arch, const std::vector<const Workload*>& layers);

}  // namespace mapsim::check
