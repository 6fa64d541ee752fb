// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace mapsim::exact {

// The upper model of a concave function of a few nonnegative variables: the least of some planes.
class CuttingPlanes {
 public:
  explicit CuttingPlanes(std::size_t variables) : variables_{variables} {}

  // The function is at most value + slope . x everywhere.
  void add(double value, std::vector<double> slope) {
    planes_.push_back({value, std::move(slope)});
  }
  // sum of weight . x <= most, most >= 0
  void require(std::vector<double> weight, double most) {
    limits_.push_back({most, std::move(weight)});
  }
  // Where the model is highest in the box 0 <= x <= most: a linear program, by the simplex method.
  std::vector<double> highest(const std::vector<double>& most) const;
  double at(const std::vector<double>& x) const;

 private:
  struct Plane {
    double value = 0;
    std::vector<double> slope;
  };
  std::size_t variables_;
  std::vector<Plane> planes_;
  std::vector<Plane> limits_;
};

}  // namespace mapsim::exact
