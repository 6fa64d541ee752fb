// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/fusion/chain_curve.hpp"
#include "report/json.hpp"

namespace mapsim {

// What fusion brings, over a capacity.
struct ChainCurves {
  CurveCapacity of;
  ChainCurve spilled;  // layer by layer, all that passes between layers in the outermost level
  ChainCurve on_chip;  // layer by layer, intermediates held whole on chip where that pays
  ChainCurve fused;    // groups of einsums besides
};

// The steps of the three, and what is proven.
std::string chain_curves_text(const Arch& arch, const EinsumChain& chain,
                              const ChainCurves& curves);
std::string chain_curves_json(const Provenance& origin, const Arch& arch, const EinsumChain& chain,
                              const ChainCurves& curves);
// The three as steps over the capacity. A whole SVG file.
std::string chain_curves_svg(const Arch& arch, const EinsumChain& chain, const ChainCurves& curves);

}  // namespace mapsim
