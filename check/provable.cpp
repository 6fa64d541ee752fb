// SPDX-License-Identifier: Apache-2.0
// What the checker can prove of a space with imperfect factors, for the one who writes the
// certificate.
#include <algorithm>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "check/check.hpp"
#include "check/intervals.hpp"
#include "check/prover.hpp"
#include "core/threads.hpp"

namespace mapsim::check {

namespace {

constexpr std::size_t kMostSets = 400'000;  // that wait to be divided, some 200 MB

// Unrollings, and sets of unrollings, the least bound first: sets are divided, and unrollings
// examined further, until the least bound of a single unrolling cannot be raised.
class Provable {
 public:
  Provable(const Certificate& certificate, const CheckOptions& options, double wanted)
      : certificate_{certificate},
        options_{options},
        prover_{certificate, options, verdict_},
        space_{certificate.problem, certificate.rules},
        target_{{{{wanted, 0}}}, false, 0},
        least_{wanted} {
    steps_.push_back({0, 0, options.effort.stop, Paths::kTogether});
    if (ways_to_bound(certificate.rules, certificate.goal).back() == Paths::kByPhases) {
      steps_.push_back({0, 0, options.effort.stop, Paths::kByPhases});
    }
    for (const std::size_t tiles : kCoarseTiles) {
      if (tiles < options.effort.tiles) {
        steps_.push_back({tiles, 0, options.effort.stop});
      }
    }
    steps_.push_back(options.effort);
  }

  std::vector<double> run() {
    constexpr std::size_t kBatch = 16;  // whatever the number of threads
    std::vector<Entry> batch;
    std::optional<std::size_t> others;
    for (std::size_t c = 0; c < certificate_.claims.size(); ++c) {
      const Claim& claim = certificate_.claims[c];
      if (claim.is_of_others) {
        others = c;
        continue;
      }
      claimed_.insert(key_of(claim.unrolling));
      prover_.prepare_graph(claim.unrolling);
      batch.push_back({0, c, 0, {}});
    }
    bounds_.resize(certificate_.claims.size(), 0);
    if (const auto whole = space_.whole(); others && whole) {
      batch.push_back({0, *others, 0, *whole});
    }
    while (!batch.empty() && !options_.effort.stop.is_set()) {
      std::vector<std::vector<Entry>> next(batch.size());
      for_each_on_threads(batch.size(), options_.threads,
                          [&](std::size_t i) { next[i] = advanced(batch[i]); });
      for (std::vector<Entry>& entries : next) {
        for (Entry& entry : entries) {
          sort_in(std::move(entry));
        }
      }
      batch.clear();
      const bool may_divide = open_.size() < kMostSets;
      while (batch.size() < kBatch && !open_.empty() && open_.top().bound < least_) {
        if (!may_divide && is_set(open_.top())) {
          break;
        }
        batch.push_back(open_.top());
        open_.pop();
      }
      for (const Entry& entry : batch) {
        if (!is_set(entry)) {
          prover_.prepare_graph(unrolling_of(entry));
        }
      }
    }
    // What was taken out last, if it was stopped
    std::for_each(batch.begin(), batch.end(), [this](const Entry& entry) { open_.push(entry); });
    if (others) {
      bounds_[*others] = open_.empty() ? least_ : std::min(least_, open_.top().bound);
    }
    return bounds_;
  }

 private:
  // A claimed unrolling, or a set of others, and how far it was examined.
  struct Entry {
    double bound = 0;
    std::size_t claim = 0;
    std::size_t steps = 0;  // of others: 0 for a set that may be divided
    Intervals set;          // of others
    bool operator<(const Entry& other) const { return bound > other.bound; }
  };
  bool is_of_others(const Entry& entry) const {
    return certificate_.claims[entry.claim].is_of_others;
  }
  bool is_set(const Entry& entry) const { return is_of_others(entry) && entry.steps == 0; }
  Unrolling unrolling_of(const Entry& entry) const {
    return is_of_others(entry) ? *space_.unrolling(entry.set)
                               : certificate_.claims[entry.claim].unrolling;
  }

