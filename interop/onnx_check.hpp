// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace onnx {
class GraphProto;
class ModelProto;
}  // namespace onnx

namespace mapsim {

// Throws ConfigError about `file`: an opset below 1 or newer than any known here, a tensor that is
// read before it is made or made twice, an attribute of another type than its operator's.
void check_onnx(const onnx::ModelProto& model, const std::string& file);

// Prepares a model for libonnx's inference: operators of opsets that are newer than the library and
// have another form there are put in the form that it knows (axes of reductions), or else under a
// name that it does not know, so that it tells nothing of them; likewise Tile and Pad by numbers
// beyond 2^31, which overflow there.
void fit_library(onnx::ModelProto& model);

// The model's constants with leading 1 as a Reshape's or Expand's shape get a leading `batch`:
// models of one input at a time, run with more.
void stretch_shapes(onnx::GraphProto& graph, std::int64_t batch);

}  // namespace mapsim
