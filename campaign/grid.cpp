// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "campaign/campaign.hpp"
#include "core/diagnostic.hpp"
#include "core/substitute.hpp"

namespace mapsim {

namespace {

// The product, or something larger than kMostPoints.
std::size_t capped_product(std::size_t a, std::size_t b) {
  return b != 0 && a > std::numeric_limits<std::size_t>::max() / b
             ? std::numeric_limits<std::size_t>::max()
             : a * b;
}

}  // namespace

std::size_t Machine::designs() const {
  std::size_t count = list.size();
  for (const auto& [path, values] : grid) {
    count = capped_product(count, values.size());
  }
  return count;
}

std::size_t Campaign::designs() const {
  std::size_t count = 0;
  for (const Machine& machine : machines) {
    const std::size_t more = machine.designs();
    count = more > kMostPoints - std::min(count, kMostPoints) ? kMostPoints + 1 : count + more;
  }
  return count;
}

Design design(const Campaign& campaign, std::size_t number) {
  const Machine* machine = &campaign.machines.front();
  while (number >= machine->designs()) {
    number -= machine->designs();
    ++machine;
  }
  Settings varied;
  for (auto axis = machine->grid.rbegin(); axis != machine->grid.rend(); ++axis) {
    varied.insert(varied.begin(), {axis->first, axis->second[number % axis->second.size()]});
    number /= axis->second.size();
  }
  Design result{machine, machine->list[number]};
  result.settings.insert(result.settings.end(), varied.begin(), varied.end());
  return result;
}

Document Design::document() const {
  Document copy = machine->document;
  for (const Setting& setting : settings) {
    // The campaign's reader tried each by itself; together they may still be in each other's way.
    if (const auto problem = substitute(copy.root, setting.path, setting.value)) {
      throw ConfigError{{{copy.file, 0, 0, setting.path, *problem, ""}}};
    }
  }
  return copy;
}

}  // namespace mapsim
