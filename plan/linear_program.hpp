// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace mapsim {

// Maximises the sum of gains * x subject to x >= 0 and, for each row, a sum of columns * x of at
// most the row's capacity, which is positive.
struct LinearProgram {
  std::vector<double> capacities;            // by row
  std::vector<std::vector<double>> columns;  // each by row, >= 0 and somewhere above 0
  std::vector<double> gains;                 // by column
};
struct LinearSolution {
  double value = 0;
  std::vector<double> x;      // by column
  std::vector<double> duals;  // by row, >= 0: the gain of one more unit of its capacity
};

// The simplex method on a dense tableau (Dantzig 1951), entering columns by Bland's rule (1977), so
// that it ends. For a dozen rows and some dozen columns.
LinearSolution solve(const LinearProgram& program);

}  // namespace mapsim
