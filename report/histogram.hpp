// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/histogram.hpp"

namespace mapsim {

// The distribution as bars of text, and what stands out: for people.
std::string histogram_text(const Mapspace& space, const HistogramOptions& options,
                           const Histogram& histogram);

// The same as a picture: mappings by energy, the optimum marked. A whole SVG file.
std::string histogram_svg(const Mapspace& space, const HistogramOptions& options,
                          const Histogram& histogram);

}  // namespace mapsim
