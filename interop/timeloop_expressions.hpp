// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "core/document.hpp"
#include "interop/front_end.hpp"

namespace mapsim {

// Replaces the expressions of an architecture (`width: datawidth * 3`, `meshX: COLUMNS`,
// `factors: [C=SPLIT]`) by their values, as the front end does: they refer to the variables, to the
// attributes around a component and to its own, in any order; `spec.problem.instance` is the
// problem's. A text that has no value is left as it is: a name such as SRAM, or for the reader to
// complain about. `variables`: the sections of this name; `settings`: what was given besides;
// `problem` may be nullptr.
void resolve_expressions(Node& architecture, const std::vector<const Node*>& variables,
                         const FrontEndSettings& settings, const Node* problem);
// The same of the sizes of a problem.
void resolve_sizes(Node& problem, const std::vector<const Node*>& variables,
                   const FrontEndSettings& settings);

}  // namespace mapsim
