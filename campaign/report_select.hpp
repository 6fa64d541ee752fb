// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "campaign/report_data.hpp"
#include "report/plots.hpp"

namespace mapsim {

// What of many designs a report shows, so that a page of 10^6 points can still be opened.

inline constexpr std::size_t kMostDots = 3000;    // designs in a figure
inline constexpr std::size_t kMostBars = 24;      // designs with a bar of their energy
inline constexpr std::size_t kMostRows = 12'000;  // of points, or of designs, over all studies

// The complete designs of a study, and their points; those on the front are marked.
struct StudyPoints {
  std::vector<const DesignResult*> designs;
  std::vector<DesignPoint> points;  // without titles
};
StudyPoints design_points(const Study& study);

// Those on the front, the chosen one and the ends of the axes, unless they alone are too many; of
// other dots that would cover each other the first. Indices, ascending.
std::vector<std::size_t> drawn_points(const std::vector<DesignPoint>& points);
// The designs that get a bar: all, or the front from the least energy to the most.
std::vector<const DesignResult*> drawn_designs(const StudyPoints& points);
// The designs of a table of this many rows, `layers` of each (or one a design): all if there is
// room, else those on the front, then those with the least objective. In order.
std::vector<const DesignResult*> listed_designs(const Study& study, const StudyPoints& points,
                                                std::size_t rows, bool layers);
// Places of the designs whose layers a report of so many studies shows.
std::vector<std::size_t> designs_to_read(const Study& study, std::size_t studies,
                                         const std::vector<std::size_t>& wanted);

}  // namespace mapsim
