// SPDX-License-Identifier: Apache-2.0
#include "report/chain_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "mapper/objective.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"
#include "report/tree.hpp"

namespace mapsim {

namespace {

std::string proof_text(const ChainResult& result, double value) {
  if (result.proven) {
    return "proven: no mapping tree of the space is better";
  }
  const std::string why = result.out_of_memory ? " for want of memory (--memory)" : "";
  return result.lower_bound > 0 ? fmt::format("stopped early{}: at most {:.2g} % above the least",
                                              why, 100 * (value / result.lower_bound - 1))
                                : fmt::format("stopped early{}, which proves nothing", why);
}

// Why there is no tree: what limits ask for, and the least that any tree has.
std::string nothing_text(const ChainComparison& found) {
  const Objective& objective = found.objective;
  const auto least_of = [&](double weight) {
    const auto& lines = found.fused.lines;
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const HullLine& known) {
      return known.weight == weight && known.least < HUGE_VAL;
    });
    return line == lines.end() ? std::nullopt : std::optional(line->least);
  };
  const std::optional<double> energy = objective.max_energy ? least_of(0) : std::nullopt;
  const std::optional<double> cycles = objective.max_latency ? least_of(HUGE_VAL) : std::nullopt;
  std::string text;
  if (energy && *energy > objective.max_energy->count() * (1 + kRounding)) {
    text += fmt::format("no mapping tree keeps the energy limit of {}: the least energy is {}\n",
                        energy_text(*objective.max_energy), energy_text(Picojoules{*energy}));
  }
  if (cycles && *cycles > static_cast<double>(objective.max_latency->count())) {
    text += fmt::format(
        "no mapping tree keeps the latency limit of {} cycles: the least latency is {} cycles\n",
        grouped(objective.max_latency->count()), grouped(std::llround(*cycles)));
  }
  if (text.empty() && energy && cycles) {
    text = fmt::format(
        "no mapping tree keeps both limits, though each alone can be kept: the least energy is {}, "
        "the least latency {} cycles\n",
        energy_text(Picojoules{*energy}), grouped(std::llround(*cycles)));
  }
  return text.empty() ? "nothing fits\n" : text;
}

// What the best brings beside the way of one layer after the other.
std::string verdict(const ChainComparison& found) {
  const auto value = [&](const ChainResult& result) {
    return value_of(found.objective, *result.cost);
  };
  const auto saves = [&](const ChainResult& other) {
    return other.cost && value(found.fused) < value(other) * (1 - kRounding);
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
    return text + (best.proven ? nothing_text(found) : "stopped before anything was found\n");
  }
  const double least = value_of(found.objective, *best.cost);
  const bool is_energy = found.objective.function.is_energy();
  std::vector<Row> rows{{"", "energy", "latency", is_energy ? "" : to_string(found.objective), ""}};
  const auto add = [&](const std::string& name, const ChainResult& result,
                       const std::string& what) {
    if (result.cost) {
      const double value = value_of(found.objective, *result.cost);
      rows.push_back({name, energy_text(result.cost->energy),
                      grouped(result.cost->latency.count()) + " cycles",
                      least > 0 ? fmt::format("{:.3f} x", value / least) : "", what});
    }
  };
  add("best", best, proof_text(best, least));
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
