// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "core/quantity_text.hpp"
#include "mapper/front.hpp"

namespace mapsim {

// What a front is of: energy against latency, or, with a capacity, an objective against its
// capacity.
struct FrontSubject {
  Objective objective;
  std::optional<CurveCapacity> capacity;
};

// "GLB", or "spad:weight" where a level is split by role: the capacity of a curve.
Parsed<CurveCapacity> parse_curve_capacity(const std::string& text, const Arch& arch);
// "GLB", "spad weight": the capacity of a curve.
std::string capacity_name(const Arch& arch, const CurveCapacity& capacity);

// [s]
double seconds_of(const Arch& arch, Cycles cycles);

// A table of the points, and what is proven: for people.
std::string front_text(const Mapspace& space, const FrontSubject& subject, const Front& front);

// The same as a picture: steps over latency, or over capacity. A whole SVG file.
std::string front_svg(const Mapspace& space, const FrontSubject& subject, const Front& front);

}  // namespace mapsim
