// SPDX-License-Identifier: Apache-2.0
#include "interop/scalesim_prefetch.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/arithmetic.hpp"

namespace mapsim {

namespace {

struct Ports {
  std::int64_t first = 0, last = -1;
  std::int64_t size() const { return std::max<std::int64_t>(0, last - first + 1); }
};

// The ports of a line that have a word: the last group may use fewer than there are, which leaves
// a gap in the lines that it shares with the group before.
std::array<Ports, 2> ports_of(const ScaleSimStream& stream, std::int64_t line) {
  const std::int64_t last_group = stream.groups - 1;
  const std::int64_t used = stream.used(last_group);
  if (!stream.moves) {
    const bool last = line / stream.length == last_group;
    return {Ports{0, last ? used - 1 : stream.ports - 1}, Ports{}};
  }
  const std::int64_t low = std::max<std::int64_t>(0, line - stream.groups * stream.length + 1);
  const std::int64_t high = std::min(stream.ports - 1, line);
  const std::int64_t before = line - last_group * stream.length + 1;  // first port of that group
  return {Ports{low, std::min(high, used - 1)}, Ports{std::max({low, used, before}), high}};
}

}  // namespace

std::optional<ScaleSimPrefetch> ScaleSimPrefetch::make(const ScaleSimStream& stream,
                                                       std::int64_t kilobytes, std::int64_t port,
                                                       const ScaleSimIfmap* ifmap,
                                                       std::int64_t& steps) {
  ScaleSimPrefetch buffer{stream};
  buffer.ifmap_ = ifmap;
  const std::int64_t words = 1024 * kilobytes;
  const std::int64_t set_words = ceil_div(words, 100);
  if (!buffer.lay_out(set_words, steps)) {
    return std::nullopt;
  }
  const auto most = static_cast<std::size_t>(ceil_div(words / 2, set_words));
  buffer.active_ = std::min(most, buffer.count_);
  buffer.next_ = std::min(most, buffer.count_ - buffer.active_);
  // Nulls fill the lines of an operand up, and are fetched.
  const std::int64_t lines = ceil_div(stream.groups * stream.length * stream.ports, port);
  buffer.batch_ = ceil_div(words / 2, port);
  buffer.batch_words_ = buffer.batch_ * port;
  const std::int64_t first_lines = std::min(buffer.batch_, lines);
  buffer.fetches_ = first_lines * port;
  buffer.start_ = -first_lines;
  return buffer;
}

bool ScaleSimPrefetch::lay_out(std::int64_t set_words, std::int64_t& steps) {
  constexpr std::int64_t kSet = 16;  // steps: a set takes memory
  const bool nulls = ifmap_ != nullptr && ifmap_->has_nulls();
  std::int64_t left = 0;  // of the set that is being filled
  const auto take = [&](std::int64_t line, const Ports& ports) {
    for (std::int64_t port = ports.first; port <= ports.last;) {
      if (left == 0) {
        sets_.push_back({line, port});
        left = set_words;
        steps -= kSet;
      }
      const std::int64_t taken = std::min(left, ports.last - port + 1);
      left -= taken;
      port += taken;
    }
  };
  for (std::int64_t line = 0; line < stream_.lines(); ++line) {
    for (const Ports& ports : ports_of(stream_, line)) {
      if (!nulls) {
        take(line, ports);
        continue;
      }
      steps -= ports.size();
      for (std::int64_t port = ports.first; port <= ports.last; ++port) {
        if (ifmap_->word(stream_.place(line, port)) >= 0) {
          take(line, {port, port});
        }
      }
    }
    if (--steps < 0) {
      return false;
    }
  }
  count_ = sets_.size() + (left == 0 ? 1 : 0);
  return true;
}

std::size_t ScaleSimPrefetch::set_of(const Key& key) const {
  const auto holds = [&](std::size_t set) {
    return sets_[set] <= key && (set + 1 == sets_.size() || key < sets_[set + 1]);
  };
  if (holds(hint_)) {
    return hint_;
  }
  const auto after = std::upper_bound(sets_.begin(), sets_.end(), key);
  hint_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - sets_.begin() - 1, 0));
  return hint_;
}

// How often the window moves until a set is in it. It is a run of sets on a ring, and no set is
// between it and where it moves to.
std::size_t ScaleSimPrefetch::moves_to(std::size_t set) const {
  const std::size_t ahead = set >= begin_ ? set - begin_ : set + count_ - begin_;
  return ahead < active_ ? 0 : (ahead - active_) / next_ + 1;
}

// A word that windows share is there if any of its places is.
std::size_t ScaleSimPrefetch::moves_to_duplicate(const Key& key, std::int64_t& steps) {
  constexpr std::int64_t kDuplicate = 4;  // steps: its set is looked for
  duplicates_.clear();
  ifmap_->duplicates_of(stream_.place(key.line, key.port), duplicates_);
  steps -= kDuplicate * std::ssize(duplicates_);
  std::size_t least = count_;
  for (const ScaleSimStream::Place& duplicate : duplicates_) {
    least = std::min(least,
                     moves_to(set_of({stream_.line(duplicate), duplicate.across % stream_.ports})));
  }
  return least;
}

// Slip: what a fetch is late counts twice, what it is early once. From the second fetch in a cycle
// on, so two of them cost what they take; the wait for the one is what the other one saves.
void ScaleSimPrefetch::move(std::size_t times, std::int64_t cycle, std::int64_t& offset) {
  const std::int64_t fetch = batch_ + 1;
  const auto moves = static_cast<std::int64_t>(times);
  const std::int64_t pairs = std::max<std::int64_t>(0, moves - 2) / 2;
  for (std::int64_t i = 2 * pairs; i < moves; ++i) {
    fetched_at_ += fetch;
    const std::int64_t late = fetched_at_ - (cycle + offset);
    offset += late > 0 ? 2 * late : late;
  }
  fetched_at_ += 2 * pairs * fetch;
  offset += 2 * pairs * fetch;
  fetches_ += moves * batch_words_;
  begin_ = (begin_ + times * next_) % count_;
}

std::int64_t ScaleSimPrefetch::ask(std::int64_t cycle, const ScaleSimStream::Run& run,
                                   std::int64_t& steps) {
  if (next_ == 0) {
    return 0;
  }
  constexpr std::int64_t kHit = 1;  // cycles of a word that is there
  std::int64_t offset = kHit;
  const std::size_t last = set_of({run.line, run.last});
  std::int64_t port = run.first;
  for (std::size_t set = set_of({run.line, port}); set <= last; ++set) {
    const bool whole = set == last || sets_[set + 1].line > run.line;
    const std::int64_t stop = whole ? run.last : sets_[set + 1].port - 1;
    for (; port <= stop && moves_to(set) > 0; ++port) {
      --steps;
      if (ifmap_ != nullptr && ifmap_->word(stream_.place(run.line, port)) < 0) {
        continue;
      }
      move(ifmap_ != nullptr ? moves_to_duplicate({run.line, port}, steps) : moves_to(set), cycle,
           offset);
    }
    port = stop + 1;
  }
  return offset - kHit;
}

}  // namespace mapsim
