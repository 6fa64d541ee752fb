// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "app/command.hpp"

namespace mapsim {

// mapsim export cuda: the text of a kernel, with what it takes to launch it. Throws UsageError,
// ConfigError.
Answer export_cuda(const ExportArguments& arguments);

}  // namespace mapsim
