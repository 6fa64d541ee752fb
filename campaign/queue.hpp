// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "campaign/point.hpp"
#include "campaign/store.hpp"

namespace mapsim {

// A point to solve. With a weight (campaign/joint.hpp) the objective is the energy plus `weight` pJ
// per cycle instead of the question's.
struct Asked {
  std::size_t number = 0;
  std::optional<double> weight{};
  friend bool operator==(const Asked&, const Asked&) = default;
};

// The result of such a point, or why there is none.
struct Solved {
  Asked asked;
  PointKey key;                   // empty where even its design could not be read
  std::optional<Record> figures;  // empty: stopped, or failed
  std::string failure;            // an internal error, which is no result
  std::size_t needed_bytes = 0;   // not 0: memory ended; about how much was needed
};

// Points to solve, added in batches and handed out one by one, and their answers on the way to the
// thread that writes them.
class PointQueue {
 public:
  void add(std::span<const Asked> points) {
    {
      const std::lock_guard lock{mutex_};
      points_.insert(points_.end(), points.begin(), points.end());
    }
    added_.notify_all();
  }
  // Nothing will be added any more.
  void close() {
    {
      const std::lock_guard lock{mutex_};
      closed_ = true;
    }
    added_.notify_all();
  }
  bool is_closed() const {
    const std::lock_guard lock{mutex_};
    return closed_;
  }
  std::size_t waiting() const {  // added and not handed out yet
    const std::lock_guard lock{mutex_};
    return points_.size();
  }

  // Waits for a point; nullopt: there will be none.
  std::optional<Asked> take() {
    std::unique_lock lock{mutex_};
    added_.wait(lock, [this] { return closed_ || !points_.empty(); });
    return first();
  }
  std::optional<Asked> take_now() {  // nullopt: there is none at the moment
    const std::lock_guard lock{mutex_};
    return first();
  }
  void put(Solved solved) {
    {
      const std::lock_guard lock{mutex_};
      solved_.push_back(std::move(solved));
    }
    ready_.notify_one();
  }
  // All results put since the last call; waits at most `timeout` for the first one.
  std::vector<Solved> collect(std::chrono::milliseconds timeout) {
    std::unique_lock lock{mutex_};
    ready_.wait_for(lock, timeout, [this] { return !solved_.empty(); });
    return std::exchange(solved_, {});
  }

 private:
  std::optional<Asked> first() {
    if (points_.empty()) {
      return std::nullopt;
    }
    const Asked asked = points_.front();
    points_.pop_front();
    return asked;
  }

  std::deque<Asked> points_;
  bool closed_ = false;
  std::vector<Solved> solved_;
  mutable std::mutex mutex_;
  std::condition_variable added_, ready_;
};

}  // namespace mapsim
