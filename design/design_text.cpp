// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "arch/print.hpp"
#include "core/substitute.hpp"
#include "design/search.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"

namespace mapsim {

namespace {

constexpr double kPicojoulesPerJoule = 1e12;

// A value [pJ, s] with its unit.
std::string value_text(const DesignObjective& objective, double value) {
  const ObjectiveFunction& function = objective.function;
  if (function.is_energy()) {
    return energy_text(Picojoules{value});
  }
  if (function.is_latency()) {
    return scaled(value, "s");
  }
  return fmt::format("{:.6g} {}", function.scaled(value, kPicojoulesPerJoule, 1),
                     function.unit("J", "s", " "));
}

std::string designs_text(double designs) {
  return fmt::format("{} design{}", count_text(designs), designs == 1 ? "" : "s");
}

double all_of(const DesignCounts& counts) { return counts.designs; }

std::string machine_text(const Campaign& campaign, const DesignOptions& options,
                         const DesignAnswer& result) {
  const BestDesign& best = result.designs.front();
  std::string text = fmt::format("best machine: {}, of {} designs\n", best.arch.name,
                                 count_text(all_of(result.counts)));
  std::vector<Row> rows;
  for (const Setting& setting : best.settings) {
    rows.push_back({setting.path, flow_text(setting.value)});
  }
  text += table(rows);
  if (best.area) {
    text += fmt::format("  area {:.4g} mm2", *best.area);
    text += options.limits.area
                ? fmt::format(" of {:.4g} mm2 allowed", options.limits.area->count())
                : "";
    text += result.unknown_areas.empty() ? "\n"
                                         : fmt::format(", without {}, whose area is not given\n",
                                                       fmt::join(result.unknown_areas, ", "));
  }
  const double seconds = best.cycles / best.arch.clock.count();
  text +=
      fmt::format("\n{}: {}\n  all layers: {}, {} cycles ({}), {} on average\n\n",
                  to_string(options.objective), value_text(options.objective, best.value),
                  energy_text(Picojoules{best.energy}), count_text(best.cycles),
                  scaled(seconds, "s"), scaled(best.energy / kPicojoulesPerJoule / seconds, "W"));
  const std::vector<DistinctLayer> layers = distinct_layers(campaign);
  rows = {{"layer", "count", "energy", "cycles", "share of " + to_string(options.objective)}};
  double sum = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    sum += layers[l].count * best.layers[l].value;
  }
  // Of a product what a small change of the layer's energy and latency changes, halved.
  const auto share = [&](std::size_t l) {
    const LayerFigures& layer = best.layers[l];
    return layers[l].count * (options.objective.is_joint
                                  ? (layer.energy / best.energy + layer.cycles / best.cycles) / 2
                                  : layer.value / sum);
  };
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const LayerFigures& figures = best.layers[l];
    rows.push_back({table_name(layers[l].layer->name), count_text(layers[l].count),
                    energy_text(Picojoules{figures.energy}), count_text(figures.cycles),
                    percent(share(l))});
  }
  return text + table(rows);
}

// The other designs that were asked for.
std::string others_text(const DesignOptions& options, const DesignAnswer& result) {
  if (result.designs.size() < 2) {
    return "";
  }
  std::vector<std::string> axes;
  for (const Setting& setting : result.designs.front().settings) {
    axes.push_back(setting.path);
  }
  std::vector<Row> rows{{"design", to_string(options.objective), "area mm2", "energy", "latency"}};
  rows.front().insert(rows.front().end(), axes.begin(), axes.end());
  for (const BestDesign& design : result.designs) {
    Row row{grouped(static_cast<std::int64_t>(design.number)),
            value_text(options.objective, design.value),
            design.area ? fmt::format("{:.4g}", *design.area) : "not given",
            energy_text(Picojoules{design.energy}), scaled(design.seconds(), "s")};
    for (const Setting& setting : design.settings) {
      row.push_back(flow_text(setting.value));
    }
    rows.push_back(std::move(row));
  }
  return fmt::format("\n{}:\n",
                     options.wanted == Wanted::kFront
                         ? "Pareto front of " + to_string(options.objective) + " and area"
                         : fmt::format("the best {}", result.designs.size())) +
         table(rows);
}

std::string short_of_memory_text(const DesignAnswer& result) {
  if (result.short_of_memory == 0 && !result.out_of_memory) {
    return "";
  }
  return fmt::format("memory was short{}{} (--memory)\n",
                     result.short_of_memory > 0
                         ? fmt::format(" in {} searches of layers", grouped(result.short_of_memory))
                         : "",
                     result.out_of_memory ? ", which ended the search" : "");
}

// What is proven of the answer.
std::string claim_text(const DesignOptions& options, const DesignAnswer& result) {
  const DesignCounts& counts = result.counts;
  const char* const unproven =
      result.interrupted ? "stopped early" : "searches of layers ended with a gap";
  std::string text;
  if (result.designs.empty()) {
    text = result.interrupted ? "stopped before any design was found\n"
           : result.proven
               ? fmt::format("none of the {} can be used\n", designs_text(counts.designs))
               : "no design was found; searches of layers ended with a gap\n";
  } else {
    const double gap =
        result.lower_bound > 0 ? result.designs.front().value / result.lower_bound - 1 : 0;
    const std::string value = value_text(options.objective, result.designs.front().value);
    const char* const keeps = options.limits.any() ? "keeps the limits and " : "";
    if (options.wanted == Wanted::kFront || options.top > 1) {
      const std::string asked = options.wanted == Wanted::kFront
                                    ? fmt::format("{} points of the front", result.designs.size())
                                    : fmt::format("best {}", options.top);
      const std::string allowed =
          options.gap > 0 ? fmt::format(" by more than {}", percent(options.gap)) : "";
      text = result.proven
                 ? fmt::format("proven: no other of the {} {}is better than the {}{}\n",
                               designs_text(counts.designs), keeps, asked, allowed)
                 : fmt::format("{}: the {} are the best that were found\n", unproven, asked);
    } else if (result.proven && options.gap == 0) {
      text = fmt::format("proven: none of the {} {}has less {} than {}\n",
                         designs_text(counts.designs), keeps, to_string(options.objective), value);
    } else {
      text = fmt::format("{}: none of the {} {}has less {} than {}; the gap is {}\n",
                         result.proven ? "proven" : fmt::format("{}, proven so far", unproven),
                         designs_text(counts.designs), keeps, to_string(options.objective),
                         value_text(options.objective, result.lower_bound),
                         result.lower_bound > 0 ? percent(std::max(0.0, gap)) : "not known");
    }
  }
  return text;
}

