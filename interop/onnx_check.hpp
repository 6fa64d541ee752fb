// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "interop/onnx_model.hpp"

namespace mapsim {

// The newest opset whose operators are known here: ONNX 1.22. Of 26 and 27 no operator that was
// there before reads or makes anything of another shape.
inline constexpr std::int64_t kNewestOpset = 27;

// Of ONNX's own operators; 1: none is given.
std::int64_t opset_of(const Model& model);

// Throws ConfigError about a model of this file.
[[noreturn]] void refuse_model(const std::string& file, const std::string& message);

// Throws ConfigError about `file`: an opset below 1, a tensor that is read before it is made or
// made twice, an attribute of another type than its operator's. Returns warnings: an opset beyond
// those known here, with the model's operators, which may have changed.
std::vector<std::string> check_onnx(const Model& model, const std::string& file);

// The model's constants with leading 1 as a Reshape's or Expand's shape get a leading `batch`:
// models of one input at a time, run with more.
void stretch_shapes(Model& model, std::int64_t batch);

}  // namespace mapsim
