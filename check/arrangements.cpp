// SPDX-License-Identifier: Apache-2.0
#include "check/arrangements.hpp"

#include <algorithm>

namespace mapsim::check {

namespace {

bool may_skip(const std::vector<Arrangements::Link>& chain, std::size_t first, std::size_t last) {
  for (; first < last; ++first) {
    if (!chain[first].skip) {
      return false;
    }
  }
  return true;
}

}  // namespace

Arrangements::Arrangements(const Problem& problem, const Rules& rules,
                           const std::vector<FanoutId>& used)
    : problem_{problem},
      rules_{rules},
      used_{used},
      regions_{problem, rules, used},
      chains_{chains_at({}, {})} {}

Arrangements::Chains Arrangements::chains_at(const std::vector<PerDim<std::int64_t>>& extents,
                                             const PerDim<std::int64_t>& left) const {
  const std::size_t tensors = problem_.workload().tensors.size();
  Chains chains;
  for (std::size_t c = 0; c < (rules_.even ? 1 : tensors); ++c) {
    auto& chain = chains.emplace_back();
    std::size_t crossed = 0;
    for (const LevelId l : problem_.arch().levels.ids()) {
      while (crossed < used_.size() && !problem_.arch().is_above(l, used_[crossed])) {
        ++crossed;
      }
      Link link{1, true};
      for (std::size_t i = c; i < (rules_.even ? tensors : c + 1); ++i) {
        const auto t = static_cast<TensorId>(i);
        const bool must = must_keep(problem_, rules_, l, t);
        const bool may = may_keep(problem_, rules_, l, t) &&
                         (extents.empty() || allows_extents(rules_, l, t, extents[crossed], left));
        link.skip = link.skip && !must;
        link.ways *= (must ? 0 : 1) + (may ? 1 : 0);
      }
      link.ways -= link.skip ? 1 : 0;  // the empty set
      link.skip = link.skip && !regions_.ends_at(l);
      chain.push_back(link);
    }
  }
  return chains;
}

Arrangements::Ways Arrangements::start() const {
  return {{State{std::vector<std::size_t>(chains_.size(), 1), 0, 0}, mpz_class{1}}};
}

// Levels end regions in even spaces only, which have a single chain.
std::size_t Arrangements::region_of(const State& state) const {
  return regions_.behind(state.crossed, rules_.even ? state.next.front() : 0);
}

std::optional<Arrangements::State> Arrangements::after_loop(const State& state, DimId dim,
                                                            std::int64_t factor) const {
  const auto reading = regions_[region_of(state)].after(state.reading, dim, factor);
  const std::uint32_t bit = rules_.once ? std::uint32_t{1} << index_of(dim) : 0;
  return reading && (state.since & bit) == 0
             ? std::optional{State{state.next, state.crossed, *reading, state.since | bit}}
             : std::nullopt;
}

mpz_class Arrangements::whole(const Ways& ways) const {
  mpz_class sum = 0;
  for (const auto& [state, count] : ways) {
    bool whole = state.crossed == used_.size();
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      whole = whole && may_skip(chains_[c], state.next[c], chains_[c].size());
    }
    whole = whole && regions_[region_of(state)].may_end(state.reading);
    sum += whole ? count : mpz_class{0};
  }
  return sum;
}

std::size_t Arrangements::most_points() const {
  return used_.size() + chains_.size() * (problem_.arch().levels.size() - 1);
}

// Levels above the fanouts that will have been crossed cannot be placed any more; those below the
// next fanout cannot be placed yet.
std::vector<Arrangements::Step> Arrangements::steps(const std::vector<Link>& chain,
                                                    std::size_t from, std::size_t crossed) const {
  const Arch& arch = problem_.arch();
  const std::size_t behind = crossed == 0 ? 1 : arch.levels_above[used_[crossed - 1]];
  const std::size_t reach =
      crossed < used_.size() ? arch.levels_above[used_[crossed]] : arch.levels.size();
  std::vector<Step> found;
  if (may_skip(chain, from, behind)) {
    found.push_back({std::max(from, behind), 1, false});
  }
  mpz_class subsets = 1;  // subsets of the levels from .. next - 1
  for (std::size_t next = from; next < reach; ++next) {
    const Link& link = chain[next];
    if (link.ways > 0 && subsets > 0 && may_skip(chain, next + 1, behind)) {
      found.push_back({std::max(next + 1, behind), subsets * link.ways, true});
    }
    subsets *= link.ways + (link.skip ? 1 : 0);
  }
  return found;
}

Arrangements::Ways Arrangements::occupy(const Ways& before, const Chains& chains) const {
  Ways found;
  for (const auto& [state, ways] : before) {
    for (std::size_t crossed = state.crossed; crossed <= used_.size(); ++crossed) {
      take(chains, state, {{}, crossed, 0, 0}, ways, crossed > state.crossed, found);
    }
  }
  return found;
}

void Arrangements::take(const Chains& chains, const State& from, const State& to,
                        const mpz_class& ways, bool occupied, Ways& found) const {
  const std::size_t c = to.next.size();
  if (c == chains.size()) {
    const auto reading = regions_.enter(region_of(from), from.reading, region_of(to));
    if (occupied && reading) {
      found[{to.next, to.crossed, *reading, 0}] += ways;
    }
    return;
  }
  for (const Step& step : steps(chains[c], from.next[c], to.crossed)) {
    State longer = to;
    longer.next.push_back(step.next);
    take(chains, from, longer, ways * step.ways, occupied || step.takes, found);
  }
}

}  // namespace mapsim::check
