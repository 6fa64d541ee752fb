// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/arch.hpp"

namespace mapsim {

// An architecture as YAML (docs/formats.md), with a newline at the end. parse_arch() reads it back
// to the same value, to the last bit, except for the sources of its numbers, which are written out.
std::string print_arch(const Arch& arch);

// The dims that may be unrolled along an axis: "gemm_n, K", or "any dim".
std::string dims_text(const AxisConstraint& constraint);

}  // namespace mapsim
