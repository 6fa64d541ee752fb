// SPDX-License-Identifier: Apache-2.0
#include "check/regions.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "check/spatial.hpp"
#include "core/factor.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

// The numbers that rules may allow: products of the loops over a dim or, with imperfect factors,
// numbers of tiles.
std::vector<std::int64_t> numbers_up_to(std::int64_t bound, bool imperfect) {
  if (!imperfect) {
    return divisors_of(bound);
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(bound));
  std::iota(all.begin(), all.end(), 1);
  return all;
}

}  // namespace

Region::Region(const PerDim<std::int64_t>& bounds, Rule rule, bool imperfect)
    : rule_{std::move(rule)} {
  for (const DimId d : bounds.ids()) {
    if (imperfect) {
      divisors_.push_back(divisors_of(bounds[d] > 1 ? kAnyFactor : 1));
      counts_ = counts_ || rule_.products[d] != numbers_up_to(bounds[d], true);
      continue;
    }
    divisors_.push_back(divisors_of(bounds[d]));
    const bool any = rule_.products[d] == divisors_[d];
    const bool none = rule_.products[d] == std::vector<std::int64_t>{1};
    if (!any && !none) {
      counted_.insert(d);
    }
  }
  std::erase(rule_.groups, DimSet{});
  // Every reading that there is, in order: loops lead to a later group or multiply something.
  Reading start(1 + bounds.size(), 1);
  start[0] = 0;
  std::map<Reading, std::size_t> numbers{{start, 0}};
  std::vector<Reading> open{start};
  while (!open.empty()) {
    const Reading reading = open.back();
    open.pop_back();
    for (const DimId d : bounds.ids()) {
      for (const std::int64_t factor : divisors_[d]) {
        const auto next = factor > 1 ? read(reading, d, factor) : std::nullopt;
        if (next && numbers.emplace(*next, 0).second) {
          open.push_back(*next);
        }
      }
    }
  }
  std::size_t number = 0;
  for (auto& reading : numbers) {
    reading.second = number++;
  }
  for (const auto& [reading, state] : numbers) {
    auto& row = after_.emplace_back();
    row.resize(bounds.size());
    bool ends = true;
    for (const DimId d : bounds.ids()) {
      for (const std::int64_t factor : divisors_[d]) {
        const auto next = read(reading, d, factor);
        row[d].push_back(next ? std::optional{numbers.at(*next)} : std::nullopt);
      }
      const auto& products = rule_.products[d];
      ends =
          ends && (!counted_.contains(d) || std::find(products.begin(), products.end(),
                                                      reading[1 + index_of(d)]) != products.end());
    }
    ends_.push_back(ends);
  }
}

// A group that has been left does not come again.
std::optional<Region::Reading> Region::read(Reading reading, DimId dim, std::int64_t factor) const {
  if (factor == 1) {
    return reading;
  }
  auto group = static_cast<std::size_t>(reading[0]);
  while (group < rule_.groups.size() && !rule_.groups[group].contains(dim)) {
    ++group;
  }
  if (group == rule_.groups.size()) {
    return std::nullopt;
  }
  reading[0] = static_cast<std::int64_t>(group);
  if (counted_.contains(dim)) {
    std::int64_t& product = reading[1 + index_of(dim)];
    product *= factor;
    const auto& products = rule_.products[dim];
    if (std::none_of(products.begin(), products.end(),
                     [&](std::int64_t whole) { return whole % product == 0; })) {
      return std::nullopt;
    }
  }
  return reading;
}

bool Region::allows(DimId dim, std::int64_t tiles) const {
  return std::binary_search(rule_.products[dim].begin(), rule_.products[dim].end(), tiles);
}

std::optional<std::size_t> Region::after(std::size_t state, DimId dim, std::int64_t factor) const {
  const auto& divisors = divisors_[dim];
  const auto found = std::lower_bound(divisors.begin(), divisors.end(), factor);
  return after_[state][dim][static_cast<std::size_t>(found - divisors.begin())];
}

