// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>

#include "mapper/mapper.hpp"

namespace mapsim {

// The time of a budget, shared by several searches in turn, as is what they may take beyond it.
// Each has the whole memory.
class SharedBudget {
 public:
  explicit SharedBudget(const SearchOptions& options) : options_{options} {}

  // The options of the next search, with the time that is left. Negative: what others took beyond
  // the budget, of which there is less for this one (mapper/haste.hpp).
  SearchOptions rest() const {
    const double spent = std::chrono::duration<double>(Clock::now() - start_).count();
    SearchOptions rest = options_;
    rest.budget.seconds = options_.budget.seconds - spent;
    return rest;
  }
  // ... of which it has an even share, if so many searches are to come.
  SearchOptions share(double searches) const {
    SearchOptions share = rest();
    share.budget.seconds = share_of(share.budget.seconds, searches);
    return share;
  }
  // What was taken beyond a budget is not divided.
  static double share_of(double seconds, double searches) {
    return seconds > 0 ? seconds / searches : seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  SearchOptions options_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace mapsim
