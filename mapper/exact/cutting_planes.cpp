// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/cutting_planes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace mapsim::exact {

namespace {

constexpr double kZero = 1e-11;  // of numbers of about 1
constexpr int kPivots = 500;

// Maximises the last variable subject to rows . x <= right, x >= 0, right >= 0.
class Simplex {
 public:
  explicit Simplex(std::size_t variables) : variables_{variables} {}

  void add(std::vector<double> row, double right) {
    rows_.push_back(std::move(row));
    rows_.back().push_back(right);
  }

  std::vector<double> solve() {
    std::vector<double> gain(variables_ + 1, 0.0);
    gain[variables_ - 1] = 1;
    basis_.clear();
    nonbasis_.clear();
    for (std::size_t j = 0; j < variables_; ++j) {
      nonbasis_.push_back(j);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      basis_.push_back(variables_ + i);
    }
    for (int pivots = 0; pivots < kPivots; ++pivots) {
      const auto column = entering(gain);
      const auto row = column ? leaving(*column) : std::nullopt;
      if (!row) {
        break;
      }
      pivot(*row, *column, gain);
    }
    std::vector<double> x(variables_, 0.0);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (basis_[i] < variables_) {
        x[basis_[i]] = rows_[i].back();
      }
    }
    return x;
  }

 private:
  // Bland's rule, which never cycles.
  std::optional<std::size_t> entering(const std::vector<double>& gain) const {
    std::optional<std::size_t> best;
    for (std::size_t j = 0; j < variables_; ++j) {
      if (gain[j] > kZero && (!best || nonbasis_[j] < nonbasis_[*best])) {
        best = j;
      }
    }
    return best;
  }
  std::optional<std::size_t> leaving(std::size_t column) const {
    std::optional<std::size_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double ratio = rows_[i].back() / rows_[i][column];
      if (rows_[i][column] > kZero &&
          (ratio < least || (ratio == least && basis_[i] < basis_[*best]))) {
        best = i;
        least = ratio;
      }
    }
    return best;
  }
  void pivot(std::size_t row, std::size_t column, std::vector<double>& gain) {
    const double by = rows_[row][column];
    for (double& entry : rows_[row]) {
      entry /= by;
    }
    rows_[row][column] = 1 / by;
    const auto clear = [&](std::vector<double>& other) {
      const double times = other[column];
      other[column] = 0;
      for (std::size_t j = 0; j <= variables_; ++j) {
        other[j] -= times * rows_[row][j];
      }
    };
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (i != row) {
        clear(rows_[i]);
        rows_[i].back() = std::max(0.0, rows_[i].back());
      }
    }
    clear(gain);
    std::swap(basis_[row], nonbasis_[column]);
  }

  std::size_t variables_;
  std::vector<std::vector<double>> rows_;  // the right-hand side last
  std::vector<std::size_t> basis_, nonbasis_;
};

}  // namespace

double CuttingPlanes::at(const std::vector<double>& x) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Plane& plane : planes_) {
    least =
        std::min(least, std::inner_product(x.begin(), x.end(), plane.slope.begin(), plane.value));
  }
  return least;
}

// In y = x / most, and the height over the least plane at 0, in units of the largest number.
std::vector<double> CuttingPlanes::highest(const std::vector<double>& most) const {
  double ground = std::numeric_limits<double>::infinity();
  double unit = 0;
  for (const Plane& plane : planes_) {
    ground = std::min(ground, plane.value);
  }
  for (const Plane& plane : planes_) {
    unit = std::max(unit, plane.value - ground);
    for (std::size_t j = 0; j < variables_; ++j) {
      unit = std::max(unit, std::abs(plane.slope[j] * most[j]));
    }
  }
  Simplex simplex(variables_ + 1);
  std::vector<double> row(variables_ + 1, 0.0);
  for (const Plane& plane : planes_) {
    for (std::size_t j = 0; j < variables_; ++j) {
      row[j] = -plane.slope[j] * most[j] / unit;
    }
    row[variables_] = 1;
    simplex.add(row, (plane.value - ground) / unit);
  }
  row[variables_] = 0;
  for (const Plane& limit : limits_) {
    double scale = limit.value;
    for (std::size_t j = 0; j < variables_; ++j) {
      row[j] = limit.slope[j] * most[j];
      scale = std::max(scale, std::abs(row[j]));
    }
    for (std::size_t j = 0; j < variables_ && scale > 0; ++j) {
      row[j] /= scale;
    }
    simplex.add(row, scale > 0 ? limit.value / scale : 0);
  }
  std::fill(row.begin(), row.end(), 0.0);
  for (std::size_t j = 0; j < variables_; ++j) {
    row[j] = 1;
    simplex.add(row, 1);
    row[j] = 0;
  }
  std::vector<double> x = simplex.solve();
  x.pop_back();
  for (std::size_t j = 0; j < variables_; ++j) {
    x[j] *= most[j];
  }
  return x;
}

}  // namespace mapsim::exact
