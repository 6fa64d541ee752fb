// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "core/reader.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// For readers of files that describe layers among other things: the keys of a layer, without its
// name, and the layer that a map with them describes. What is wrong goes to the reader.
Words layer_keys();
std::optional<Workload> read_layer(Reader& reader, const Fields& fields, const std::string& name);

}  // namespace mapsim
