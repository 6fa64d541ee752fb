// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "interop/onnx.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// A network file, or the layers of a model (FILE.onnx), for a batch of so many. Throws ConfigError:
// also for dims or a width of operands that are given to a file that is no model, for a batch that
// a model has no room for, and for a model without anything that has a price.
// `configs`: where the files that a network names may be shipped (core/shipped.hpp).
Network read_network(const std::string& path, const OnnxOptions& options,
                     const std::vector<std::string>& configs = {});

}  // namespace mapsim