// What carried the proof: every design is in one line.
std::string proof_text(const DesignOptions& options, const DesignAnswer& result) {
  const DesignCounts& counts = result.counts;
  std::string text = claim_text(options, result);
  const auto line = [&text](double designs, const char* what) {
    text += designs > 0 ? fmt::format("  {:>14} {}\n", count_text(designs), what) : "";
  };
  line(counts.valued, "valued in full");
  line(counts.by_bound, "excluded by a bound");
  line(counts.by_area, "excluded by their area");
  line(counts.by_limit, "excluded by a limit on energy, latency or power");
  line(counts.infeasible, "excluded, since a layer does not fit");
  line(counts.unreadable, "excluded, since their values contradict each other");
  line(counts.open, "not decided");
  text += result.unreadable_reason.empty()
              ? ""
              : "  first contradiction: " + result.unreadable_reason + "\n";
  const double points = counts.designs * static_cast<double>(result.layers);
  text +=
      fmt::format("searches of layers: {}, {} of the {} of a full sweep; {} boxes; {}\n",
                  grouped(result.searches), percent(static_cast<double>(result.searches) / points),
                  count_text(points), grouped(result.boxes), scaled(result.seconds, "s"));
  text += short_of_memory_text(result);
  text += result.answered > 0
              ? fmt::format("answers from the database: {}\n", grouped(result.answered))
              : "";
  return text;
}

// "+3.2 %", "+3.1 to +3.6 %", "at least +3.1 %".
std::string change_text(const AxisStep& step) {
  constexpr double kSame = 2e-3;  // more digits would not be known
  const auto signed_percent = [](double share) {
    return fmt::format("{:+.1f}", 100 * (share - 1));
  };
  if (std::isinf(step.least)) {
    return "";
  }
  if (std::isinf(step.most)) {
    return fmt::format("at least {} %", signed_percent(step.least));
  }
  return step.most - step.least <= kSame * step.most
             ? fmt::format("{} %", signed_percent(step.most))
             : fmt::format("{} to {} %", signed_percent(step.least), signed_percent(step.most));
}

// What each axis is worth.
std::string steps_text(const DesignOptions& options, const DesignAnswer& result) {
  if (result.steps.empty()) {
    return "";
  }
  std::vector<Row> rows{{"axis", "value", to_string(options.objective), "area", ""}};
  const std::optional<double>& area = result.designs.front().area;
  for (const AxisStep& step : result.steps) {
    rows.push_back({step.name, step.value, change_text(step),
                    step.area && area && *area > 0
                        ? fmt::format("{:+.1f} %", 100 * (*step.area / *area - 1))
                        : "",
                    step.excluded});
  }
  return "\none step from the best machine:\n" + table(rows);
}

std::string hints_text(const DesignOptions& options, const DesignAnswer& result) {
  std::string text;
  for (const EdgeAxis& edge : result.edges) {
    text += fmt::format("  {}: {} is its {} value\n", edge.name, edge.value,
                        edge.is_high ? "last" : "first");
  }
  if (!text.empty()) {
    text = "\nat an edge of the space, which may end too early:\n" + text;
    text +=
        options.limits.area ? "" : "  without --max-area the largest machine is often the best\n";
  }
  std::string branched;
  for (const auto& [axis, why] : result.branched) {
    branched += fmt::format("  {}: {}\n", axis, why);
  }
  return text + (branched.empty() ? "" : "\nbounded value by value:\n" + branched);
}

}  // namespace

std::string design_progress_text(const DesignOptions& options, const DesignProgress& progress) {
  const std::string bound = value_text(options.objective, progress.lower_bound);
  const std::string best =
      progress.best
          ? fmt::format(
                ", best {}, bound {}, gap {}", value_text(options.objective, *progress.best), bound,
                progress.lower_bound > 0 ? percent(*progress.best / progress.lower_bound - 1)
                                         : "not known")
          : "";
  return fmt::format("{}, {} boxes, {} searches", best, grouped(progress.boxes),
                     grouped(progress.searches));
}

std::string design_text(const Campaign& campaign, const DesignOptions& options,
                        const DesignAnswer& result) {
  if (result.designs.empty()) {
    return proof_text(options, result);
  }
  return machine_text(campaign, options, result) + others_text(options, result) + "\n" +
         proof_text(options, result) + steps_text(options, result) + hints_text(options, result);
}

std::string best_arch_text(const Campaign& campaign, const DesignAnswer& result) {
  std::string settings;
  for (const Setting& setting : result.designs.front().settings) {
    settings += fmt::format("#   {}: {}\n", setting.path, flow_text(setting.value));
  }
  return fmt::format("# Design {} of {}, the best that mapsim design found:\n{}",
                     result.designs.front().number, campaign.name, settings) +
         print_arch(result.designs.front().arch);
}

}  // namespace mapsim
