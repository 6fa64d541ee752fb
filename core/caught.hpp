// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <exception>
#include <mutex>

namespace mapsim {

// Carries the first exception out of tasks of threads, which must not throw.
class Caught {
 public:
  template <class Work>
  void run(const Work& work) noexcept {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      first_ = first_ ? first_ : std::current_exception();
    }
  }
  void rethrow() const {
    if (first_) {
      std::rethrow_exception(first_);
    }
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace mapsim
