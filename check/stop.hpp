// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <optional>

namespace mapsim::check {

// When work is to end early: when somebody who no longer waits sets the flag, which is never taken
// back, or at a moment, when what is known by then will do.
struct Stop {
  using Clock = std::chrono::steady_clock;
  const std::atomic<bool>* flag = nullptr;
  std::optional<Clock::time_point> end{};

  bool is_given_up() const { return flag != nullptr && flag->load(std::memory_order_relaxed); }
  bool is_set() const { return is_given_up() || (end && Clock::now() >= *end); }
};

}  // namespace mapsim::check
