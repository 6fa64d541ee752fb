// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <limits>
#include <optional>

#include "mapper/mapper.hpp"

namespace mapsim {

// Until the caller says stop, or the seconds of the budget are over.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Deadline(const SearchOptions& options) : stop_{options.stop} {
    if (options.budget.seconds < std::numeric_limits<double>::infinity()) {
      deadline_ = start_ + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(options.budget.seconds));
    }
  }
  bool over() const {
    return (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) ||
           (deadline_ && Clock::now() >= *deadline_);
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  const std::atomic<bool>* stop_;
  Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> deadline_;
};

}  // namespace mapsim
