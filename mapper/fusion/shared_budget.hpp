// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <chrono>

#include "mapper/mapper.hpp"

namespace mapsim {

// The time of a budget for several searches, one after the other. Their memory needs no dividing.
class SharedBudget {
 public:
  explicit SharedBudget(const SearchOptions& options) : options_{options} {}

  // Options of the next search: what is left.
  SearchOptions rest() const {
    const double spent = std::chrono::duration<double>(Clock::now() - start_).count();
    SearchOptions rest = options_;
    rest.budget.seconds = std::max(0.0, options_.budget.seconds - spent);
    return rest;
  }

 private:
  using Clock = std::chrono::steady_clock;
  SearchOptions options_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace mapsim
