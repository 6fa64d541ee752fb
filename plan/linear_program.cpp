// SPDX-License-Identifier: Apache-2.0
#include "plan/linear_program.hpp"

#include <cstddef>
#include <limits>

namespace mapsim {

namespace {

constexpr double kZero = 1e-12;  // of numbers that are scaled to about 1

// Rows, then the row of gains; columns, then slacks, then what is left of the capacities.
class Tableau {
 public:
  explicit Tableau(const LinearProgram& program)
      : rows_{program.capacities.size()},
        columns_{program.columns.size()},
        cells_(rows_ + 1, std::vector<double>(columns_ + rows_ + 1, 0)),
        basis_(rows_) {
    for (std::size_t r = 0; r < rows_; ++r) {
      for (std::size_t c = 0; c < columns_; ++c) {
        cells_[r][c] = program.columns[c][r] / program.capacities[r];
      }
      cells_[r][columns_ + r] = 1;
      cells_[r].back() = 1;
      basis_[r] = columns_ + r;
    }
    for (std::size_t c = 0; c < columns_; ++c) {
      cells_[rows_][c] = -program.gains[c];
    }
  }

  void solve() {
    for (std::size_t entering = first_gain(); entering < columns_ + rows_;
         entering = first_gain()) {
      pivot(leaving(entering), entering);
    }
  }

  LinearSolution solution(const LinearProgram& program) const {
    LinearSolution found{cells_[rows_].back(), std::vector<double>(columns_, 0), {}};
    for (std::size_t r = 0; r < rows_; ++r) {
      if (basis_[r] < columns_) {
        found.x[basis_[r]] = cells_[r].back();
      }
      found.duals.push_back(cells_[rows_][columns_ + r] / program.capacities[r]);
    }
    return found;
  }

 private:
  std::size_t first_gain() const {
    std::size_t c = 0;
    while (c < columns_ + rows_ && cells_[rows_][c] >= -kZero) {
      ++c;
    }
    return c;
  }

  // Of the rows that bound the entering column most, the one whose basic column comes first. Every
  // column takes some of a capacity, so that there is one.
  std::size_t leaving(std::size_t entering) const {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < rows_; ++r) {
      if (cells_[r][entering] <= kZero) {
        continue;
      }
      const double ratio = cells_[r].back() / cells_[r][entering];
      if (ratio < least || (ratio == least && basis_[r] < basis_[best])) {
        least = ratio;
        best = r;
      }
    }
    return best;
  }

  void pivot(std::size_t row, std::size_t column) {
    const double by = cells_[row][column];
    for (double& cell : cells_[row]) {
      cell /= by;
    }
    for (std::size_t r = 0; r <= rows_; ++r) {
      const double factor = cells_[r][column];
      if (r == row || factor == 0) {
        continue;
      }
      for (std::size_t c = 0; c < cells_[r].size(); ++c) {
        cells_[r][c] -= factor * cells_[row][c];
      }
    }
    basis_[row] = column;
  }

  std::size_t rows_, columns_;
  std::vector<std::vector<double>> cells_;
  std::vector<std::size_t> basis_;
};

}  // namespace

LinearSolution solve(const LinearProgram& program) {
  Tableau tableau{program};
  tableau.solve();
  return tableau.solution(program);
}

}  // namespace mapsim
