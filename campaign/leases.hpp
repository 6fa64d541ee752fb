// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/queue.hpp"
#include "campaign/store.hpp"

namespace mapsim {

// Points without a result.
struct MissingPoints {
  std::vector<std::size_t> numbers;
  std::vector<std::string>
      designs;  // ids of the contents of those that have such points, by number
};

// The points that a sweep has to compute. Sweeps of one database share them: before a sweep
// computes points it takes a lease on them in the database, in batches of about a second's work,
// and renews it while it lives. A lease that is not renewed expires, so the points of a sweep that
// was killed go to the others. Nothing depends on a lease but who computes what: two sweeps that
// compute the same point find the same row (docs/decisions/0080).
class LeasedPoints {
 public:
  // `store`, of which no transaction is open, outlives it.
  LeasedPoints(const Campaign& campaign, Store& store, MissingPoints missing,
               std::chrono::milliseconds term);

  // Adds points to the queue where it runs short, renews what is held, and closes the queue when no
  // point is left: neither to lease nor leased by others without a result. Call it again and again.
  // Says how many points others have answered since the last call.
  std::size_t feed(PointQueue& queue);
  std::size_t theirs() const { return theirs_.size(); }       // that others held when last asked
  void forget(const PointKey& key) { done_.push_back(key); }  // solved, or given up
  // Gives back whatever is held.
  void release();

 private:
  using Clock = std::chrono::steady_clock;
  struct Leased {
    std::vector<std::size_t> ours, theirs;
    std::size_t known = 0;
  };
  PointKey key(std::size_t number) const;
  Leased lease(std::deque<std::size_t>& from);
  void adapt(Clock::time_point now);

  const Campaign& campaign_;
  Store& store_;
  std::vector<std::string> designs_, layers_, questions_;  // ids of their contents
  std::chrono::milliseconds term_;
  std::string holder_;
  std::deque<std::size_t> left_;    // nobody had a lease on them when last asked
  std::deque<std::size_t> theirs_;  // another sweep had
  std::vector<PointKey> done_;      // whose leases can go
  std::size_t batch_ = 4;           // points that a lease is taken on at once
  Clock::time_point fed_{}, renewed_ = Clock::now(), asked_{};
};

}  // namespace mapsim
