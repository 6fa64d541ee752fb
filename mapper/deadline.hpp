// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <new>
#include <optional>
#include <vector>

#include "mapper/mapper.hpp"

namespace mapsim {

// Thrown when a search has used up its time or its memory. It is caught where the search of a class
// of unrollings begins; the class is then left open with the bound that it had.
struct OutOfBudget {};

// The limits of a search: time (until the caller stops it, or the seconds of the budget are over)
// and memory for its large tables. Threads share it.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Deadline(const SearchOptions& options)
      : stop_{options.stop}, most_bytes_{options.budget.bytes} {
    if (options.budget.seconds < std::numeric_limits<double>::infinity()) {
      deadline_ = start_ + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(options.budget.seconds));
    }
  }
  // The same time, without a limit of memory.
  static Deadline of_time(const Deadline& other) { return Deadline(other, kUnlimited); }
  bool over() const {
    return (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) ||
           (deadline_ && Clock::now() >= *deadline_);
  }
  // Throws OutOfBudget once time is over.
  void check() const {
    if (over()) {
      throw OutOfBudget{};
    }
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // Takes memory, or throws OutOfBudget if less than that is left.
  void take(std::size_t bytes) const {
    const std::size_t taken = taken_.fetch_add(bytes) + bytes;
    if (taken > most_bytes_) {
      give(bytes);
      refuse();
    }
    std::size_t peak = peak_;
    while (taken > peak && !peak_.compare_exchange_weak(peak, taken)) {
    }
  }
  void give(std::size_t bytes) const { taken_ -= bytes; }
  // For work that is known to need more memory than there is.
  [[noreturn]] void refuse() const {
    has_refused_ = true;
    throw OutOfBudget{};
  }
  // Did a search that ended before its proof lack memory, rather than time?
  bool is_short_of_memory() const { return has_refused_ || !over(); }
  std::size_t most_bytes() const { return most_bytes_; }
  std::size_t peak_bytes() const { return peak_; }

 private:
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
  Deadline(const Deadline& other, std::size_t most_bytes)
      : stop_{other.stop_},
        start_{other.start_},
        deadline_{other.deadline_},
        most_bytes_{most_bytes} {}

  const std::atomic<bool>* stop_;
  Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> deadline_;
  std::size_t most_bytes_;
  mutable std::atomic<std::size_t> taken_{0};
  mutable std::atomic<std::size_t> peak_{0};
  mutable std::atomic<bool> has_refused_{false};  // memory
};

// Does work that may exceed a limit. Returns false if it did; the work is then left incomplete.
template <class Work>
bool is_within_budget(const Work& work) {
  try {
    work();
    return true;
  } catch (const OutOfBudget&) {
  } catch (const std::bad_alloc&) {  // the machine has less memory than the limit
  }
  return false;
}

// Lengthens a table to `size` entries of one value. The system clears memory when it is first
// touched, which takes seconds for a large table: check() is called before each piece.
template <class T, class Check>
void fill_in_pieces(std::vector<T>& table, std::size_t size, const T& value, const Check& check) {
  constexpr std::size_t kPiece = (std::size_t{1} << 22U) / sizeof(T);
  table.reserve(size);
  while (table.size() < size) {
    check();
    table.resize(std::min(size, table.size() + kPiece), value);
  }
}

// Memory of a deadline's limit, if there is one, until it is destroyed. Threads may take at once.
class HeldMemory {
 public:
  explicit HeldMemory(const Deadline* deadline) : deadline_{deadline} {}
  ~HeldMemory() {
    if (deadline_ != nullptr) {
      deadline_->give(bytes_);
    }
  }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  void take(std::size_t bytes) {
    if (deadline_ != nullptr) {
      deadline_->take(bytes);
      bytes_ += bytes;
    }
  }
  // Takes the difference between the memory held and `bytes`.
  void grow_to(std::size_t bytes) {
    if (bytes > bytes_) {
      take(bytes - bytes_);
    }
  }
  void check() const {
    if (deadline_ != nullptr) {
      deadline_->check();
    }
  }
  // Lengthens a table to `size` entries, whose memory it takes.
  template <class T>
  void fill(std::vector<T>& table, std::size_t size, const T& value) {
    take((size - std::min(size, table.size())) * sizeof(T));
    fill_in_pieces(table, size, value, [this] { check(); });
  }

 private:
  const Deadline* deadline_;
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace mapsim
