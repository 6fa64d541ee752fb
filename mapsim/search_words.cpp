// SPDX-License-Identifier: Apache-2.0
#include "mapsim/search_words.hpp"

#include <stdexcept>

#include "core/edit_distance.hpp"

namespace mapsim {

namespace {

template <class T>
T value_of(const std::string& name, const Parsed<T>& parsed) {
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    throw std::invalid_argument{name + ": " + *problem};
  }
  return std::get<T>(parsed);
}

}  // namespace

Objective objective_of(const ObjectiveWords& words, Hertz clock) {
  Objective objective = value_of("objective", parse_objective(words.objective));
  const Words modes{"steady", "ramped"};
  if (words.latency != modes[0] && words.latency != modes[1]) {
    throw std::invalid_argument{"latency: no latency '" + words.latency + "'" +
                                suggestion(words.latency, modes)};
  }
  objective.mode = words.latency == "ramped" ? LatencyMode::kRamped : LatencyMode::kSteady;
  if (!words.max_energy.empty()) {
    objective.max_energy = value_of("max_energy", parse_energy(words.max_energy));
  }
  if (!words.max_latency.empty()) {
    objective.max_latency = value_of("max_latency", parse_duration(words.max_latency, clock));
  }
  return objective;
}

}  // namespace mapsim
