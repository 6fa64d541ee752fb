// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>

#include "mapper/deadline.hpp"

namespace mapsim {

// Beyond its budget, or after its caller stopped it, a search has a tenth of a second for what an
// answer is poor without: some mapping, the size of the space. A budget that was over before the
// search began (SharedBudget) leaves it less. Threads share it.
class Haste {
 public:
  static constexpr double kSeconds = 0.1;
  // Both outlive it.
  Haste(const SearchOptions& options, const Deadline& deadline)
      : stop_{options.stop}, deadline_{deadline}, end_{options.budget.seconds + kSeconds} {}

  bool over() const {
    const double now = deadline_.seconds();
    double end = end_;
    if (stop_ != nullptr && *stop_ && now + kSeconds < end) {
      end_.compare_exchange_strong(end, now + kSeconds);
    }
    return now >= end_;
  }
  // Did other searches of the budget leave nothing?
  static bool is_over_before(const Budget& budget) { return budget.seconds <= -kSeconds; }

 private:
  const std::atomic<bool>* stop_;
  const Deadline& deadline_;
  mutable std::atomic<double> end_;
};

}  // namespace mapsim
