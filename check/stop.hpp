// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <optional>

namespace mapsim::check {

// The conditions to end work early: a flag, set if the result is not needed any more (it is never
// reset); or a point in time, after which the result so far is used.
struct Stop {
  using Clock = std::chrono::steady_clock;
  const std::atomic<bool>* flag = nullptr;
  std::optional<Clock::time_point> end{};

  bool is_cancelled() const { return flag != nullptr && flag->load(std::memory_order_relaxed); }
  bool is_set() const { return is_cancelled() || (end && Clock::now() >= *end); }
};

}  // namespace mapsim::check
