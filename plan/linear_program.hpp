// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace mapsim {

// max sum of gains * x, where every row's sum of columns * x is at most its room and x >= 0. Rooms
// are positive.
struct LinearProgram {
  std::vector<double> rooms;                 // by row
  std::vector<std::vector<double>> columns;  // each by row, >= 0 and somewhere above 0
  std::vector<double> gains;                 // by column
};
struct LinearSolution {
  double value = 0;
  std::vector<double> x;      // by column
  std::vector<double> duals;  // by row, >= 0: what a unit more of its room gains
};

// The simplex method on a dense tableau (Dantzig 1951), entering columns by Bland's rule (1977), so
// that it ends. For a dozen rows and some dozen columns.
LinearSolution solve(const LinearProgram& program);

}  // namespace mapsim
