// SPDX-License-Identifier: Apache-2.0
#include "mapper/regions.hpp"

#include <algorithm>
#include <utility>

#include "costmodel/nest.hpp"
#include "mapper/factor.hpp"
#include "mapper/mapspace.hpp"

namespace mapsim {
namespace {

DimSet all_dims(std::size_t count) { return DimSet::from_bits((std::uint32_t{1} << count) - 1); }

DimSet without(DimSet set, DimSet others) { return DimSet::from_bits(set.bits() & ~others.bits()); }

}  // namespace

Region::Region(const PerDim<std::int64_t>& bounds, const LoopRule* rule, DimSet exhausted)
    : groups_{all_dims(bounds.size())} {
  if (rule != nullptr && rule->ordered) {
    groups_ = rule->order;
  }
  for (DimSet& group : groups_) {
    group = without(group, exhausted);
  }
  for (const DimId d : bounds.ids()) {
    divisors_.push_back(divisors(bounds[d]));
    factors_.push_back(divisors_[d]);
    if (groups_of(d) == 0) {
      factors_[d] = {1};
    }
    for (const FactorRule& factor : rule != nullptr ? rule->factors : std::vector<FactorRule>{}) {
      if (factor.dim == d) {
        std::erase_if(factors_[d], [&](std::int64_t n) { return !factor.factors.contains(n); });
      }
    }
  }
  settle();
}

Region Region::joined_with(const Region& inner) const {
  Region joined = *this;
  joined.groups_.insert(joined.groups_.end(), inner.groups_.begin(), inner.groups_.end());
  for (const DimId d : factors_.ids()) {
    std::vector<std::int64_t> products;
    for (const std::int64_t a : factors_[d]) {
      for (const std::int64_t b : inner.factors_[d]) {
        if (std::binary_search(divisors_[d].begin(), divisors_[d].end(), a * b)) {
          products.push_back(a * b);
        }
      }
    }
    std::sort(products.begin(), products.end());
    products.erase(std::unique(products.begin(), products.end()), products.end());
    joined.factors_[d] = std::move(products);
  }
  joined.settle();
  return joined;
}

// Brings the groups and what is tracked in line with the factors.
void Region::settle() {
  tracked_.clear();
  states_ = 1;
  for (const DimId d : factors_.ids()) {
    const std::vector<std::int64_t>& allowed = factors_[d];
    if (allowed == std::vector<std::int64_t>{1}) {
      for (DimSet& group : groups_) {
        group.erase(d);
      }
    } else if (allowed != divisors_[d]) {
      Tracked tracked{d, {1}, {}, states_};
      for (const std::int64_t n : allowed) {
        for (const std::int64_t part : divisors(n)) {
          tracked.products.push_back(part);
        }
      }
      std::vector<std::int64_t>& products = tracked.products;
      std::sort(products.begin(), products.end());
      products.erase(std::unique(products.begin(), products.end()), products.end());
      for (const std::int64_t n : products) {
        tracked.allowed.push_back(std::binary_search(allowed.begin(), allowed.end(), n));
      }
      states_ *= products.size();
      tracked_.push_back(std::move(tracked));
    }
  }
  std::erase(groups_, DimSet{});
  groups_.erase(std::unique(groups_.begin(), groups_.end()), groups_.end());
  stride_ = states_;
  states_ *= std::max<std::size_t>(groups_.size(), 1);
}

std::optional<std::size_t> Region::after(std::size_t state, DimId dim, std::int64_t factor) const {
  std::size_t group = state / stride_;
  while (group < groups_.size() && !groups_[group].contains(dim)) {
    ++group;
  }
  if (group >= groups_.size()) {
    return std::nullopt;
  }
  std::size_t next = state % stride_ + group * stride_;
  for (const Tracked& tracked : tracked_) {
    if (tracked.dim == dim) {
      const std::vector<std::int64_t>& products = tracked.products;
      const std::size_t digit = state / tracked.stride % products.size();
      const auto found =
          std::lower_bound(products.begin(), products.end(), products[digit] * factor);
      if (found == products.end() || *found != products[digit] * factor) {
        return std::nullopt;
      }
      next += (static_cast<std::size_t>(found - products.begin()) - digit) * tracked.stride;
    }
  }
  return next;
}

bool Region::may_end(std::size_t state) const {
  return std::all_of(tracked_.begin(), tracked_.end(), [state](const Tracked& tracked) {
    return tracked.allowed[state / tracked.stride % tracked.products.size()];
  });
}

bool Region::tracks(DimId dim) const {
  return std::any_of(tracked_.begin(), tracked_.end(),
                     [dim](const Tracked& tracked) { return tracked.dim == dim; });
}

std::uint64_t Region::groups_of(DimId dim) const {
  std::uint64_t bits = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    bits |= groups_[g].contains(dim) ? std::uint64_t{1} << g : 0;
  }
  return bits;
}

