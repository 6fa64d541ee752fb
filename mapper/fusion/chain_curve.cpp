// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/chain_curve.hpp"

#include <algorithm>

#include "arch/buffering.hpp"
#include "arch/capacities.hpp"
#include "mapper/objective.hpp"
#include "mapper/shared_budget.hpp"

namespace mapsim {

namespace {

constexpr Bits kAmple{std::int64_t{1} << 50};  // more than any tree takes

// What a tree takes of the capacity, copies for double buffering included.
Bits taken_by(const Arch& arch, const EinsumChain& chain, const TreeCost& cost,
              const CurveCapacity& of) {
  Bits most{0};
  for (const TreePhase& phase : cost.phases) {
    Bits sum{0};
    for (const Occupant& occupant : phase.levels[of.level]) {
      const auto& [e, t] = occupant.tensor;
      const bool is_there = !of.role || chain.einsums[e].tensors[t].role == *of.role;
      sum += is_there ? occupant.elements * occupant.bits : Bits{0};
    }
    most = std::max(most, sum);
  }
  return most * copies_of(arch.levels[of.level]);
}

Arch with_capacity(const Arch& arch, const CurveCapacity& of, Bits bits) {
  Arch changed = arch;
  size_of(changed.levels[of.level], of.role) = bits;
  return changed;
}

}  // namespace

ChainCurve search_chain_curve(const Arch& arch, const EinsumChain& chain,
                              const FusionLimits& limits, const SearchOptions& options,
                              const CurveCapacity& of,
                              const std::function<void(Bits capacity)>& progress) {
  const SharedBudget budget{options};
  ChainCurve curve;
  Bits capacity = kAmple;
  while (true) {
    progress(capacity);
    const Arch machine = with_capacity(arch, of, capacity);
    ++curve.searches;
    ChainResult result = search_chain(machine, chain, limits, budget.rest());
    curve.seconds += result.seconds;
    curve.complete = result.proven;
    if (!result.proven || !result.cost) {
      return curve;
    }
    const Bits taken = taken_by(machine, chain, *result.cost, of);
    const auto value = [&](const ChainResult& one) {
      return value_of(options.objective, *one.cost);
    };
    const bool is_new =
        curve.steps.empty() || value(result) > value(curve.steps.back().result) * (1 + kRounding);
    if (is_new) {
      curve.steps.push_back({taken, std::move(result)});
    } else {
      curve.steps.back() = {taken, std::move(result)};
    }
    if (taken <= Bits{0}) {
      return curve;
    }
    capacity = taken - Bits{1};
  }
}

}  // namespace mapsim
