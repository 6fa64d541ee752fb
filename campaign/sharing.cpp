// SPDX-License-Identifier: Apache-2.0
#include "campaign/sharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "arch/print.hpp"

namespace mapsim {

namespace {

// Of about 100 KB each. More are not in use at a time where the last values of a grid change first.
constexpr std::size_t kMostTables = 256;
// Entries of a list that are looked at for large capacities.
constexpr std::size_t kMostListed = 64;

void widen(std::optional<Arch>& widest, const Design& design) {
  if (std::optional<Arch> arch = load(design).arch) {
    widest = widest ? wider(*widest, *arch) : *arch;
  }
}

}  // namespace

// Of the designs that differ from the first in one value. Its capacities and arrays are all that is
// used of it.
const std::optional<Arch>& Sharing::widest(const Machine& machine) {
  const auto [place, is_new] = widest_.try_emplace(&machine);
  std::optional<Arch>& widest = place->second;
  if (is_new) {
    Settings first;
    for (const auto& [path, values] : machine.grid) {
      first.push_back({path, values.front()});
    }
    const auto with_list = [&](std::size_t item, const Settings& grid) {
      Design design{&machine, machine.list[item]};
      design.settings.insert(design.settings.end(), grid.begin(), grid.end());
      return design;
    };
    for (std::size_t i = 0; i < std::min(machine.list.size(), kMostListed); ++i) {
      widen(widest, with_list(i, first));
    }
    for (std::size_t axis = 0; axis < machine.grid.size(); ++axis) {
      Settings varied = first;
      for (const Node& value : machine.grid[axis].second) {
        varied[axis].value = value;
        widen(widest, with_list(0, varied));
      }
    }
  }
  return widest;
}

std::shared_ptr<SharedBounds> Sharing::table(const Arch& arch, const PointIndex& index,
                                             const SharedBounds::Rules& rules) {
  Arch named = arch;
  named.name = "widest";
  Table& table = tables_[fmt::format("{} {} {}", index.layer, index.question, print_arch(named))];
  table.last = ++clock_;
  if (++table.asked > 1 && !table.bounds) {
    table.bounds =
        std::make_shared<SharedBounds>(arch, campaign_.layers[index.layer].workload, rules,
                                       campaign_.questions[index.question].objective);
  }
  const std::shared_ptr<SharedBounds> found = table.bounds;
  if (tables_.size() > kMostTables) {
    tables_.erase(std::min_element(
        tables_.begin(), tables_.end(),
        [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
  }
  return found;
}

Sharing::Tables Sharing::of(const Design& design, const Arch& arch, const PointIndex& index,
                            const SharedBounds::Rules& rules) {
  const std::lock_guard lock(mutex_);
  const std::optional<Arch>& most = widest(*design.machine);
  if (!most || arch.levels.size() != most->levels.size() ||
      arch.fanouts.size() != most->fanouts.size()) {
    return {};
  }
  const Arch capacities = wider(arch, *most);
  Arch arrays = capacities;  // with the design's own capacities: tighter, and for fewer designs
  for (const LevelId l : arch.levels.ids()) {
    arrays.levels[l] = arch.levels[l];
  }
  Tables tables;
  for (const Arch* wide : std::array<const Arch*, 2>{&capacities, &arrays}) {
    const bool again = wide == &arrays && arrays == capacities;
    if (!again && !(*wide == arch) && is_within(arch, *wide)) {
      if (auto bounds = table(*wide, index, rules)) {
        tables.push_back(std::move(bounds));
      }
    }
  }
  return tables;
}

}  // namespace mapsim
