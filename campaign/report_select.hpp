// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "campaign/report_data.hpp"
#include "report/plots.hpp"

namespace mapsim {

// Selects the designs that a report shows, so that a page of 10^6 points can still be opened.

inline constexpr std::size_t kMostDots = 3000;    // designs in a figure
inline constexpr std::size_t kMostBars = 24;      // designs with a bar of their energy
inline constexpr std::size_t kMostRows = 12'000;  // of points, or of designs, over all studies

// The complete designs of a study and their points; points on the front are marked.
struct StudyPoints {
  std::vector<const DesignResult*> designs;
  std::vector<DesignPoint> points;  // without titles
};
StudyPoints design_points(const Study& study);

// The front, the chosen design and the ends of the axes, unless these are too many already; of
// other dots that cover each other the first one. Indices, ascending.
std::vector<std::size_t> drawn_points(const std::vector<DesignPoint>& points);
// The designs that get a bar: all, or the front from the least energy to the most.
std::vector<const DesignResult*> drawn_designs(const StudyPoints& points);
// The designs of a table with this many rows, `layers` rows per design (or one): all if they fit,
// else those on the front, then those with the least objective. In order.
std::vector<const DesignResult*> listed_designs(const Study& study, const StudyPoints& points,
                                                std::size_t rows, bool layers);
// Indices of the designs whose layers a report with `studies` studies shows.
std::vector<std::size_t> designs_to_read(const Study& study, std::size_t studies,
                                         const std::vector<std::size_t>& wanted);

}  // namespace mapsim
