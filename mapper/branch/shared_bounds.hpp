// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

// What searches of one layer on many designs share: bounds of the classes of spatial unrollings on
// one machine, `widest`, that has at least the capacities and the arrays of each of them and is the
// same otherwise. All that a design can do `widest` can do at the same cost, so its bounds hold
// there. A search leaves out with them what it would have left out anyway, after a bound pass of
// its own: its result is the same, bit for bit (ShareBoundsWithoutChangingARow in
// tests/campaign/sweep_test.cpp).
//
// May threads ask at once: yes. A class is bounded when it is asked for the second time: until then
// nothing says that sharing pays.
class SharedBounds {
 public:
  using Rules = std::function<Constraints(const Problem&)>;
  // Perfect factors, no timing model.
  SharedBounds(const Arch& widest, const Workload& workload, const Rules& rules,
               const Objective& objective);

  // No mapping of the class is better than this; 0: not known. What is beyond a limit above `limit`
  // does not matter.
  double bound(const UnrollingClass& unrolling_class, double limit);

 private:
  struct Entry {
    std::int64_t asked = 0;
    double bound = 0;
  };
  using Factors = std::vector<std::int64_t>;
  static Factors factors_of(const UnrollingClass& unrolling_class);

  Problem problem_;
  Mapspace space_;
  Objective objective_;
  exact::ClassBounds bounds_;
  exact::UnrollingTasks classes_;  // that have been bounded
  bool shares_;
  std::mutex mutex_;  // of the entries
  std::map<Factors, Entry> entries_;
};

// Is `arch` a machine with at most the capacities and the arrays of `widest`, and nothing else that
// differs but its areas? What leaks must be equal, too.
bool is_within(const Arch& arch, const Arch& widest);
// The larger of each capacity and of each array of two machines that differ in nothing else.
Arch wider(const Arch& a, const Arch& b);

// search_exact() with such bounds, perhaps several.
SearchResult search_exact(const Mapspace& space, const SearchOptions& options,
                          const std::vector<SharedBounds*>& shared);

}  // namespace mapsim
