// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace onnx {
class GraphProto;
class ModelProto;
}  // namespace onnx

namespace mapsim {

// Puts the operators of the model's own functions (what PyTorch's newer exporter writes) in place
// of the calls; names inside get the call's result in front. Throws ConfigError about `file` where
// functions call themselves, or a million operators result.
void inline_functions(onnx::ModelProto& model, const std::string& file);

// Puts the branch that runs in place of each `If` whose condition is among the constants of
// `known`, the same graph after folding (PyTorch asks so whether an axis to squeeze is 1). Returns
// whether there was one.
bool take_branches(onnx::GraphProto& graph, const onnx::GraphProto& known);

}  // namespace mapsim
