// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <optional>

namespace mapsim::check {

// When work ends early: when a flag is set, because nobody waits for the result any more (it is
// never reset); or at a moment, after which the result so far is used.
struct Stop {
  using Clock = std::chrono::steady_clock;
  const std::atomic<bool>* flag = nullptr;
  std::optional<Clock::time_point> end{};

  bool is_cancelled() const { return flag != nullptr && flag->load(std::memory_order_relaxed); }
  bool is_set() const { return is_cancelled() || (end && Clock::now() >= *end); }
};

}  // namespace mapsim::check
