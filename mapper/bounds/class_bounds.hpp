// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "mapper/bounds/energy_bound.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/valuation.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::exact {

// Classes of unrollings that use the same fanouts, and of which the same tensors may stay in a
// systolic array: they share the state graph.
struct Kind {
  std::unique_ptr<StateGraph> graph;
  std::optional<EnergyBound> bound;
  std::vector<double> port_bits;  // at least
  std::optional<Valuation> valuation;
};

// What may stay in a systolic array, if there is one.
std::optional<TensorSet> may_stay_with(const Problem& problem,
                                       const UnrollingClass& unrolling_class);

// Unrolling bounds: no mapping of a class, or of all classes in boxes, is better, whatever the
// tiles. May threads ask at once: yes.
class ClassBounds {
 public:
  ClassBounds(const Mapspace& space, const Objective& objective);  // which outlive the bounds

  struct Bound {
    const Kind* kind = nullptr;
    std::optional<TensorSet> may_stay;  // none: no systolic array
    double cycles = 0;                  // of the compute units, at least
    Key key;
  };
  // `closely`: else the energy is what no mapping of the whole space can do without.
  Bound of(const UnrollingClass& unrolling_class, bool closely = true);
  // Of all classes that choose from a box per fanout. Perfect factors.
  Key of(const UnrollingBound::Boxes& boxes);
  // The kind of a class and what it takes to know it, without a key.
  Bound kind_of(const UnrollingClass& unrolling_class);

 private:
  const Kind& kind(const std::vector<FanoutId>& used, const std::optional<TensorSet>& may_stay);
  Key key(const Kind& kind, double energy, double cycles) const;
  double least_cycles(const UnrollingClass& unrolling_class,
                      const std::optional<TensorSet>& may_stay) const;

  const Mapspace& space_;
  const Objective& objective_;
  double least_energy_;  // of the whole space [pJ]
  double steps_;         // of the compute units on one instance [cycles]
  std::mutex mutex_;     // of the kinds
  std::map<std::pair<std::vector<FanoutId>, std::optional<std::uint32_t>>, Kind> kinds_;
};

}  // namespace mapsim::exact
