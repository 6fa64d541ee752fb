// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/sample_statistics.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/threads.hpp"

namespace mapsim {

namespace {

std::int64_t need_of(const Infeasible& why) {
  const auto* exceeded = std::get_if<CapacityExceeded>(&why);
  const auto* axis = std::get_if<FanoutExceeded>(&why);
  return exceeded != nullptr ? exceeded->need.count() : axis != nullptr ? axis->need : 0;
}

}  // namespace

void SampleStatistics::note(const Infeasible& why, std::int64_t count) {
  Reason reason{why.index(), 0, -1};
  if (const auto* exceeded = std::get_if<CapacityExceeded>(&why)) {
    std::get<1>(reason) = index_of(exceeded->level);
    std::get<2>(reason) = exceeded->partition ? static_cast<int>(*exceeded->partition) : -1;
  } else if (const auto* axis = std::get_if<FanoutExceeded>(&why)) {
    std::get<1>(reason) = index_of(axis->fanout);
    std::get<2>(reason) = static_cast<int>(axis->axis);
  }
  const auto [entry, is_new] = misfits_.try_emplace(reason, Misfits{0, why});
  entry->second.count += count;
  if (!is_new && need_of(why) < need_of(entry->second.least)) {
    entry->second.least = why;
  }
}

bool SampleStatistics::consider(Evaluator& evaluator, const Objective& objective,
                                const Mapping& mapping) {
  ++evaluations_;
  if (const auto why = evaluator.evaluate(mapping)) {
    note(*why, 1);
    return false;
  }
  if (!is_within_limits(objective, evaluator.cost())) {
    add_beyond_limits(beyond_limits_, objective, evaluator.cost());
    return false;
  }
  if (!cost_ || better(objective, evaluator.cost(), *cost_)) {
    best_ = mapping;
    cost_ = evaluator.cost();
  }
  return true;
}

void SampleStatistics::add(const Objective& objective, SampleStatistics other) {
  evaluations_ += other.evaluations_;
  for (const auto& [reason, misfits] : other.misfits_) {
    note(misfits.least, misfits.count);
  }
  mapsim::add(beyond_limits_, other.beyond_limits_);
  if (other.cost_ && (!cost_ || better(objective, *other.cost_, *cost_))) {
    best_ = std::move(other.best_);
    cost_ = std::move(other.cost_);
  }
}

SearchResult SampleStatistics::result(const Problem& problem) const {
  SearchResult result;
  result.best = best_;
  result.cost = cost_;
  result.statistics.evaluations = evaluations_;
  result.infeasible = beyond_limits_;
  for (const auto& [reason, misfits] : misfits_) {
    mapsim::add(result.infeasible, problem, misfits.least, misfits.count);
  }
  return result;
}

SampleStatistics consider_all(const Problem& problem, const SearchOptions& options,
                              std::int64_t count, const MappingAt& mapping_at) {
  const int threads = std::max(1, options.threads);
  std::vector<SampleStatistics> parts(static_cast<std::size_t>(threads));
  for_each_on_threads(parts.size(), threads, [&](std::size_t index) {
    Evaluator evaluator{problem};
    const auto part = static_cast<std::int64_t>(index);
    for (std::int64_t i = count * part / threads; i < count * (part + 1) / threads; ++i) {
      parts[index].consider(evaluator, options.objective, mapping_at(i));
    }
  });
  SampleStatistics all;
  for (SampleStatistics& part : parts) {
    all.add(options.objective, std::move(part));
  }
  return all;
}

bool is_stopped(const SearchOptions& options) {
  return options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
}

}  // namespace mapsim
