// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "campaign/point.hpp"
#include "campaign/store.hpp"

namespace mapsim {

// What became of a point: its result, or why there is none.
struct Solved {
  std::size_t number = 0;
  PointKey key;
  std::optional<Record> figures;  // empty: stopped, or failed
  std::string failure;            // an error of mapsim's own, which is no result
};

// Points to solve, handed out one by one, and the answers on their way to the one who writes them.
class PointQueue {
 public:
  explicit PointQueue(std::vector<std::size_t> numbers) : numbers_{std::move(numbers)} {}

  std::optional<std::size_t> take() {  // nullopt: nothing left
    const std::lock_guard lock{mutex_};
    return next_ < numbers_.size() ? std::optional{numbers_[next_++]} : std::nullopt;
  }
  void put(Solved solved) {
    {
      const std::lock_guard lock{mutex_};
      solved_.push_back(std::move(solved));
    }
    ready_.notify_one();
  }
  // What has been put since; waits for it this long at most.
  std::vector<Solved> collect(std::chrono::milliseconds patience) {
    std::unique_lock lock{mutex_};
    ready_.wait_for(lock, patience, [this] { return !solved_.empty(); });
    return std::exchange(solved_, {});
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::vector<std::size_t> numbers_;
  std::size_t next_ = 0;
  std::vector<Solved> solved_;
  std::mutex mutex_;
  std::condition_variable ready_;
};

}  // namespace mapsim