namespace {

// A node between loops, from the outside in; it may or may not have a place in the nest.
struct NestNode {
  const LoopRule* rule = nullptr;
  std::optional<std::size_t> used;  // fanout
  std::optional<LevelId> level;     // of an even space, that may keep something
};

const LoopRule* rule_of(const Rules& rules, std::optional<LevelId> level,
                        std::optional<FanoutId> fanout) {
  for (const LoopRule& rule : rules.loops) {
    if (rule.level == level && rule.fanout == fanout) {
      return &rule;
    }
  }
  return nullptr;
}

std::vector<NestNode> list_nodes(const Problem& problem, const Rules& rules,
                                 const std::vector<FanoutId>& used) {
  const Arch& arch = problem.arch();
  std::vector<NestNode> nodes;
  std::size_t fanout = 0;
  const auto add_fanouts = [&](std::size_t levels_above) {
    for (; fanout < arch.fanouts.size(); ++fanout) {
      const auto f = static_cast<FanoutId>(fanout);
      if (arch.levels_above[f] > levels_above) {
        return;
      }
      const auto at = std::find(used.begin(), used.end(), f);
      const auto index = static_cast<std::size_t>(at - used.begin());
      nodes.push_back({rule_of(rules, std::nullopt, f),
                       at == used.end() ? std::nullopt : std::optional{index}, std::nullopt});
    }
  };
  for (std::size_t l = 1; l < arch.levels.size(); ++l) {
    add_fanouts(l);
    const auto level = static_cast<LevelId>(l);
    bool keeps = false;
    for (const TensorId t : problem.workload().tensors.ids()) {
      keeps = keeps || may_keep(problem, rules, level, t);
    }
    if (rules.even) {
      nodes.push_back({rule_of(rules, level, std::nullopt), std::nullopt,
                       keeps ? std::optional{level} : std::nullopt});
    }
  }
  add_fanouts(arch.levels.size());
  nodes.push_back({rule_of(rules, std::nullopt, std::nullopt), std::nullopt, std::nullopt});
  return nodes;
}

DimSet without(DimSet set, DimSet others) { return DimSet::from_bits(set.bits() & ~others.bits()); }

// What a rule allows right above its node, without dims that rules further out have exhausted.
Region::Rule allowed_by(const LoopRule* rule, const PerDim<std::int64_t>& bounds, DimSet exhausted,
                        bool imperfect) {
  DimSet all;
  for (const DimId d : bounds.ids()) {
    all.insert(d);
  }
  Region::Rule made;
  made.products.resize(bounds.size());
  made.groups = rule != nullptr && rule->order ? *rule->order : std::vector<DimSet>{all};
  DimSet named;
  for (DimSet& group : made.groups) {
    group = without(group, exhausted);
    named = named | group;
  }
  for (const DimId d : bounds.ids()) {
    for (const std::int64_t n : numbers_up_to(named.contains(d) ? bounds[d] : 1, imperfect)) {
      const bool allowed =
          rule == nullptr ||
          std::all_of(rule->factors.begin(), rule->factors.end(), [&](const auto& factor) {
            return factor.first != d || factor.second.contains(n);
          });
      if (allowed) {
        made.products[d].push_back(n);
      }
    }
    for (DimSet& group : made.groups) {
      if (made.products[d] == std::vector<std::int64_t>{1}) {
        group.erase(d);  // no loop at all
      }
    }
  }
  return made;
}

Region::Rule joined(Region::Rule outer, const Region::Rule& inner,
                    const PerDim<std::int64_t>& bounds, bool imperfect) {
  outer.groups.insert(outer.groups.end(), inner.groups.begin(), inner.groups.end());
  for (const DimId d : bounds.ids()) {
    std::vector<std::int64_t> products;
    const auto has = [](const std::vector<std::int64_t>& list, std::int64_t number) {
      return std::binary_search(list.begin(), list.end(), number);
    };
    for (const std::int64_t n : numbers_up_to(bounds[d], imperfect)) {
      const std::vector<std::int64_t> parts = divisors_of(n);
      const bool splits = std::any_of(parts.begin(), parts.end(), [&](std::int64_t part) {
        return has(outer.products[d], part) && has(inner.products[d], n / part);
      });
      if (splits) {
        products.push_back(n);
      }
    }
    outer.products[d] = std::move(products);
  }
  return outer;
}

}  // namespace

Regions::Regions(const Problem& problem, const Rules& rules, const std::vector<FanoutId>& used) {
  const PerDim<std::int64_t> bounds = bounds_of(problem.workload());
  const std::vector<NestNode> nodes = list_nodes(problem, rules, used);
  // Is there a rule between node `first` (excluded) and the next node with a place?
  const auto is_ruled = [&](std::size_t first) {
    for (std::size_t n = first; n < nodes.size(); ++n) {
      if (nodes[n].rule != nullptr || nodes[n].used || nodes[n].level) {
        return nodes[n].rule != nullptr;
      }
    }
    return false;
  };
  DimSet exhausted;
  std::optional<Region::Rule> open;
  bool ruled_above = false;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const LoopRule* rule = nodes[n].rule;
    Region::Rule here = allowed_by(rule, bounds, exhausted, rules.imperfect);
    ruled_above = ruled_above || rule != nullptr;
    // Behind a level that is no border the same region goes on.
    open = open && ruled_above ? joined(*std::move(open), here, bounds, rules.imperfect)
                               : std::move(here);
    exhausted = exhausted | (rule != nullptr ? rule->rest : DimSet{});
    if (nodes[n].used || (nodes[n].level && (ruled_above || is_ruled(n + 1)))) {
      regions_.emplace_back(bounds, *std::move(open), rules.imperfect);
      borders_.push_back({nodes[n].used, nodes[n].level.value_or(LevelId{})});
      open.reset();
      ruled_above = false;
    }
  }
  regions_.emplace_back(bounds, *std::move(open), rules.imperfect);
}

bool Regions::ends_at(LevelId level) const {
  return std::any_of(borders_.begin(), borders_.end(), [level](const Border& border) {
    return !border.fanout && border.level == level;
  });
}

std::size_t Regions::behind(std::size_t fanouts, std::size_t levels) const {
  return static_cast<std::size_t>(
      std::count_if(borders_.begin(), borders_.end(), [&](const Border& border) {
        return border.fanout ? *border.fanout < fanouts : index_of(border.level) < levels;
      }));
}

std::optional<std::size_t> Regions::enter(std::size_t from, std::size_t state,
                                          std::size_t to) const {
  for (; from < to; ++from, state = 0) {
    if (!regions_[from].may_end(state)) {
      return std::nullopt;
    }
  }
  return state;
}

bool Regions::allow(std::size_t from, std::size_t to, const PerDim<std::int64_t>& begun,
                    const PerDim<std::int64_t>& tile) const {
  for (std::size_t r = from; r < to; ++r) {
    for (const DimId d : tile.ids()) {
      if (!regions_[r].allows(d, r > from ? 1 : (begun[d] - 1) / tile[d] + 1)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace mapsim::check
