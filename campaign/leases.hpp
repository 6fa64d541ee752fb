// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "campaign/queue.hpp"
#include "campaign/store.hpp"

namespace mapsim {

// The points that a sweep has to compute. Sweeps of one database share them: before a sweep
// computes points it takes a lease on them in the database, in batches of about a second's work,
// and renews it while it lives. A lease that is not renewed expires, so the points of a sweep that
// was killed go to the others. Nothing depends on a lease but who computes what: two sweeps that
// compute the same point find the same row (docs/decisions/0080).
class LeasedPoints {
 public:
  // The keys that results of points will have, by their numbers.
  using Keys = std::function<PointKey(std::size_t number)>;
  // `store`, of which no transaction is open, outlives it.
  // `batch`: how many points a lease is taken on at first.
  LeasedPoints(Keys keys, Store& store, const std::vector<std::size_t>& missing,
               std::chrono::milliseconds term, std::size_t batch = 4);

  // Adds points to the queue if it runs short, and renews held leases. To be called repeatedly.
  // Returns how many points others have answered since the last call.
  std::size_t feed(PointQueue& queue);
  // No point is left, neither to lease nor leased by others. Done: none is being computed, either.
  bool is_handed_out() const { return left_.empty() && theirs_.empty(); }
  bool is_done() const { return is_handed_out() && in_work_ == 0; }
  std::size_t theirs() const { return theirs_.size(); }  // that others held when last asked
  void forget(const PointKey& key) {                     // solved, or given up
    done_.push_back(key);
    --in_work_;
  }
  // Gives all leases back.
  void release();

 private:
  using Clock = std::chrono::steady_clock;
  struct Leased {
    std::vector<Asked> ours;
    std::vector<std::size_t> theirs;
    std::size_t known = 0;
  };
  Leased lease(std::deque<std::size_t>& from);
  void adapt(Clock::time_point now);

  Keys keys_;
  Store& store_;
  std::chrono::milliseconds term_;
  std::string holder_;
  std::deque<std::size_t> left_;    // nobody had a lease on them when last asked
  std::deque<std::size_t> theirs_;  // another sweep had
  std::vector<PointKey> done_;      // whose leases can go
  std::size_t in_work_ = 0;
  std::size_t batch_;  // points that a lease is taken on at once
  Clock::time_point fed_{}, renewed_ = Clock::now(), asked_{};
};

}  // namespace mapsim
