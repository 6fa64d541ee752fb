// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <vector>

#include "core/document.hpp"
#include "interop/front_end.hpp"

namespace mapsim {

// Replaces the expressions of an architecture (`width: datawidth * 3`, `meshX: COLUMNS`, `factors:
// [C=SPLIT]`) by their values, like Timeloop's front end. They may refer to variables, to
// attributes around a component and to its own, in any order; `spec.problem.instance` is the
// problem's. A text without a value stays unchanged: it is a name such as SRAM, or an error that
// the reader reports. `variables`: the sections of this name, whose own expressions are replaced,
// too; `settings`: further values, of which
// those that are used are added to `asked`; `problem`: may be nullptr.
void resolve_expressions(Node& architecture, const std::vector<Node*>& variables,
                         const FrontEndSettings& settings, const Node* problem,
                         std::set<std::string>& asked);
// The same for the sizes of a problem, and its coefficients and densities.
void resolve_sizes(Node& problem, const std::vector<Node*>& variables,
                   const FrontEndSettings& settings, std::set<std::string>& asked);
// The same for the factors and splits of a mapping or of constraints.
void resolve_loops(Node& section, const std::vector<Node*>& variables,
                   const FrontEndSettings& settings, std::set<std::string>& asked);

}  // namespace mapsim
