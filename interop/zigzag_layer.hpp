// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "interop/zigzag.hpp"
#include "interop/zigzag_result.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// One layer of a workload, with the item of a mapping that is about it (or nullptr), or with what
// ZigZag found for it (or nullptr). Throws ZigzagLeftOut, or ConfigError, with why it has no
// counterpart.
ZigzagImport::Layer read_zigzag_layer(const ZigzagMachine& machine, const Node& layer,
                                      const Node* mapping, const ZigzagResult* result,
                                      std::vector<std::string>& notes);
// What it computes, whatever maps it. Throws alike.
Workload read_zigzag_workload(const Node& layer);
std::string zigzag_layer_name(const Node& layer);
std::string zigzag_upper(std::string text);                 // as dims are written here
std::string zigzag_word(const Node& map, const char* key);  // empty: there is none

// Key of a layer that a model has several times; no word of ZigZag's.
inline constexpr const char* kZigzagCount = "count of layers";

// The layers of a network in ZigZag's words, as it reads an ONNX model: operands of 8 b, sums of
// 16 b. A layer that is no convolution and no matrix product is named in a note.
Document zigzag_workload(const Network& network, const std::string& file,
                         std::vector<std::string>& notes);

}  // namespace mapsim
