// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "core/edit_distance.hpp"

namespace mapsim {

// What an operator of a graph does. Names are those of ONNX (onnx.ai/onnx/operators, opset 27).
enum class OpKind : std::uint8_t {
  kEinsum,     // multiplies and adds: has layers that a mapspace can be made of
  kPointwise,  // an element of the result from one element of each operand, which may repeat
  kSoftmax,    // needs a whole row before it gives any of it
  kNorm,       // the same; statistics of a row, a channel or a window
  kPool,       // windows of one operand, without weights
  kConcat,     // operands one behind the other along an axis
  kSplit,      // parts of one operand along an axis
  kTranspose,  // the same elements in another order
  kMove,       // copies of parts, sorts, reductions
  kAlias,      // another name for the same elements: moves nothing
  kOther       // nothing is known of it
};

// By its name; kEinsum is not in the table: what multiplies depends on where it is read.
OpKind op_kind(const std::string& op);
Words operators_of(OpKind kind);
const char* to_string(OpKind kind);  // "pointwise"

// Whether it reads only as much of its first operand as it writes: Gather, Slice.
bool reads_what_it_writes(const std::string& op);

// Operators that may ride on the node that makes their operand, at its registers: `epilogue`.
const Words& epilogue_words();

}  // namespace mapsim