namespace {

// A node of the architecture that loops can stand above, and whether it parts what is around it.
struct Part {
  Region region;
  std::optional<Regions::Border> border;  // none: the compute units, or no place in a mapping
  bool ruled = false;
};

const LoopRule* find_rule(const std::vector<LoopRule>& rules, std::optional<LevelId> level,
                          std::optional<FanoutId> fanout) {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const LoopRule& rule) {
    return rule.level == level && rule.fanout == fanout;
  });
  return found == rules.end() ? nullptr : &*found;
}

bool may_keep_something(const Mapspace& space, LevelId level) {
  for (const TensorId t : space.problem().workload().tensors.ids()) {
    if (space.keep_rule(level, t) != KeepRule::kBypass) {
      return true;
    }
  }
  return false;
}

std::vector<Part> parts_of(const Mapspace& space, const std::vector<FanoutId>& used) {
  const Arch& arch = space.problem().arch();
  const PerDim<std::int64_t> bounds = bounds_of(space.problem().workload());
  const std::vector<LoopRule>& rules = space.constraints().loops;
  std::vector<Part> parts;
  DimSet exhausted;
  const auto add = [&](const LoopRule* rule, std::optional<Regions::Border> border) {
    parts.push_back({Region(bounds, rule, exhausted), border, rule != nullptr});
    exhausted = rule != nullptr ? exhausted | rule->rest : exhausted;
  };
  for (std::size_t l = 1; l <= arch.levels.size(); ++l) {
    for (const FanoutId f : arch.fanouts.ids()) {
      if (arch.levels_above[f] == l) {
        const auto at = std::find(used.begin(), used.end(), f);
        const auto index = static_cast<std::size_t>(at - used.begin());
        add(find_rule(rules, std::nullopt, f),
            at == used.end() ? std::nullopt : std::optional(Regions::Border{index, LevelId{}}));
      }
    }
    if (l < arch.levels.size() && space.constraints().even) {
      const auto level = static_cast<LevelId>(l);
      add(find_rule(rules, level, std::nullopt),
          may_keep_something(space, level) ? std::optional(Regions::Border{std::nullopt, level})
                                           : std::nullopt);
    }
  }
  add(find_rule(rules, std::nullopt, std::nullopt), std::nullopt);
  return parts;
}

}  // namespace

Regions::Regions(const Mapspace& space, const std::vector<FanoutId>& used) {
  std::optional<Region> open;  // of nodes without a place, waiting for one that has
  std::vector<bool> ruled{false};
  for (Part& part : parts_of(space, used)) {
    open = open ? open->joined_with(part.region) : std::move(part.region);
    ruled.back() = ruled.back() || part.ruled;
    if (part.border) {
      regions_.push_back(std::move(*open));
      borders_.push_back(*part.border);
      ruled.push_back(false);
      open.reset();
    }
  }
  regions_.push_back(std::move(*open));  // the compute units part nothing
  // Regions without rules are alike, and need no level between them.
  for (std::size_t b = borders_.size(); b-- > 0;) {
    if (!borders_[b].fanout && !ruled[b] && !ruled[b + 1]) {
      borders_.erase(borders_.begin() + static_cast<std::ptrdiff_t>(b));
      regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(b));
      ruled.erase(ruled.begin() + static_cast<std::ptrdiff_t>(b));
    }
  }
}

