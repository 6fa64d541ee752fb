// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/arch.hpp"

namespace mapsim {

// An architecture as YAML (docs/formats.md), with a newline at the end. parse_arch() reads it back
// to the same value, to the last bit, but for where its numbers came from: they are written out.
std::string print_arch(const Arch& arch);

// What may be unrolled along an axis: "gemm_n, K", or "any dim".
std::string dims_text(const AxisConstraint& constraint);

}  // namespace mapsim
