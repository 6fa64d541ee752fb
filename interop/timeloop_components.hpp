// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/reader.hpp"

namespace mapsim {

// A component of a Timeloop architecture, which may be written in several forms.
struct TimeloopComponent {
  std::string name;
  std::string klass;
  std::string subclass;                  // for estimators of energy and area; may be empty
  const Node* node = nullptr;            // where it is written
  std::vector<const Entry*> attributes;  // its own first, then those around it
  std::size_t own = 0;                   // how many are its own
  std::int64_t instances = 1;            // by the ranges around it
  std::int64_t mesh_x = 1;               // by spatial: {meshX, meshY} around it
  std::int64_t mesh_y = 1;
  const Node* multiplied_at = nullptr;  // the innermost of these ranges and meshes; or nullptr
  bool of_nodes = false;                // of version 0.4
  // Containers below it that make its fanout, or have one instance each.
  std::vector<std::string> fanout_names;
  std::vector<std::string> unit_names;
};

// A branch of a !Parallel.
struct TimeloopBranch {
  std::string name;            // empty: keeps nothing itself
  const Node* kept = nullptr;  // lists its data spaces
};

// Constraints inside of a component or container.
struct TimeloopPlacedConstraint {
  std::string target;
  const Node* node = nullptr;  // if there are branches, the !Parallel
  std::vector<TimeloopBranch> branches;
  // For a container or a component that makes a fanout: the component above it. Else empty.
  std::string above;
};

// `sparse_optimizations` of a component.
struct TimeloopPlacedSparse {
  std::string component;
  const Node* node = nullptr;
};

// All of an architecture, in the order of the file.
struct TimeloopComponents {
  std::vector<TimeloopComponent> list;  // outermost first
  std::vector<TimeloopPlacedSparse> sparse;
  std::vector<TimeloopPlacedConstraint> constraints;
};

// The name that the front end of version 0.4 gives the empty storage below which it puts the
// instances of a container or a component; is it such a name?
std::string timeloop_point_name(const std::string& node);
bool is_timeloop_point(const std::string& name);

// Our name of a fanout that has none of the front end's.
std::string timeloop_fanout_name(const std::string& above, const std::string& below);

// The section `arch` or `architecture`: the flat form (arithmetic, storage), the nested one
// (subtree, local), or the list of nodes of version 0.4.
TimeloopComponents read_timeloop_components(Reader& reader, const Node& section);

}  // namespace mapsim
