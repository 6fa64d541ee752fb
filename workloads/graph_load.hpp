// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "core/reader.hpp"
#include "workloads/graph.hpp"

namespace mapsim {

// The keys of a network that is a graph, besides `name`.
Words graph_keys();

// The graph that a network file describes under `graph` (docs/formats.md, Graph). Errors
// go to the reader; after one, the graph must not be used. Files of layers are looked for beside
// the document, then among those that `configs` have.
NetworkGraph read_graph(Reader& reader, const Document& document, const Fields& fields,
                        const Words& configs);

}  // namespace mapsim
