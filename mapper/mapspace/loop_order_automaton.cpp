// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/loop_order_automaton.hpp"

#include <algorithm>
#include <utility>

#include "core/factor.hpp"
#include "costmodel/nest.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {
namespace {

DimSet all_dims(std::size_t count) { return DimSet::from_bits((std::uint32_t{1} << count) - 1); }

DimSet without(DimSet set, DimSet others) { return DimSet::from_bits(set.bits() & ~others.bits()); }

constexpr std::int64_t kNoNumber = 0;
const Allowed kNone{{kNoNumber}, 1, 1};

// Is the number a product of one number from each of the sets from `first` on?
bool splits_into(const std::vector<Allowed>& parts, std::size_t first, std::int64_t number) {
  if (first + 1 == parts.size()) {
    return parts[first].contains(number);
  }
  const std::vector<std::int64_t> factors = divisors_of(number);
  return std::any_of(factors.begin(), factors.end(), [&](std::int64_t factor) {
    return parts[first].contains(factor) && splits_into(parts, first + 1, number / factor);
  });
}

}  // namespace

Region::Region(const PerDim<std::int64_t>& bounds, const LoopRule* rule, DimSet exhausted,
               bool imperfect)
    : imperfect_{imperfect}, bounds_{bounds}, groups_{all_dims(bounds.size())} {
  if (rule != nullptr && rule->ordered) {
    groups_ = rule->order;
  }
  for (DimSet& group : groups_) {
    group = without(group, exhausted);
  }
  for (const DimId d : bounds.ids()) {
    if (imperfect) {
      Allowed all;
      all.most = groups_of(d) == 0 ? 1 : all.most;
      for (const FactorRule& factor : rule != nullptr ? rule->factors : std::vector<FactorRule>{}) {
        all = factor.dim == d ? both(all, factor.factors).value_or(kNone) : all;
      }
      parts_.push_back({all});
      continue;
    }
    divisors_.push_back(divisors_of(bounds[d]));
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
  list_states();
}

namespace {

bool has_more(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  return a.size() > b.size();
}

}  // namespace

Region Region::joined_with(const Region& inner) const {
  Region joined = *this;
  joined.groups_.insert(joined.groups_.end(), inner.groups_.begin(), inner.groups_.end());
  for (const DimId d : parts_.ids()) {
    joined.parts_[d].insert(joined.parts_[d].end(), inner.parts_[d].begin(), inner.parts_[d].end());
  }
  for (const DimId d : factors_.ids()) {
    const auto [all, others] = std::minmax(factors_[d], inner.factors_[d], has_more);
    if (all == divisors_[d] && std::binary_search(others.begin(), others.end(), 1)) {
      joined.factors_[d] = all;
      continue;
    }
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
  joined.list_states();
  return joined;
}

// Imperfect factors: removes dims that cannot be cut. The number of tiles is checked by the caller.
void Region::list_imperfect_states() {
  for (const DimId d : parts_.ids()) {
    if (std::all_of(parts_[d].begin(), parts_[d].end(),
                    [&](const Allowed& part) { return !both(part, Allowed{{}, 2, bounds_[d]}); })) {
      for (DimSet& group : groups_) {
        group.erase(d);
      }
    }
  }
}

// Makes groups and tracked dims consistent with the allowed factors.
void Region::list_states() {
  list_imperfect_states();
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
        for (const std::int64_t part : divisors_of(n)) {
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

bool Region::allows(DimId dim, std::int64_t tiles) const {
  return splits_into(parts_[dim], 0, tiles);
}

bool Region::tracks(DimId dim) const {
  if (imperfect_) {
    const auto& parts = parts_[dim];
    const bool free = std::any_of(parts.begin(), parts.end(), [&](const Allowed& part) {
      return part.values.empty() && part.least == 1 && part.most >= bounds_[dim];
    });
    return groups_of(dim) != 0 && !(free && allows(dim, 1));
  }
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

// A node of the architecture right above which loops can stand.
struct Part {
  Region region;
  // Nullopt: the compute units, or a node without a place in a mapping
  std::optional<Regions::Border> border;
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
    parts.push_back({Region(bounds, rule, exhausted, space.constraints().factors.imperfect), border,
                     rule != nullptr});
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
  // The joined regions of nodes without a place, waiting for a node with one
  std::optional<Region> open;
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
  regions_.push_back(std::move(*open));  // the compute units separate nothing
  // Two adjacent regions without rules are alike, and need no level between them.
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

bool Regions::allow(std::size_t from, std::size_t region, const PerDim<std::int64_t>& begun,
                    const PerDim<std::int64_t>& tile) const {
  for (std::size_t r = from; r < region; ++r) {
    for (const DimId d : tile.ids()) {
      const std::int64_t tiles = r > from ? 1 : (begun[d] + tile[d] - 1) / tile[d];
      if (!regions_[r].allows(d, tiles)) {
        return false;
      }
    }
  }
  return true;
}

DimSet done_below(const std::vector<ExtentRule>& rules, LevelId level, TensorSet tensors) {
  DimSet dims;
  for (const ExtentRule& rule : rules) {
    if (rule.done && rule.level == level && tensors.contains(rule.tensor)) {
      dims.insert(rule.dim);
    }
  }
  return dims;
}

bool fits_rules(const std::vector<ExtentRule>& rules, LevelId level, TensorSet tensors,
                const PerDim<std::int64_t>& extents, const PerDim<std::int64_t>& left) {
  return std::all_of(rules.begin(), rules.end(), [&](const ExtentRule& rule) {
    return rule.level != level || !tensors.contains(rule.tensor) ||
           (rule.extents.contains(extents[rule.dim]) && (!rule.done || left[rule.dim] == 1));
  });
}

namespace {

// Reads a mapping from the outside in.
class RuleReading {
 public:
  RuleReading(const Mapspace& space, const Mapping& mapping)
      : space_{space},
        mapping_{mapping},
        used_{used_fanouts(mapping)},
        regions_{space, used_},
        extents_{bounds_of(space.problem().workload())},
        begun_{extents_} {}

  bool obeys() {
    const bool imperfect = space_.constraints().factors.imperfect;
    // Left to temporal loops; imperfect factors: unknown
    PerDim<std::int64_t> left(extents_.size(), 1);
    for (const MappingNode& node : mapping_.nodes) {
      const auto* loop = std::get_if<Temporal>(&node);
      const DimId dim = loop != nullptr ? loop->dim : DimId{};
      left[dim] *= loop != nullptr && !imperfect ? extents_[dim] / loop->extent : 1;
      note_extent(node);
    }
    extents_ = begun_;
    for (const MappingNode& node : mapping_.nodes) {
      if (!read(node, left)) {
        return false;
      }
    }
    return keeps_borders() && regions_.may_end(state_) &&
           (!imperfect || regions_.allow(state_.region, regions_.size(), begun_, extents_));
  }

 private:
  static std::vector<FanoutId> used_fanouts(const Mapping& mapping) {
    std::vector<FanoutId> used;
    for (const MappingNode& node : mapping.nodes) {
      const auto* parallel = std::get_if<Parallel>(&node);
      if (parallel != nullptr && (used.empty() || used.back() != parallel->fanout)) {
        used.push_back(parallel->fanout);
      }
    }
    return used;
  }

  // Does each level between two regions keep something?
  bool keeps_borders() const {
    return std::all_of(regions_.borders().begin(), regions_.borders().end(),
                       [this](const Regions::Border& border) {
                         return border.fanout ||
                                std::any_of(mapping_.nodes.begin(), mapping_.nodes.end(),
                                            [&border](const MappingNode& node) {
                                              const auto* keep = std::get_if<Keep>(&node);
                                              return keep != nullptr && keep->level == border.level;
                                            });
                       });
  }

  void note_extent(const MappingNode& node) {
    if (const auto* loop = std::get_if<Temporal>(&node)) {
      extents_[loop->dim] = loop->extent;
    } else if (const auto* parallel = std::get_if<Parallel>(&node)) {
      extents_[parallel->dim] = parallel->extent;
    }
  }

  bool read(const MappingNode& node, PerDim<std::int64_t>& left) {
    const bool imperfect = space_.constraints().factors.imperfect;
    const auto& rules = space_.constraints().extents;
    const auto* keep = std::get_if<Keep>(&node);
    const auto* loop = std::get_if<Temporal>(&node);
    const auto* parallel = std::get_if<Parallel>(&node);
    if (loop == nullptr) {
      since_ = {};
    } else if (space_.constraints().one_loop_per_dim && since_.contains(loop->dim)) {
      return false;
    } else {
      since_.insert(loop->dim);
    }
    if (keep != nullptr) {
      level_ = index_of(keep->level);
      if (!fits_rules(rules, keep->level, keep->tensors, extents_, left)) {
        return false;
      }
      done_ = done_ | (imperfect ? done_below(rules, keep->level, keep->tensors) : DimSet{});
    } else if (loop != nullptr) {
      const std::int64_t factor = imperfect ? 1 : extents_[loop->dim] / loop->extent;
      const auto next = regions_.after_loop(state_, loop->dim, factor);
      if (!next || done_.contains(loop->dim)) {
        return false;
      }
      state_ = *next;
      left[loop->dim] /= factor;
    } else {
      fanouts_ = static_cast<std::size_t>(std::find(used_.begin(), used_.end(), parallel->fanout) -
                                          used_.begin() + 1);
    }
    const bool entered = enter(regions_.below(fanouts_, level_));
    note_extent(node);
    if (parallel != nullptr) {
      // The region below begins behind all parallel loops
      begun_[parallel->dim] = parallel->extent;
    }
    return entered;
  }

  bool enter(std::size_t region) {
    const auto next = regions_.enter(state_, region);
    if (!next || (space_.constraints().factors.imperfect &&
                  !regions_.allow(state_.region, region, begun_, extents_))) {
      return false;
    }
    begun_ = next->region != state_.region ? extents_ : begun_;
    state_ = *next;
    return true;
  }

  const Mapspace& space_;
  const Mapping& mapping_;
  std::vector<FanoutId> used_;
  Regions regions_;
  PerDim<std::int64_t> extents_;
  PerDim<std::int64_t> begun_;  // extents at which the region began
  Regions::State state_;
  DimSet done_;
  DimSet since_;  // dims with a loop since the last keep or fanout
  std::size_t fanouts_ = 0;
  std::size_t level_ = 0;
};

}  // namespace

bool obeys_rules(const Mapspace& space, const Mapping& mapping) {
  return RuleReading{space, mapping}.obeys();
}

}  // namespace mapsim
