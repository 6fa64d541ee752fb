// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "check/check.hpp"

namespace mapsim::check {

// Does a certificate hold whose mapspace is an engine's schedules (`rules: {schedules: nvdla}`)?
// Every schedule of every form of the layer is evaluated.
Verdict check_schedules(const Certificate& certificate, const CheckOptions& options);

}  // namespace mapsim::check
