// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "mapper/mapper.hpp"

namespace mapsim {

// A layer may be computed in several forms (workloads/form.hpp), each searched by itself.

// A form that was tried, and the objective of its best mapping per frame; infinite if nothing fits.
struct TriedForm {
  Form form;
  double value = 0;
};

// The best mapping over the forms of a layer.
struct FormedResult {
  Problem problem;  // with the workload in the best form
  SearchResult result;
  std::vector<TriedForm> tried;
};

// Per frame: the figure that is minimised, and the one that decides ties.
struct ObjectiveValue {
  double value = std::numeric_limits<double>::infinity();  // nothing fits
  double second = 0;
};
ObjectiveValue objective_value_of(const Objective& objective, const SearchResult& result,
                                  std::int64_t frames = 1);
// Is `a` better than `b` by more than rounding, or as good and better in the second figure, if that
// counts?
bool is_better(const Objective& objective, const ObjectiveValue& a, const ObjectiveValue& b);

}  // namespace mapsim
