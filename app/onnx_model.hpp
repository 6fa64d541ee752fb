// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "app/arguments.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// A network file, or the layers of a model (FILE.onnx). Throws ConfigError, UsageError.
Network network_of(const std::string& path, const OnnxArguments& arguments);

}  // namespace mapsim
