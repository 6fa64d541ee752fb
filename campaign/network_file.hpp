// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "interop/onnx.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// A network file, or the layers of a model (FILE.onnx), for a batch of the given size. Throws
// ConfigError, also if dims or a width of operands are given for a file that is no model, if a
// model cannot take the batch, and if nothing in a model has a price. `configs`: folder of shipped
// files that a network may name (core/shipped.hpp).
Network read_network(const std::string& path, const OnnxOptions& options,
                     const std::vector<std::string>& configs = {});

}  // namespace mapsim
