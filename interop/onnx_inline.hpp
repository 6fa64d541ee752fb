// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "interop/onnx_model.hpp"

namespace mapsim {

// Replaces calls of the model's own functions, which PyTorch's newer exporter writes, by their
// operators. Names inside get the name of the call's result as a prefix. Throws ConfigError about
// `file` if functions call themselves, or if far too many operators result.
void inline_functions(Model& model, const std::string& file);

// The operators and constants that replace an `If` whose branch is known. Names inside get the name
// of the result as a prefix. The branch must have as many results as the node.
struct TakenBranch {
  std::vector<ModelNode> nodes;
  std::vector<ModelTensor> constants;
};
TakenBranch taken_branch(const ModelNode& node, ModelGraph branch);

}  // namespace mapsim
