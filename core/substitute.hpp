// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/document.hpp"

namespace mapsim {

// Puts `value` where `path` leads in the tree of an architecture file, so that whoever reads the
// tree next says what is wrong with it, at the place of the value that was there. A path is made of
// keys and positions as errors print them, nodes[1].capacity, and an item of a list may go by its
// name, nodes.GLB.capacity: the value of its key storage, fanout, compute or name. The last key may
// be new. Returns what is wrong with the path, or nothing. A map is replaced by maps only: a number
// in place of {size: 14, dims: [P]} would drop the dims silently.
std::optional<std::string> substitute(Node& root, std::string_view path, const Node& value);

// The value to which such a path leads; nullptr: nothing is there.
const Node* find(Node& root, std::string_view path);

// A value as YAML in one line, without comments and layout: equal texts, equal values.
std::string flow_text(const Node& node);

}  // namespace mapsim
