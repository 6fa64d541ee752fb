// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "core/reader.hpp"
#include "workloads/graph.hpp"

namespace mapsim {

// The keys of a network that is a graph, besides `name`.
Words graph_keys();

// The graph that a network file describes under `graph` (docs/formats.md, Graph). What is wrong
// goes to the reader; then the value is of no use. Files of layers are looked for beside the
// document, then among those that `configs` have.
NetworkGraph read_graph(Reader& reader, const Document& document, const Fields& fields,
                        const Words& configs);

}  // namespace mapsim
