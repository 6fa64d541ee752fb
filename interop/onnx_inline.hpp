// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "interop/onnx_model.hpp"

namespace mapsim {

// Puts the operators of the model's own functions (what PyTorch's newer exporter writes) in place
// of the calls; names inside get the call's result in front. Throws ConfigError about `file` where
// functions call themselves, or far too many operators result.
void inline_functions(Model& model, const std::string& file);

// The operators and constants of the branch that an `If` takes, in place of it; what is made inside
// gets the result's name in front. The branch has as many results as the node.
struct TakenBranch {
  std::vector<ModelNode> nodes;
  std::vector<ModelTensor> constants;
};
TakenBranch taken_branch(const ModelNode& node, ModelGraph branch);

}  // namespace mapsim
