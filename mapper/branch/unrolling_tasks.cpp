// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/unrolling_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/caught.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/label_search/rebuild.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/symmetry.hpp"

namespace mapsim::exact {

namespace {

// The first class alone provides an incumbent; then threads have a few classes at a time.
constexpr std::size_t kSecondBatch = 4;
constexpr std::size_t kLargestBatch = 64;
constexpr std::int64_t kBounds = 32;  // classes per task
constexpr std::size_t kAllTiles = std::numeric_limits<std::size_t>::max();

}  // namespace

void refuse_what_is_not_proven(const Mapspace& space, const Objective& objective) {
  const TimingModel& model = timing_model(space.problem().arch());
  if (model.is_engine) {
    throw UnsupportedSearch(
        "an NVDLA-like engine has schedules of its own (docs/nvdla.md): curves of them are not "
        "searched");
  }
  if (model.array != nullptr && tracked(space.problem(), objective).ports &&
      space.constraints().factors.imperfect) {
    throw UnsupportedSearch(
        fmt::format("the exact strategy proves the times of {} with perfect factors only; leave "
                    "out --imperfect (factors: imperfect)",
                    model.machines));
  }
}

UnrollingTasks::UnrollingTasks(const Mapspace& space, const Objective& objective,
                               const Deadline* deadline)
    : space_{space}, objective_{objective}, deadline_{deadline} {
  refuse_what_is_not_proven(space, objective);
  own_.emplace(space, objective);
  bounds_ = &*own_;
  const std::vector<UnrollingClass>& classes = space_.unrolling_classes();
  representative_ = branch::symmetric_classes(space_);
  members_.resize(classes.size());
  Caught caught;
#pragma omp taskloop grainsize(kBounds) shared(classes, caught)
  for (std::size_t g = 0; g < classes.size(); ++g) {
    caught.run([&] {
      const bool closely = deadline == nullptr || !deadline->over();
      members_[g] = {&classes[g], representative_[g] == g ? bounds_->of(classes[g], closely)
                                                          : bounds_->shared_graph_of(classes[g])};
    });
  }
  caught.rethrow();
  for (std::size_t g = 0; g < classes.size(); ++g) {
    members_[g].bound.cycles = members_[representative_[g]].bound.cycles;
    members_[g].bound.key = members_[representative_[g]].bound.key;
  }
}

UnrollingTasks::UnrollingTasks(ClassBounds& bounds, const Mapspace& space,
                               const Objective& objective, const Deadline* deadline)
    : space_{space}, objective_{objective}, deadline_{deadline}, bounds_{&bounds} {}

std::size_t UnrollingTasks::add(UnrollingClass unrolling) {
  ClassBounds::Bound bound = bounds_->of(unrolling);
  const std::lock_guard lock(mutex_);
  added_.push_back(std::move(unrolling));
  members_.push_back({&added_.back(), bound});
  return members_.size() - 1;
}

std::size_t UnrollingTasks::size() const {
  const std::lock_guard lock(mutex_);
  return members_.size();
}

const UnrollingTasks::Member& UnrollingTasks::at(std::size_t unrolling_class) const {
  const std::lock_guard lock(mutex_);
  return members_[unrolling_class];
}

std::vector<Pattern> UnrollingTasks::patterns(std::size_t unrolling_class, const Incumbent& known,
                                              bool first_only) const {
  const ClassBounds::Bound& bound = at(unrolling_class).bound;
  const SharedGraph& shared = *bound.shared_graph;
  std::vector<double> components(2 + shared.port_bits.size(), 0.0);
  const ObjectiveKeyOf key_of = [&](const std::vector<double>& least) {
    for (std::size_t k = 0; k < least.size(); ++k) {
      components[k] = least[k] * (1 - kRounding);
    }
    return shared.path_objective->key(components.data(), bound.cycles);
  };
  return shared.bound->patterns(unrolling(unrolling_class), key_of, known, first_only);
}

std::unique_ptr<SearchTables> UnrollingTasks::build(std::size_t unrolling_class,
                                                    const Incumbent& known, bool may_beam_search,
                                                    const Pattern* pattern) const {
  return std::make_unique<SearchTables>(
      graph(unrolling_class),
      Unrolled(space_.problem(), unrolling(unrolling_class), space_.entry(), kAllTiles, deadline_),
      objective_, known, may_beam_search, left_out(unrolling_class, pattern),
      least_second(unrolling_class, pattern), deadline_);
}

std::unique_ptr<SearchTables> UnrollingTasks::build_part(std::size_t unrolling_class,
                                                         const Incumbent& known,
                                                         std::size_t most_tiles,
                                                         const Deadline* deadline) const {
  return std::make_unique<SearchTables>(
      graph(unrolling_class),
      Unrolled(space_.problem(), unrolling(unrolling_class), space_.entry(), most_tiles, deadline),
      objective_, known, true, std::vector<bool>{}, least_second(unrolling_class, nullptr),
      deadline);
}

bool UnrollingTasks::is_ruled_out(std::size_t unrolling_class, const Incumbent& known,
                                  const Pattern* pattern) const {
  return is_ruled_out_by_energy(
      graph(unrolling_class),
      Unrolled(space_.problem(), unrolling(unrolling_class), space_.entry(), kAllTiles, deadline_),
      objective_, known, left_out(unrolling_class, pattern), least_second(unrolling_class, pattern),
      deadline_);
}

std::vector<bool> UnrollingTasks::left_out(std::size_t unrolling_class,
                                           const Pattern* pattern) const {
  return pattern == nullptr
             ? std::vector<bool>{}
             : at(unrolling_class).bound.shared_graph->bound->edges_outside(*pattern);
}

double UnrollingTasks::least_second(std::size_t unrolling_class, const Pattern* pattern) const {
  return (pattern == nullptr ? bound(unrolling_class) : pattern->bound).second;
}

Mapping UnrollingTasks::mapping(const SearchTables& tables, std::size_t unrolling_class,
                                const std::vector<Step>& steps) const {
  return rebuild(tables.graph, tables.unrolled, unrolling(unrolling_class).first, steps);
}

std::vector<std::size_t> UnrollingTasks::by_steps() const {
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return at(a).bound.cycles < at(b).bound.cycles;
  });
  return order;
}

std::vector<std::size_t> UnrollingTasks::by_bound() const {
  std::vector<std::size_t> order = by_steps();
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return bound(a) < bound(b); });
  return order;
}

std::span<const std::size_t> UnrollingTasks::batch(std::span<const std::size_t> order,
                                                   std::size_t first) {
  std::size_t end = 0;
  for (std::size_t length = 0; end <= first; end += length) {
    length = length == 0 ? 1 : length == 1 ? kSecondBatch : std::min(2 * length, kLargestBatch);
  }
  return order.subspan(first, std::min(end, order.size()) - first);
}

void UnrollingTasks::for_batches(const std::vector<std::size_t>& order,
                                 const std::function<bool(std::span<const std::size_t>)>& visit) {
  for (std::size_t first = 0; first < order.size();) {
    const std::span<const std::size_t> next = batch(order, first);
    if (!visit(next)) {
      return;
    }
    first += next.size();
  }
}

}  // namespace mapsim::exact
