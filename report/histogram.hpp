// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mapper/histogram.hpp"

namespace mapsim {

// Bins of equal width in the logarithm of the energy.
struct HistogramBins {
  double least = 0;   // pJ, lower edge of the first
  double factor = 1;  // from one edge to the next
  std::vector<std::int64_t> counts;
  double edge(std::size_t i) const { return least * std::pow(factor, static_cast<double>(i)); }
};
inline constexpr std::size_t kHistogramBins = 60;                       // as drawn
HistogramBins make_bins(const Histogram& histogram, std::size_t bins);  // of one point or more

// The distribution as bars of text, and what stands out: for people.
std::string histogram_text(const Mapspace& space, const HistogramOptions& options,
                           const Histogram& histogram);

// The same as a picture: mappings by energy, the optimum marked. A whole SVG file.
std::string histogram_svg(const Mapspace& space, const HistogramOptions& options,
                          const Histogram& histogram);

}  // namespace mapsim
