// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>

namespace mapsim {

// SCALE-Sim's write buffer. When it is half full it drains half of its size in lines as wide as its
// port, and pads the last line (a slip of the tool). While it drains it accepts words until it is
// full; later words wait for the end of the drain.
class ScaleSimDrain {
 public:
  // `line`: words/cycle of its port to DRAM.
  ScaleSimDrain(std::int64_t kilobytes, std::int64_t line)
      : size_{1024 * kilobytes}, line_{line}, batch_{(half() + line - 1) / line} {}

  // Writes words that arrive in `cycle`. Returns the cycle in which the last of them is stored.
  std::int64_t write(std::int64_t cycle, std::int64_t words);
  // Drains the rest.
  void finish(std::int64_t cycle);
  std::int64_t written() const { return written_; }
  std::int64_t start() const { return start_; }  // cycle of the first word to DRAM
  std::int64_t stop() const { return stop_; }    // ... of the last

 private:
  std::int64_t half() const { return size_ / 2; }
  void fill(std::int64_t words);
  void break_line();
  void drain(std::int64_t cycle);

  struct Lines {
    std::int64_t count, words;  // words of each
  };
  std::int64_t size_;
  std::int64_t line_;
  std::int64_t batch_;       // lines of half a buffer
  std::deque<Lines> lines_;  // to drain
  std::int64_t open_ = 0;    // words of the line that is being filled
  std::int64_t held_ = 0;    // the padding of a line counts as drained unless it is a batch's last
  std::int64_t written_ = 0;
  std::int64_t start_ = 0;
  std::int64_t drained_at_ = 0;
  std::int64_t stop_ = 0;
};

}  // namespace mapsim
