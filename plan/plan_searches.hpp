// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace mapsim {

// A search for plans had to drop partial plans for want of memory or time, and no other led to the
// end.
struct NoPlanInBudget {};

// A plan was given up, since its caller asked for it.
struct PlanStopped {};

// The searches for plans of one problem: what each may take of memory, and all of time, and what
// they took.
struct PlanSearches {
  using Clock = std::chrono::steady_clock;
  std::size_t bytes = std::numeric_limits<std::size_t>::max();  // each may take
  Clock::time_point last = Clock::time_point::max();            // when all should have ended
  const std::atomic<bool>* stop = nullptr;  // set by the caller: they throw PlanStopped
  std::int64_t count = 0;
  // Those that dropped partial plans from which a better one, or one as good, may have come.
  std::int64_t ended_early = 0;
  std::size_t peak_bytes = 0;
  bool are_groups_cut = false;  // not all that the rules allow were looked at, for want of memory

  // When a search that begins now should end: half of the time that is left remains for others.
  Clock::time_point end() const {
    constexpr int kParts = 2;
    const Clock::time_point now = Clock::now();
    return last == Clock::time_point::max()
               ? last
               : now + std::max(last - now, Clock::duration{}) / kParts;
  }
  static Clock::time_point end_in(double seconds) {
    constexpr double kYear = 3e7;
    return seconds < kYear ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                std::chrono::duration<double>(seconds))
                           : Clock::time_point::max();
  }
  void take(std::size_t taken) { peak_bytes = std::max(peak_bytes, taken); }
  void check_stop() const {
    if (stop != nullptr && *stop) {
      throw PlanStopped{};
    }
  }
};

}  // namespace mapsim
