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

// The figures of a range that are compared. Let `now` and `then` have the same `rest`, and `then`
// no less of any resource. Then every mapping on a machine of `now` is one on the larger machine of
// `then`, with the same counts and no more cycles there. Its energy is a sum of counts times
// energies (docs/design.md, "The proof").
struct Comparable {
  std::string rest;
  std::vector<double> resources, energies;
};
Comparable comparable(const Range& range);
// A lower bound on energy(now) / energy(then), at most 1, if every mapping of `now` is a mapping of
// `then`; negative otherwise.
double share_of_energies(const Comparable& then, const Comparable& now);

// Do sizes of arrays belong to the rest? They do more than add resources.
bool sizes_matter(const Arch& arch);

// A lower bound on the leakage of any machine of the range [pJ a cycle]. `layer`: gives the widths
// of MACs.
double least_leakage(const Range& range, const Workload* layer);
// A machine, to be searched, that is at least as good for the layer as every machine of the range.
Arch best_machine(const Range& range, const Workload* layer);
// With MACs of the widths of the layer whose MACs are largest [mm2]; nullopt: no node has an area.
std::optional<double> area_of(const Arch& arch, const std::vector<const Workload*>& layers);

}  // namespace mapsim::check
