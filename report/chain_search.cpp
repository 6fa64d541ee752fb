// SPDX-License-Identifier: Apache-2.0
#include "report/chain_search.hpp"

#include <fmt/format.h>

#include "mapper/objective.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"
#include "report/tree.hpp"

namespace mapsim {

namespace {

double energy_of(const ChainResult& result) { return result.cost->energy.count(); }

std::string proof_text(const ChainResult& result) {
  if (result.proven) {
    return "proven: no mapping tree of the space needs less";
  }
  const double gap = energy_of(result) / result.lower_bound.count() - 1;
  return result.lower_bound > Picojoules{0}
             ? fmt::format("stopped early: at most {:.2g} % above the least", 100 * gap)
             : "stopped early, which proves nothing";
}

// What the best brings beside the way of one layer after the other.
std::string verdict(const ChainComparison& found) {
  const auto saves = [&](const ChainResult& other) {
    return other.cost && energy_of(found.fused) < energy_of(other) * (1 - kRounding);
  };
  for (const ChainResult* other : {&found.spilled, &found.on_chip}) {
    if (!other->cost && !other->proven) {
      return "stopped before it was known what layer by layer needs\n";
    }
  }
  const bool all_proven = found.fused.proven && found.on_chip.proven && found.spilled.proven;
  const std::string is_sure = all_proven ? "" : " so far";
  if (!found.on_chip.cost || saves(found.on_chip)) {
    return fmt::format("fusion pays{}: no mapping layer by layer needs as little\n", is_sure);
  }
  if (saves(found.spilled)) {
    return fmt::format(
        "fusion of einsums brings nothing{}: the best holds intermediates on chip, layer by "
        "layer\n",
        is_sure);
  }
  return fmt::format("fusion brings nothing{}: the best spills every intermediate\n", is_sure);
}

}  // namespace

std::string chain_search_text(const Arch& arch, const EinsumChain& chain,
                              const ChainComparison& found) {
  std::string text = chain_title_text(arch, chain) + "\n";
  const ChainResult& best = found.fused;
  if (!best.cost) {
    return text + (best.proven ? "nothing fits\n" : "stopped before anything was found\n");
  }
  std::vector<Row> rows{{"", "energy", "", ""}};
  const auto add = [&](const std::string& name, const ChainResult& result,
                       const std::string& what) {
    if (result.cost) {
      rows.push_back({name, energy_text(result.cost->energy),
                      fmt::format("{:.3f} x", energy_of(result) / energy_of(best)), what});
    }
  };
  add("best", best, proof_text(best));
  add("layer by layer, on chip", found.on_chip, "intermediates held whole where that pays");
  add("layer by layer, spilled", found.spilled,
      "every intermediate goes to " + arch.levels[LevelId{0}].name);
  text += table(rows) + "\n" + verdict(found);
  text += fmt::format(
      "{} groups, {} classes of shared loops, {} interfaces, {} branches searched in {:.2f} s\n\n",
      grouped(best.groups), grouped(best.classes), grouped(best.interfaces), grouped(best.branches),
      best.seconds);
  return text + tree_cost_text(arch, chain, *best.best, *best.cost);
}

}  // namespace mapsim
