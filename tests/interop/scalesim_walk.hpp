// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "interop/scalesim_compat.hpp"

namespace mapsim {

// The same figures by the long way: matrices of requests, cycle by cycle and port by port, with the
// gaps and skews that a systolic array has, pushed word by word through buffers that are lists.
// Slow.
ScaleSimFigures walk_scalesim(const ScaleSimConfig& config, const ScaleSimLayer& layer);

}  // namespace mapsim
