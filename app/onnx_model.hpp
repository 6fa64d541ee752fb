// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/arguments.hpp"
#include "interop/onnx.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// The values of options NAME=N, by name. Throws UsageError where one is not that, or below `least`.
std::map<std::string, std::int64_t> numbers_of(const std::vector<std::string>& texts,
                                               const char* option, std::int64_t least);

OnnxOptions options_of(const OnnxArguments& arguments);

// A network file, or the layers of a model (FILE.onnx). Throws ConfigError, UsageError.
Network network_of(const std::string& path, const OnnxArguments& arguments);

}  // namespace mapsim
