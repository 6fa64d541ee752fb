// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace onnx {
class ModelProto;
}

namespace mapsim {

// Puts the operators of the model's own functions (what PyTorch's newer exporter writes) in place
// of the calls; names inside get the call's result in front. Throws ConfigError about `file` where
// functions call themselves, or a million operators result.
void inline_functions(onnx::ModelProto& model, const std::string& file);

}  // namespace mapsim
