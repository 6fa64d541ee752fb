// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/objective_function.hpp"

namespace mapsim {

// Why a number of a machine may be replaced by that of another design in a bound of both
// (docs/design.md). kResources: capacities, array sizes, bandwidths: with more of one, all mappings
// of less stay, at the same cost. kEnergies: of one of a mapping's counts, which do not depend on
// it. kLeakage: an energy per time, summed over all instances. kAreas: no part of a mapping's cost.
enum class Lemma : std::uint8_t { kResources, kEnergies, kLeakage, kAreas };
const char* to_string(Lemma lemma);  // "resources"

// Are searches for this objective about fewer mappings than those that know the latency, which try
// folds with a remainder? Then they bound nothing but themselves.
bool leaves_out_remainders(const Arch& arch, const ObjectiveFunction& function);

// Two machines that enclose a set of designs. No mapping costs more on `most`, which has the
// largest resources at the lowest energies, than on any design of the set, and `least`, which has
// the smallest of everything, has no larger area and leaks no more than any of them.
struct Enclosure {
  Arch most, least;
};

// A node in both machines of an enclosure, which bound one design or several.
template <class Node>
struct NodeRange {
  Node most, least;
};
// The range that has all nodes of two ranges. nullopt: they differ in something that no lemma
// covers.
template <class Node>
std::optional<NodeRange<Node>> join(const NodeRange<Node>& a, const NodeRange<Node>& b);
extern template std::optional<NodeRange<Storage>> join(const NodeRange<Storage>&,
                                                       const NodeRange<Storage>&);
extern template std::optional<NodeRange<Fanout>> join(const NodeRange<Fanout>&,
                                                      const NodeRange<Fanout>&);
extern template std::optional<NodeRange<Compute>> join(const NodeRange<Compute>&,
                                                       const NodeRange<Compute>&);

// The parts of a machine to which the lemma on resources does not apply: none, the sizes of arrays,
// or all.
enum class Exception : std::uint8_t { kNone, kArraySizes, kEverything };
struct Excepted {
  Exception what = Exception::kNone;
  std::string reason;  // for people
};
// The exception that a machine needs. Hops, timing models and constraints cause it, because their
// counts or rules depend on the sizes of arrays.
Excepted exceptions(const Arch& arch, bool has_constraints);
// Do designs of an enclosure differ in a part to which the lemma does not apply?
bool breaks(const Excepted& excepted, const Enclosure& enclosure);

// A machine by its numbers, in a fixed order. Machines of equal `structure` differ in these alone,
// and the lemmas hold between them.
struct MachineNumbers {
  std::vector<double> resources, energies;
};
MachineNumbers numbers_of(const Arch& arch);
std::string structure_of(const Arch& arch, const Excepted& excepted);

// How two designs differ, for people: "GLB.capacity"; empty where a lemma covers all of it.
std::string uncovered(const Arch& a, const Arch& b);

// Sorts values of an axis: more of each resource, and then higher energies, come later.
double rank_of(const Arch& arch);

}  // namespace mapsim