bool Regions::is_border(LevelId level) const {
  return std::find(borders_.begin(), borders_.end(), Border{std::nullopt, level}) != borders_.end();
}

std::size_t Regions::below(std::size_t fanouts, std::size_t level) const {
  const auto passed = std::find_if(borders_.begin(), borders_.end(), [&](const Border& border) {
    return border.fanout ? *border.fanout >= fanouts : index_of(border.level) > level;
  });
  return static_cast<std::size_t>(passed - borders_.begin());
}

std::optional<Regions::State> Regions::after_loop(State state, DimId dim,
                                                  std::int64_t factor) const {
  const auto next = regions_[state.region].after(state.of_region, dim, factor);
  return next ? std::optional(State{state.region, *next}) : std::nullopt;
}

std::optional<Regions::State> Regions::enter(State state, std::size_t region) const {
  for (; state.region < region; state = {state.region + 1, 0}) {
    if (!regions_[state.region].may_end(state.of_region)) {
      return std::nullopt;
    }
  }
  return state;
}

bool Regions::may_end(State state) const {
  return state.region + 1 == regions_.size() && regions_.back().may_end(state.of_region);
}

bool fits_rules(const std::vector<ExtentRule>& rules, LevelId level, TensorSet tensors,
                const PerDim<std::int64_t>& extents, const PerDim<std::int64_t>& left) {
  return std::all_of(rules.begin(), rules.end(), [&](const ExtentRule& rule) {
    return rule.level != level || !tensors.contains(rule.tensor) ||
           (rule.extents.contains(extents[rule.dim]) && (!rule.done || left[rule.dim] == 1));
  });
}

bool obeys_rules(const Mapspace& space, const Mapping& mapping) {
  std::vector<FanoutId> used;
  PerDim<std::int64_t> extents = bounds_of(space.problem().workload());
  PerDim<std::int64_t> left(extents.size(), 1);  // to temporal loops
  for (const MappingNode& node : mapping.nodes) {
    if (const auto* parallel = std::get_if<Parallel>(&node)) {
      extents[parallel->dim] = parallel->extent;
      if (used.empty() || used.back() != parallel->fanout) {
        used.push_back(parallel->fanout);
      }
    } else if (const auto* loop = std::get_if<Temporal>(&node)) {
      left[loop->dim] *= extents[loop->dim] / loop->extent;
      extents[loop->dim] = loop->extent;
    }
  }
  const Regions regions(space, used);
  extents = bounds_of(space.problem().workload());
  std::optional<Regions::State> state = Regions::State{};
  std::size_t fanouts = 0;
  std::size_t level = 0;
  for (const MappingNode& node : mapping.nodes) {
    if (const auto* keep = std::get_if<Keep>(&node)) {
      level = index_of(keep->level);
      if (!fits_rules(space.constraints().extents, keep->level, keep->tensors, extents, left)) {
        return false;
      }
    } else if (const auto* loop = std::get_if<Temporal>(&node)) {
      state = regions.after_loop(*state, loop->dim, extents[loop->dim] / loop->extent);
      left[loop->dim] /= extents[loop->dim] / loop->extent;
      extents[loop->dim] = loop->extent;
    } else {
      const auto& parallel = std::get<Parallel>(node);
      fanouts = static_cast<std::size_t>(std::find(used.begin(), used.end(), parallel.fanout) -
                                         used.begin() + 1);
      extents[parallel.dim] = parallel.extent;
    }
    state = state ? regions.enter(*state, regions.below(fanouts, level)) : state;
    if (!state) {
      return false;
    }
  }
  return regions.may_end(*state);
}

}  // namespace mapsim
