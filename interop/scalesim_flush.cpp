// SPDX-License-Identifier: Apache-2.0
#include "interop/scalesim_flush.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "core/arithmetic.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kPrefetchBandwidth = 10;  // words/cycle, whatever the machine has

struct Sets {
  explicit Sets(std::int64_t kilobytes) : words{1024 * kilobytes / 100}, capacity{50 * words} {}
  std::int64_t start(std::int64_t first_request, std::int64_t misses, bool emptied) const {
    return emptied ? first_request - ceil_div(capacity, kPrefetchBandwidth)
                   : -ceil_div(ceil_div(misses, words) * words, kPrefetchBandwidth);
  }
  std::int64_t words;  // of a set
  std::int64_t capacity;
};

// Different words only, asked for in the same order in every round.
class PlainReads {
 public:
  explicit PlainReads(const Sets& sets) : capacity_{sets.capacity} {}

  // `words` that have not been asked for before, `rounds` times.
  void read(std::int64_t words, std::int64_t rounds) {
    if (words >= capacity_) {  // the sets are emptied before a word comes again
      add(words * rounds);
      return;
    }
    const bool emptied = held_ + words >= capacity_;
    add(words);
    if (emptied && rounds > 1) {  // once more what came before the sets were emptied
      add(words - held_);
    }
  }
  std::int64_t misses() const { return misses_; }
  bool emptied() const { return misses_ >= capacity_; }

 private:
  void add(std::int64_t words) {
    misses_ += words;
    held_ = (held_ + words) % capacity_;
  }
  std::int64_t capacity_;
  std::int64_t held_ = 0;
  std::int64_t misses_ = 0;
};

ScaleSimReads plain_reads(const Sets& sets, const ScaleSimFolding& folding,
                          const ScaleSimStream& stream, std::int64_t words) {
  PlainReads reads{sets};
  if (stream.moves && stream.by_column_fold) {
    for (std::int64_t group = 0; group < stream.groups; ++group) {
      reads.read(stream.used(group) * stream.length, folding.row_folds);
    }
  } else {
    reads.read(words, stream.moves ? folding.column_folds : 1);
  }
  return {reads.misses(), sets.start(stream.first, reads.misses(), reads.emptied())};
}

class WalkedReads {
 public:
  WalkedReads(std::int64_t capacity, std::int64_t addresses)
      : capacity_{capacity}, seen_(static_cast<std::size_t>(addresses), 0) {}

  void read(std::int64_t word) {
    ++requests_;
    std::uint32_t& seen = seen_[static_cast<std::size_t>(word)];
    if (seen == generation_) {
      return;
    }
    seen = generation_;
    ++misses_;
    if (++held_ == capacity_) {
      held_ = 0;
      ++generation_;
      emptied_at_ = requests_;
    }
  }
  void begin_round() { requests_ = 0; }
  // Request of this round behind which the sets are what they are when it ends.
  std::int64_t emptied_at() const { return emptied_at_; }
  std::int64_t misses() const { return misses_; }

 private:
  std::int64_t capacity_;
  std::vector<std::uint32_t> seen_;  // generation in which a word was read last
  std::uint32_t generation_ = 1;
  std::int64_t held_ = 0;
  std::int64_t misses_ = 0;
  std::int64_t requests_ = 0;
  std::int64_t emptied_at_ = 0;
};

// Every request of one round: of all row folds, or of all folds where the ifmap stays.
void walk_round(const ScaleSimStream& stream, const ScaleSimFolding& folding,
                const ScaleSimIfmap& ifmap, WalkedReads& reads) {
  reads.begin_round();
  const std::int64_t cycles =
      stream.moves ? stream.wait + stream.length + stream.ports - 1 : stream.rows;
  for (std::int64_t column = 0; column < (stream.moves ? 1 : folding.column_folds); ++column) {
    for (std::int64_t row = 0; row < folding.row_folds; ++row) {
      for (std::int64_t x = stream.moves ? stream.wait : 0; x < cycles; ++x) {
        const auto run = stream.run(row, column, x);
        if (!run) {
          continue;
        }
        for (std::int64_t port = run->first; port <= run->last; ++port) {
          // Only lines of a group's own: others share no word with this fold.
          const std::int64_t along = stream.moves ? run->line - port : run->line;
          const std::int64_t group = stream.moves ? row : column;
          const std::int64_t word =
              ifmap.word({along - group * stream.length, group * stream.ports + port});
          if (word >= 0) {
            reads.read(word);
          }
        }
      }
    }
  }
}

// Rounds repeat from the one that ends as an earlier one did: with the sets emptied last behind
// the same request.
std::int64_t walked_misses(const Sets& sets, const ScaleSimStream& stream,
                           const ScaleSimFolding& folding, const ScaleSimIfmap& ifmap,
                           std::int64_t addresses, std::int64_t& steps) {
  WalkedReads reads{sets.capacity, addresses};
  const std::int64_t rounds = stream.moves ? folding.column_folds : 1;
  std::map<std::int64_t, std::size_t> ends;  // the round that ended so
  std::vector<std::int64_t> misses{0};       // after so many rounds
  while (static_cast<std::int64_t>(misses.size()) <= rounds && steps >= 0) {
    steps -= folding.rows * (stream.moves ? folding.time : folding.columns);
    walk_round(stream, folding, ifmap, reads);
    misses.push_back(reads.misses());
    const std::size_t walked = misses.size() - 1;
    const auto [known, fresh] = ends.emplace(reads.emptied_at(), walked);
    if (!fresh) {
      const std::size_t before = known->second;
      const auto period = static_cast<std::int64_t>(walked - before);
      const std::int64_t left = rounds - static_cast<std::int64_t>(walked);
      return misses[walked] + left / period * (misses[walked] - misses[before]) +
             misses[before + static_cast<std::size_t>(left % period)] - misses[before];
    }
  }
  return reads.misses();
}

}  // namespace

std::optional<ScaleSimReads> ifmap_reads(const ScaleSimConfig& config,
                                         const ScaleSimFolding& folding, const ScaleSimLayer& layer,
                                         std::int64_t& steps) {
  constexpr std::int64_t kMostAddresses = std::int64_t{1} << 28;
  const Sets sets{config.ifmap_kb};
  const ScaleSimStream stream = ifmap_stream(config, folding);
  ScaleSimIfmap ifmap{config, layer};
  const std::int64_t words = ifmap.distinct();
  if (words < sets.capacity) {
    return ScaleSimReads{words, sets.start(stream.first, words, false)};
  }
  if (!ifmap.overlaps()) {
    return plain_reads(sets, folding, stream, words);
  }
  const std::int64_t addresses = layer.ifmap_height * layer.ifmap_width * layer.channels;
  if (addresses > kMostAddresses || !ifmap.make_tables()) {
    return std::nullopt;
  }
  const std::int64_t misses = walked_misses(sets, stream, folding, ifmap, addresses, steps);
  if (steps < 0) {
    return std::nullopt;
  }
  return ScaleSimReads{misses, sets.start(stream.first, misses, true)};
}

ScaleSimReads filter_reads(const ScaleSimConfig& config, const ScaleSimFolding& folding) {
  const ScaleSimStream stream = filter_stream(config, folding);
  const std::int64_t words =
      stream.moves ? stream.extent * stream.length : folding.rows * folding.columns;
  return plain_reads(Sets{config.filter_kb}, folding, stream, words);
}

}  // namespace mapsim
