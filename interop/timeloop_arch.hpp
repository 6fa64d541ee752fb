// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "interop/import_notes.hpp"
#include "interop/timeloop.hpp"
#include "interop/timeloop_components.hpp"

namespace mapsim {

// The section `arch` or `architecture`: the flat form (arithmetic, storage), the nested one
// (subtree, local) and the list of nodes of version 0.4, their templates resolved. Energies of
// accesses and MACs are not in it (arch/accelergy.hpp). What has no part in counts, cycles and
// energies (technology, ports for an estimator ...) is named in `notes`; whatever would change them
// and cannot be said here is an error. Constraints inside of components are collected for
// timeloop_constraints.hpp.
struct TimeloopArchSection {
  TimeloopMachine machine;
  ImportNotes notes;
  std::vector<TimeloopPlacedConstraint> constraints;
  // Of the class dummy_storage: no buffer, but a point where the front end unrolls loops.
  std::set<std::string> dummies;
};
TimeloopArchSection read_timeloop_arch(Reader& reader, const Node& section);

}  // namespace mapsim
