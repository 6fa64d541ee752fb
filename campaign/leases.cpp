// SPDX-License-Identifier: Apache-2.0
#include "campaign/leases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <span>
#include <utility>

namespace mapsim {

namespace {

// A batch should be about this much work: what two sweeps can differ by at their end, and how often
// each asks the database.
constexpr std::chrono::milliseconds kShortest{500};
constexpr std::chrono::milliseconds kLongest{2000};
constexpr std::size_t kLargestBatch = 1024;
// How often points that others hold are looked at again.
constexpr std::chrono::milliseconds kPollInterval{100};
// Of its term a lease is renewed so often.
constexpr int kRenewals = 5;

// Nobody else's.
std::string new_holder() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace

LeasedPoints::LeasedPoints(Keys keys, Store& store, const std::vector<std::size_t>& missing,
                           std::chrono::milliseconds term, std::size_t batch)
    : keys_{std::move(keys)},
      store_{store},
      term_{term},
      holder_{new_holder()},
      left_{missing.begin(), missing.end()},
      batch_{batch} {}

// Goes through the points until it has leased a batch.
LeasedPoints::Leased LeasedPoints::lease(std::deque<std::size_t>& from) {
  Leased leased;
  Store::Leasing leasing{store_, holder_, term_};
  for (const PointKey& done : std::exchange(done_, {})) {
    leasing.give_back(done);
  }
  while (!from.empty() && leased.ours.size() < batch_) {
    const std::size_t number = from.front();
    from.pop_front();
    switch (leasing.take(keys_(number))) {
      case Store::Lease::kOurs:
        leased.ours.push_back({number});
        break;
      case Store::Lease::kTheirs:
        leased.theirs.push_back(number);
        break;
      case Store::Lease::kAnswered:
        ++leased.known;
        break;
    }
  }
  leasing.commit();
  in_work_ += leased.ours.size();
  return leased;
}

void LeasedPoints::adapt(Clock::time_point now) {
  const bool is_first = fed_ == Clock::time_point{};
  if (!is_first && now - fed_ < kShortest) {
    batch_ = std::min(2 * batch_, kLargestBatch);
  } else if (!is_first && now - fed_ > kLongest) {
    batch_ = std::max<std::size_t>(batch_ / 2, 1);
  }
  fed_ = now;
}

std::size_t LeasedPoints::feed(PointQueue& queue) {
  const Clock::time_point now = Clock::now();
  if (now - renewed_ > term_ / kRenewals) {
    store_.renew_leases(holder_, term_);
    renewed_ = now;
  }
  // A small batch is of points that take long: the next one waits until nothing is left of it.
  if (queue.waiting() > (batch_ > 2 ? batch_ / 2 : 0)) {
    return 0;
  }
  std::size_t known = 0;
  if (!left_.empty()) {
    adapt(now);
    const Leased leased = lease(left_);
    queue.add(leased.ours);
    theirs_.insert(theirs_.end(), leased.theirs.begin(), leased.theirs.end());
    known = leased.known;
  } else if (!theirs_.empty() && now - asked_ > kPollInterval) {
    asked_ = now;
    const Leased leased = lease(theirs_);
    queue.add(leased.ours);
    theirs_.insert(theirs_.end(), leased.theirs.begin(), leased.theirs.end());
    known = leased.known;
  }
  return known;
}

void LeasedPoints::release() {
  left_.clear();
  theirs_.clear();
  store_.release_leases(holder_);
}

}  // namespace mapsim
