// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "interop/onnx_model.hpp"

namespace mapsim {

// The newest opset whose operators are known: ONNX 1.22. In opsets 26 and 27 no older operator has
// other shapes than before.
inline constexpr std::int64_t kNewestOpset = 27;

// The opset of ONNX's own operators; 1: none is given.
std::int64_t opset_of(const Model& model);

// Throws ConfigError with this message about `file`.
[[noreturn]] void refuse_model(const std::string& file, const std::string& message);

// Throws ConfigError for an opset below 1, a tensor that is read before it is made or made twice,
// and an attribute of another type than its operator has. Returns warnings: an opset that is newer
// than those known, and the model's operators, which may have changed.
std::vector<std::string> check_onnx(const Model& model, const std::string& file);

// For a model of one input at a time that is run with `batch` inputs: shapes of Reshape and Expand
// that are constants with a leading 1 get a leading `batch`.
void stretch_shapes(Model& model, std::int64_t batch);

}  // namespace mapsim
