// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>

namespace mapsim::check {

// Set by somebody else when nobody waits any longer, and never taken back; none: somebody does.
struct Stop {
  const std::atomic<bool>* flag = nullptr;
  bool is_set() const { return flag != nullptr && flag->load(std::memory_order_relaxed); }
};

}  // namespace mapsim::check
