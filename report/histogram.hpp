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
  double least = 0;   // pJ, lower edge of the first bin
  double factor = 1;  // ratio of neighbouring edges
  std::vector<std::int64_t> counts;
  // Lower edge [pJ] of bin i.
  double edge(std::size_t i) const { return least * std::pow(factor, static_cast<double>(i)); }
};
inline constexpr std::size_t kHistogramBins = 60;  // of figures
// `histogram` must have a point.
HistogramBins make_bins(const Histogram& histogram, std::size_t bins);

// The distribution of energies as bars of text, and its main figures, for people.
std::string histogram_text(const Mapspace& space, const HistogramOptions& options,
                           const Histogram& histogram);

// The number of mappings over the energy, with the optimum marked. A whole SVG file.
std::string histogram_svg(const Mapspace& space, const HistogramOptions& options,
                          const Histogram& histogram);

}  // namespace mapsim
