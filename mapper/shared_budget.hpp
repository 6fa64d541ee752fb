// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <chrono>

#include "mapper/mapper.hpp"

namespace mapsim {

// The time of a budget, shared by several searches in turn. Each has the whole memory.
class SharedBudget {
 public:
  explicit SharedBudget(const SearchOptions& options) : options_{options} {}

  // The options of the next search, with the time that is left.
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
