// SPDX-License-Identifier: Apache-2.0
#include "mapper/counting/ruled.hpp"

#include <algorithm>

#include "core/factor.hpp"
#include "mapper/counting/counting.hpp"

namespace mapsim::nests {
namespace {

// `stop` is called once per so many states.
constexpr std::size_t kPause = 256;

std::size_t most_letters(std::int64_t n) {
  std::size_t most = 0;
  for (const int exponent : prime_exponents(n)) {
    most += static_cast<std::size_t>(exponent);
  }
  return most;
}

// The part of an extent of a tile at the level that belongs to fanouts further in.
std::int64_t factor_below(const Arch& arch, const UnrollingClass& unrolling_class, LevelId level,
                          DimId dim) {
  std::int64_t factor = 1;
  for (const FanoutId f : unrolling_class.factors.ids()) {
    factor *= arch.is_above(level, f) ? unrolling_class.factors[f][dim] : 1;
  }
  return factor;
}

bool is_measured(const Mapspace& space, const Regions& regions, DimId dim) {
  return space.constraints().one_loop_per_dim || is_measured_by_rules(space, regions, dim);
}

}  // namespace

RuledTable::RuledTable(const Mapspace& space, const UnrollingClass& unrolling_class)
    : space_{&space},
      placements_{space, unrolling_class},
      points_{placements_, space.constraints().extents} {
  for (std::size_t r = 0; r < placements_.regions().size(); ++r) {
    states_ = std::max(states_, placements_.regions()[r].states());
  }
  if (space.constraints().one_loop_per_dim) {
    sinces_ <<= space.problem().workload().dims.size();
  }
  make_axes(unrolling_class);
  make_tests(unrolling_class);
}

void RuledTable::make_axes(const UnrollingClass& unrolling_class) {
  const Workload& workload = space_->problem().workload();
  const Regions& regions = placements_.regions();
  const PerDim<std::int64_t> bounds = temporal_bounds(workload, unrolling_class);
  std::map<std::vector<std::uint64_t>, Axis> classes;
  for (const DimId d : workload.dims.ids()) {
    if (is_measured(*space_, regions, d)) {
      axes_.push_back({{d}, divisors_of(bounds[d]), true, 1});
      continue;
    }
    Axis& axis = classes[groups_of(regions, d)];
    axis.dims.push_back(d);
    // Sized for the whole bound, so that the table also serves other unrollings.
    const std::size_t more = most_letters(workload.dims[d].bound) + (axis.sizes.empty() ? 1 : 0);
    for (std::size_t i = 0; i < more; ++i) {
      axis.sizes.push_back(std::ssize(axis.sizes));
    }
  }
  for (auto& entry : classes) {
    axes_.push_back(std::move(entry.second));
  }
  for (Axis& axis : axes_) {
    axis.stride = tiles_;
    tiles_ *= axis.sizes.size();
  }
}

void RuledTable::make_tests(const UnrollingClass& unrolling_class) {
  for (const ExtentRule& rule : space_->constraints().extents) {
    tests_.push_back({rule.dim,
                      factor_below(space_->problem().arch(), unrolling_class, rule.level, rule.dim),
                      rule.extents, rule.done});
  }
}

bool RuledTable::ends(const At& at) const {
  const Cursor& cursor = points_.cursor(at.cursor);
  return placements_.is_complete(cursor) &&
         placements_.regions().may_end({placements_.region(cursor), at.state});
}

std::optional<RuledTable::At> RuledTable::after_loop(const At& at, DimId dim,
                                                     std::int64_t factor) const {
  const std::size_t region = placements_.region(points_.cursor(at.cursor));
  const auto state = placements_.regions()[region].after(at.state, dim, factor);
  const bool once = space_->constraints().one_loop_per_dim;
  if (!state || at.since.contains(dim)) {
    return std::nullopt;
  }
  return At{at.cursor, *state, once ? at.since | DimSet{dim} : DimSet{}};
}

std::optional<RuledTable::At> RuledTable::after_point(const At& at, const NextPoint& next_point,
                                                      const PerDim<std::int64_t>& left) const {
  for (const std::size_t r : next_point.rules) {
    const ExtentTest& test = tests_[r];
    if (!test.extents.contains(left[test.dim] * test.factor) ||
        (test.done && left[test.dim] != 1)) {
      return std::nullopt;
    }
  }
  const Regions::State here{placements_.region(points_.cursor(at.cursor)), at.state};
  const auto there =
      placements_.regions().enter(here, placements_.region(points_.cursor(next_point.cursor)));
  return there ? std::optional(At{next_point.cursor, there->of_region, {}}) : std::nullopt;
}

DimSet RuledTable::still_open(DimSet since, std::size_t tile) const {
  for (const Axis& axis : axes_) {
    if (!since.empty() && tile / axis.stride % axis.sizes.size() == 0) {
      since.erase(axis.dims.front());
    }
  }
  return since;
}

// What is left of measured dims; 1 for the others, which no rule concerns.
PerDim<std::int64_t> RuledTable::left_at(std::size_t tile) const {
  PerDim<std::int64_t> left(space_->problem().workload().dims.size(), 1);
  for (const Axis& axis : axes_) {
    if (axis.measured) {
      left[axis.dims.front()] = axis.sizes[tile / axis.stride % axis.sizes.size()];
    }
  }
  return left;
}

const RuledTable::Ways& RuledTable::solve(const At& at, std::size_t tile) {
  const auto found = known_.find(key(at, tile));
  if (found != known_.end()) {
    return found->second;
  }
  stopped_ = stopped_ || (++solved_ % kPause == 0 && (*stop_)());
  Ways ways;
  for (const Axis& axis : axes_) {
    const std::size_t digit = tile / axis.stride % axis.sizes.size();
    for (std::size_t to = axis.measured ? 0 : digit - std::min<std::size_t>(digit, 1); to < digit;
         ++to) {
      const std::int64_t factor = axis.measured ? axis.sizes[digit] / axis.sizes[to] : 2;
      const bool divides = !axis.measured || axis.sizes[digit] % axis.sizes[to] == 0;
      const bool letters = axis.measured && !space_->constraints().one_loop_per_dim;
      // A loop of factor m is represented by every sequence of letters that multiply to m. Their
      // weights -mu add up to 1, so adjacent letters of one dim need not be distinguished.
      const int weight = !divides ? 0 : letters ? -moebius(factor) : 1;
      const auto next =
          weight != 0 && !stopped_ ? after_loop(at, axis.dims.front(), factor) : std::nullopt;
      if (next) {
        const Ways& below = solve(*next, tile - (digit - to) * axis.stride);
        ways.loops += weight * (below.loops + below.rest);
      }
    }
  }
  ways.rest = tile == 0 && ends(at) ? 1 : 0;
  const PerDim<std::int64_t> left = left_at(tile);
  for (const NextPoint& next_point : points_.from(at.cursor)) {
    if (const auto next = stopped_ ? std::nullopt : after_point(at, next_point, left)) {
      ways.rest += solve(*next, tile).loops + (tile == 0 && ends(*next) ? 1 : 0);
    }
  }
  return known_.emplace(key(at, tile), std::move(ways)).first->second;
}

std::vector<RuledTable::Start> RuledTable::starts(const PerDim<std::int64_t>& left) const {
  std::vector<Start> starts{{0, 1}};
  for (const Axis& axis : axes_) {
    std::vector<Start> longer;
    if (axis.measured) {
      const auto digit =
          std::lower_bound(axis.sizes.begin(), axis.sizes.end(), left[axis.dims.front()]) -
          axis.sizes.begin();
      for (const auto& [tile, ways] : starts) {
        longer.emplace_back(tile + static_cast<std::size_t>(digit) * axis.stride, ways);
      }
    } else {
      std::vector<mpz_class> letters{1};
      for (const DimId d : axis.dims) {
        letters = mix_letters(letters, letters_.at(left[d]));
      }
      for (const auto& [tile, ways] : starts) {
        for (std::size_t n = 0; n < letters.size(); ++n) {
          if (letters[n] != 0) {
            longer.emplace_back(tile + n * axis.stride, ways * letters[n]);
          }
        }
      }
    }
    starts = std::move(longer);
  }
  return starts;
}

std::optional<mpz_class> RuledTable::count(const PerDim<std::int64_t>& bounds,
                                           const std::function<bool()>& stop) {
  stop_ = &stop;
  for (const std::int64_t bound : bounds) {
    for (const std::int64_t left : divisors_of(bound)) {
      auto& letters = letters_[left];
      letters = letters.empty() ? count_letters(left) : letters;
    }
  }
  mpz_class count;
  for (const auto& [tile, ways] : starts(bounds)) {
    const Ways& whole = solve({}, tile);
    count += ways * (whole.loops + whole.rest);
  }
  stop_ = nullptr;
  return stopped_ ? std::nullopt : std::optional(count);
}

RuledTable::Ways RuledTable::ways(const At& at, const PerDim<std::int64_t>& left) const {
  Ways sum;
  for (const auto& [tile, ways] : starts(left)) {
    const auto found = known_.find(key(at, tile));
    if (found != known_.end()) {
      sum.loops += ways * found->second.loops;
      sum.rest += ways * found->second.rest;
    }
  }
  return sum;
}

std::shared_ptr<RuledTable> RuledTables::of(const UnrollingClass& unrolling_class) {
  const Workload& workload = space_->problem().workload();
  const std::vector<FanoutId> used = used_fanouts(unrolling_class);
  const Regions regions(*space_, used);
  const PerDim<std::int64_t> bounds = temporal_bounds(workload, unrolling_class);
  std::vector<std::int64_t> key;
  for (const FanoutId f : used) {
    key.push_back(static_cast<std::int64_t>(index_of(f)));
  }
  key.push_back(-1);
  for (const DimId d : workload.dims.ids()) {
    key.push_back(is_measured(*space_, regions, d) ? bounds[d] : 0);
  }
  for (const ExtentRule& rule : space_->constraints().extents) {
    key.push_back(factor_below(space_->problem().arch(), unrolling_class, rule.level, rule.dim));
  }
  auto& table = tables_[key];
  if (!table) {
    table = std::make_shared<RuledTable>(*space_, unrolling_class);
  }
  return table;
}

}  // namespace mapsim::nests
