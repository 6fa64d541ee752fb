// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace onnx {
class GraphProto;
}

namespace mapsim {

// Computes the whole numbers that models make of shapes (Shape, Gather, Concat, ... in front of a
// Reshape, Expand or Resize) as far as the shapes are known, and puts them into the graph as
// constants in place of the operators. libonnx 1.12 does this from opset 14 on, and for few
// operators. Returns how many operators went; with the constants in place inference knows more.
std::size_t fold_integers(onnx::GraphProto& graph);

}  // namespace mapsim
