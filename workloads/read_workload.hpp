// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "workloads/precision.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// For readers of files that describe layers among other things: the keys of a layer, without its
// name, and the layer that a map with them describes. What is wrong goes to the reader.
Words layer_keys();

// What a layer has where its own description says nothing: shapes of its operands, in their order,
// for the sizes of a convolution's input and of a product (empty: not known), and widths.
struct LayerDefaults {
  std::vector<std::vector<std::int64_t>> operands{};
  Precision precision{};
  Words configs{};  // folders with shipped files, for layers that a file of another names
};
std::optional<Workload> read_layer(Reader& reader, const Fields& fields, const std::string& name,
                                   const LayerDefaults& defaults = {});

// The same, or the layer of `workload: FILE`, relative to the folder of `document`, else shipped.
// The path of that file goes to `path`.
std::optional<Workload> read_layer_or_file(Reader& reader, const Document& document,
                                           const Fields& fields, const std::string& name,
                                           const LayerDefaults& defaults, std::string& path);

// Widths by role, and `partial`.
Precision read_default_precision(Reader& reader, const Node* node);

// VALUE for both axes, or [HEIGHT, WIDTH].
std::optional<std::array<std::int64_t, 2>> read_pair(Reader& reader, const Node* node,
                                                     std::int64_t least);

}  // namespace mapsim
