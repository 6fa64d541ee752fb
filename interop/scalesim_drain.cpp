// SPDX-License-Identifier: Apache-2.0
#include "interop/scalesim_drain.hpp"

#include <algorithm>

namespace mapsim {

std::int64_t ScaleSimDrain::write(std::int64_t cycle, std::int64_t words) {
  while (words > 0) {
    if (cycle < drained_at_) {
      const std::int64_t until_full = std::max<std::int64_t>(size_ - held_, 1);
      fill(std::min(words, until_full));
      words -= std::min(words, until_full);
      cycle = held_ >= size_ ? drained_at_ : cycle;
      continue;
    }
    const std::int64_t until_half = std::max<std::int64_t>(half() + 1 - held_, 1);
    fill(std::min(words, until_half));
    if (words < until_half) {
      break;
    }
    words -= until_half;
    break_line();
    drain(cycle);
  }
  return cycle;
}

void ScaleSimDrain::finish(std::int64_t cycle) {
  break_line();
  while (!lines_.empty()) {
    drain(cycle);
    cycle = drained_at_ + 1;
  }
}

void ScaleSimDrain::fill(std::int64_t words) {
  held_ += words;
  open_ += words;
  const std::int64_t full = open_ / line_;
  if (full == 0) {
    return;
  }
  if (!lines_.empty() && lines_.back().words == line_) {
    lines_.back().count += full;
  } else {
    lines_.push_back({full, line_});
  }
  open_ -= full * line_;
}

void ScaleSimDrain::break_line() {
  if (open_ > 0) {
    lines_.push_back({1, open_});
    open_ = 0;
  }
}

void ScaleSimDrain::drain(std::int64_t cycle) {
  std::int64_t lines = 0;
  std::int64_t last = 0;  // words of the last line
  while (lines < batch_ && !lines_.empty()) {
    Lines& next = lines_.front();
    const std::int64_t count = std::min(batch_ - lines, next.count);
    lines += count;
    last = next.words;
    next.count -= count;
    if (next.count == 0) {
      lines_.pop_front();
    }
  }
  const std::int64_t words = (lines - 1) * line_ + last;
  start_ = written_ == 0 ? cycle : start_;
  written_ += words;
  held_ -= words;
  drained_at_ = cycle + lines - 1;
  stop_ = std::max(stop_, drained_at_);
}

}  // namespace mapsim
