// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/shared_bounds.hpp"

#include <algorithm>
#include <optional>

#include "arch/physical.hpp"

namespace mapsim {

namespace {

// A class is bounded once, up to this times the limit of that call, since designs with less
// capacity have higher optima.
constexpr double kMargin = 1.5;
constexpr std::int64_t kPatience = 2;

bool has_at_least(const Capacity& wide, const Capacity& narrow) {
  if (wide.unlimited() || narrow.unlimited() ||
      wide.shared.has_value() != narrow.shared.has_value() ||
      wide.per_role.size() != narrow.per_role.size()) {
    return wide == narrow;
  }
  return wide.shared.value_or(Bits{0}) >= narrow.shared.value_or(Bits{0}) &&
         std::all_of(narrow.per_role.begin(), narrow.per_role.end(), [&wide](const auto& entry) {
           const auto at = wide.per_role.find(entry.first);
           return at != wide.per_role.end() && at->second >= entry.second;
         });
}

void widen(Capacity& capacity, const Capacity& other) {
  if (capacity.shared && other.shared) {
    capacity.shared = std::max(*capacity.shared, *other.shared);
  }
  for (auto& [role, bits] : capacity.per_role) {
    if (const auto at = other.per_role.find(role); at != other.per_role.end()) {
      bits = std::max(bits, at->second);
    }
  }
}

}  // namespace

bool is_within(const Arch& arch, const Arch& widest) {
  if (arch.levels.size() != widest.levels.size() || arch.fanouts.size() != widest.fanouts.size() ||
      leakage_per_cycle(arch) != leakage_per_cycle(widest)) {
    return false;
  }
  Arch masked = arch;
  masked.name = widest.name;
  for (const LevelId l : arch.levels.ids()) {
    if (!has_at_least(widest.levels[l].capacity, arch.levels[l].capacity)) {
      return false;
    }
    masked.levels[l].capacity = widest.levels[l].capacity;
    masked.levels[l].physical.area = widest.levels[l].physical.area;
  }
  for (const FanoutId f : arch.fanouts.ids()) {
    Fanout& fanout = masked.fanouts[f];
    const Fanout& wide = widest.fanouts[f];
    if (fanout.x > wide.x || fanout.y > wide.y) {
      return false;
    }
    fanout.x = wide.x;
    fanout.y = wide.y;
  }
  return masked == widest;
}

Arch wider(const Arch& a, const Arch& b) {
  Arch both = a;
  if (a.levels.size() != b.levels.size() || a.fanouts.size() != b.fanouts.size()) {
    return both;
  }
  for (const LevelId l : both.levels.ids()) {
    widen(both.levels[l].capacity, b.levels[l].capacity);
  }
  for (const FanoutId f : both.fanouts.ids()) {
    both.fanouts[f].x = std::max(both.fanouts[f].x, b.fanouts[f].x);
    both.fanouts[f].y = std::max(both.fanouts[f].y, b.fanouts[f].y);
  }
  return both;
}

SharedBounds::SharedBounds(const Arch& widest, const Workload& workload, const Rules& rules,
                           const Objective& objective)
    : problem_{widest, workload},
      space_{problem_, rules(problem_)},
      objective_{objective},
      bounds_{space_, objective_},
      classes_{bounds_, space_, objective_},
      shares_{std::none_of(widest.fanouts.begin(), widest.fanouts.end(), [](const Fanout& fanout) {
        return fanout.energy_per_hop.has_value();
      })} {}

namespace {

// The class of a space with the same factors; nullopt: there is none.
std::optional<UnrollingClass> find_class(const Mapspace& space, const UnrollingClass& alike) {
  UnrollingClasses::Tuple tuple{};
  PackedFactors product;
  for (const FanoutId f : alike.factors.ids()) {
    const std::vector<FanoutChoice>& choices = space.classes().choices()[f];
    const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& choice) {
      return choice.factors == alike.factors[f];
    });
    const PrimeFields& primes = space.classes().primes();
    if (found == choices.end() || !primes.multiply(product, primes.pack(found->factors))) {
      return std::nullopt;
    }
    tuple[index_of(f)] = static_cast<std::uint32_t>(found - choices.begin());
  }
  return space.classes().unrolling_class(tuple);
}

}  // namespace

// Costs depend on the factors alone (UnrollingClass), unless hops cost energy; then nothing is
// shared.
SharedBounds::Factors SharedBounds::factors_of(const UnrollingClass& unrolling_class) {
  Factors factors;
  for (const PerDim<std::int64_t>& of_fanout : unrolling_class.factors) {
    factors.insert(factors.end(), of_fanout.begin(), of_fanout.end());
  }
  return factors;
}

double SharedBounds::bound(const UnrollingClass& unrolling_class, double limit) {
  if (!shares_) {
    return 0;
  }
  const Factors factors = factors_of(unrolling_class);
  {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[factors];
    if (++entry.asked != kPatience) {
      return entry.bound;
    }
  }
  const std::optional<UnrollingClass> known = find_class(space_, unrolling_class);
  if (!known) {
    return 0;
  }
  const std::size_t wide = classes_.add(*known);
  const double most = kMargin * limit;
  const double root =
      classes_.build(wide, exact::ObjectiveKey{most, exact::kInfinity})->root().first;
  const std::lock_guard lock(mutex_);
  return entries_[factors].bound = std::min(root, most);
}

}  // namespace mapsim
