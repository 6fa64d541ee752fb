// SPDX-License-Identifier: Apache-2.0
#include "plan/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace mapsim {

Parsed<std::size_t> engine_named(const Soc& soc, const std::string& name) {
  const Words names = names_of(soc.engines);
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) {
    return fmt::format("{} has no engine '{}'{}", soc.name, name, suggestion(name, names));
  }
  return static_cast<std::size_t>(at - names.begin());
}

Soc with_engines(const Soc& soc, const std::vector<std::size_t>& engines) {
  Soc chip = soc;
  chip.engines.clear();
  chip.transitions.clear();
  std::vector<std::optional<std::size_t>> place(soc.engines.size());
  for (const std::size_t e : engines) {
    if (!place[e]) {
      place[e] = chip.engines.size();
      chip.engines.push_back(soc.engines[e]);
    }
  }
  for (Transition transition : soc.transitions) {
    const auto by = transition.reformat ? place[*transition.reformat] : std::nullopt;
    if (place[transition.from] && place[transition.to] && (by || !transition.reformat)) {
      transition = {*place[transition.from], *place[transition.to], transition.sync, by};
      chip.transitions.push_back(transition);
    }
  }
  return chip;
}

std::optional<OptionConflict> conflict_of(const PlanOptions& options) {
  if (options.at_once && options.objective != PlanObjective::kLatency) {
    return OptionConflict{"at-once", "is for latency"};
  }
  if (options.at_once && (options.max_power || options.max_latency || options.max_memory)) {
    return OptionConflict{"at-once", "takes no limits"};
  }
  return std::nullopt;
}

}  // namespace mapsim
