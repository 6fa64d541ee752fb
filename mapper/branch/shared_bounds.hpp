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

// Bounds that searches of one layer on many designs share. They are the bounds of the classes of
// unrollings on one machine, `widest`, that has at least the capacities and arrays of each design
// and is the same otherwise. Whatever a design can do, `widest` can do at the same cost, so its
// bounds hold for the design. A search uses them to leave out classes that it would also have left
// out after bounding them itself, so its result is the same, bit for bit
// (ShareBoundsWithoutChangingARow in tests/campaign/sweep_test.cpp).
//
// Threads may use it at once. A class is bounded when it is asked for the second time, because only
// then sharing pays.
class SharedBounds {
 public:
  using Rules = std::function<Constraints(const Problem&)>;
  // Perfect factors, no timing model.
  SharedBounds(const Arch& widest, const Workload& workload, const Rules& rules,
               const Objective& objective);

  // A lower bound of the class's mappings; 0: not known. A bound above `limit` need not be exact.
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
  exact::UnrollingTasks classes_;  // those that have been bounded
  bool shares_;
  std::mutex mutex_;  // of the entries
  std::map<Factors, Entry> entries_;
};

// Does `arch` have at most the capacities and arrays of `widest`, and differ in nothing else but
// areas? Leakage must be equal, too.
bool is_within(const Arch& arch, const Arch& widest);
// The larger of each capacity and of each array of two machines that differ in nothing else.
Arch wider(const Arch& a, const Arch& b);

// search_exact() with such bounds, possibly of several machines.
SearchResult search_exact(const Mapspace& space, const SearchOptions& options,
                          const std::vector<SharedBounds*>& shared);

}  // namespace mapsim
