// SPDX-License-Identifier: Apache-2.0
#include "mapper/formed_result.hpp"

namespace mapsim {

ObjectiveValue objective_value_of(const Objective& objective, const SearchResult& result,
                                  std::int64_t frames) {
  if (!result.cost) {
    return {};
  }
  const auto count = static_cast<double>(frames);
  const double energy = result.cost->energy.total.count() / count;
  const double cycles =
      static_cast<double>(latency_of(objective.mode, result.cost->latency).count()) / count;
  return {objective.function.value(energy, cycles), second_figure(objective, energy, cycles)};
}

bool is_better(const Objective& objective, const ObjectiveValue& a, const ObjectiveValue& b) {
  return a.value < b.value * (1 - kRounding) ||
         (objective.exact_ties && a.value <= b.value * (1 + kRounding) &&
          a.second < b.second * (1 - kRounding));
}

}  // namespace mapsim
