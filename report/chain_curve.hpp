// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/fusion/chain_curve.hpp"
#include "report/json.hpp"

namespace mapsim {

// Least values of a chain as functions of one capacity, with and without fusion.
struct ChainCurves {
  CurveCapacity of;
  Objective objective{};
  ChainCurve spilled;  // layer by layer; intermediates pass through the outermost level
  ChainCurve on_chip;  // layer by layer; intermediates stay whole on chip where that pays
  ChainCurve fused;    // also with fusion groups
};

// A table of the steps of the three curves, and what is proven, for people.
std::string chain_curves_text(const Arch& arch, const EinsumChain& chain,
                              const ChainCurves& curves);
// The same as JSON (docs/results_keys.md).
std::string chain_curves_json(const Provenance& origin, const Arch& arch, const EinsumChain& chain,
                              const ChainCurves& curves);
// The three curves as steps over the capacity. A whole SVG file.
std::string chain_curves_svg(const Arch& arch, const EinsumChain& chain, const ChainCurves& curves);

}  // namespace mapsim
