// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "check/check.hpp"

namespace mapsim::check {

// Checks a certificate whose mapspace is an engine's schedules (`rules: {schedules: nvdla}`), by
// evaluating every schedule of every form of the layer.
Verdict check_schedules(const Certificate& certificate, const CheckOptions& options);

}  // namespace mapsim::check
