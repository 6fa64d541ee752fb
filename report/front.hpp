// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "core/quantity_text.hpp"
#include "mapper/front.hpp"

namespace mapsim {

// The two figures of a front: energy and latency; with `capacity`, the objective and that capacity
// (a curve).
struct FrontSubject {
  Objective objective;
  std::optional<CurveCapacity> capacity;
};

// The capacity that a curve varies, from "GLB", or from "spad:weight" for a level that is split by
// role. The text: what is wrong.
Parsed<CurveCapacity> parse_curve_capacity(const std::string& text, const Arch& arch);
// Its name for people: "GLB", "spad weight".
std::string capacity_name(const Arch& arch, const CurveCapacity& capacity);

// Seconds that these cycles take at the machine's clock.
double seconds_of(const Arch& arch, Cycles cycles);

// A table of the points, and what is proven, for people.
std::string front_text(const Mapspace& space, const FrontSubject& subject, const Front& front);

// The front as steps over latency, or over the capacity. A whole SVG file.
std::string front_svg(const Mapspace& space, const FrontSubject& subject, const Front& front);

}  // namespace mapsim
