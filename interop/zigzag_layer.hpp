// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "interop/zigzag.hpp"
#include "interop/zigzag_result.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// Reads a layer of a workload, with its item of a mapping (or nullptr), or with ZigZag's result for
// it (or nullptr). Throws ZigzagLeftOut or ConfigError with the reason if it has no counterpart.
ZigzagImport::Layer read_zigzag_layer(const ZigzagMachine& machine, const Node& layer,
                                      const Node* mapping, const ZigzagResult* result,
                                      std::vector<std::string>& notes);
// The workload of a layer, without its mapping. Throws in the same way.
Workload read_zigzag_workload(const Node& layer);
std::string zigzag_layer_name(const Node& layer);
std::string zigzag_upper(std::string text);                 // in upper case, as mapsim's dims
std::string zigzag_word(const Node& map, const char* key);  // empty: there is none

// mapsim's own key for a layer that occurs several times in a model.
inline constexpr const char* kZigzagCount = "count of layers";

// The layers of a network as a workload of ZigZag, with the widths that it gives an ONNX model:
// operands of 8 b, sums of 16 b. A note names each layer that is neither a convolution nor a matrix
// product.
Document zigzag_workload(const Network& network, const std::string& file,
                         std::vector<std::string>& notes);

}  // namespace mapsim