  // The entries that take its place.
  std::vector<Entry> advanced(const Entry& entry) {
    std::vector<Entry> found;
    if (options_.effort.stop.is_set()) {
      found.push_back(entry);
    } else if (!is_set(entry)) {
      const Effort& effort = steps_[entry.steps];
      const double bound = prover_.bound_of(unrolling_of(entry), target_, effort).bound;
      found.push_back({std::max(entry.bound, bound), entry.claim, entry.steps + 1, entry.set});
    } else if (is_single(entry.set)) {
      const std::optional<Unrolling> unrolling = space_.unrolling(entry.set);
      if (unrolling && !claimed_.contains(key_of(*unrolling))) {
        found.push_back({entry.bound, entry.claim, 1, entry.set});
      }
    } else {
      for (Intervals& half : space_.halves(entry.set)) {
        const double bound = prover_.bound_of(space_.ranges(half), target_);
        found.push_back({std::max(entry.bound, bound), entry.claim, 0, std::move(half)});
      }
    }
    return found;
  }

  void sort_in(Entry entry) {
    if (!is_of_others(entry)) {
      bounds_[entry.claim] = entry.bound;
    }
    if (entry.steps == steps_.size()) {
      least_ = std::min(least_, entry.bound);  // cannot be raised
    } else {
      open_.push(std::move(entry));
    }
  }

  const Certificate& certificate_;
  const CheckOptions& options_;
  Verdict verdict_;
  Prover prover_;
  IntervalSpace space_;
  Target target_;
  std::vector<Effort> steps_;
  double least_;  // of the unrollings whose bounds cannot be raised
  std::set<std::vector<std::int64_t>> claimed_;
  std::vector<double> bounds_;
  std::priority_queue<Entry> open_;
};

// The unrollings that closed forms of sets leave open; nullopt: they are too many, or it was
// stopped.
std::optional<std::vector<Unrolling>> open_unrollings(const Certificate& certificate,
                                                      const CheckOptions& options,
                                                      const Prover& prover, const Target& target) {
  std::vector<Unrolling> open;
  const bool is_complete = visit_open_sets(
      IntervalSpace{certificate.problem, certificate.rules}, options.threads, options.effort.stop,
      [&](const ChoiceRanges& ranges) { return prover.is_closed(ranges, target); },
      [&](const Unrolling& unrolling) {
        open.push_back(unrolling);
        return open.size() <= kMostOpen;
      });
  return is_complete ? std::optional{std::move(open)} : std::nullopt;
}

}  // namespace

std::vector<double> provable_bounds(const Certificate& certificate, const CheckOptions& options) {
  return Provable{certificate, options, certificate.value}.run();
}

// Unrollings that take long are searched further if they are few.
double provable_share(const Certificate& certificate, const CheckOptions& options) {
  constexpr std::size_t kMostTiles = 6'000'000;  // of a round: some minutes at most
  constexpr std::size_t kMostClose = 64;
  const Target target{certificate.claimed_front(), true, 1};
  Verdict verdict;
  Prover prover{certificate, options, verdict};
  std::optional<std::vector<Unrolling>> open =
      open_unrollings(certificate, options, prover, target);
  if (!open) {
    return 0;
  }
  for (const Unrolling& unrolling : *open) {
    prover.prepare_graph(unrolling);
  }
  double share = open->empty() ? 1 : 0;
  std::vector<std::size_t> rounds(kCoarseTiles.begin(), kCoarseTiles.end());
  const std::size_t coarse = rounds.back();
  if (options.effort.tiles > coarse) {
    rounds.push_back(options.effort.tiles);
  }
  for (const std::size_t tiles : rounds) {
    const bool close = tiles > coarse;
    if (open->empty() || (close ? open->size() > kMostClose : open->size() * tiles > kMostTiles)) {
      break;
    }
    const Effort effort{tiles, close ? options.effort.labels : 0, options.effort.stop};
    std::vector<double> shares(open->size());
    for_each_on_threads(open->size(), options.threads, [&](std::size_t i) {
      shares[i] = prover.bound_of((*open)[i], target, effort).bound;
    });
    if (options.effort.stop.is_set()) {  // this round was not finished
      break;
    }
    share = *std::min_element(shares.begin(), shares.end());
    std::vector<Unrolling> left;
    for (std::size_t i = 0; i < open->size(); ++i) {
      if (shares[i] < 1) {
        left.push_back((*open)[i]);
      }
    }
    open = std::move(left);
  }
  return share;
}

}  // namespace mapsim::check
