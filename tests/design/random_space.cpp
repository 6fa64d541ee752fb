// SPDX-License-Identifier: Apache-2.0
#include "tests/design/random_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "arch/load.hpp"
#include "campaign/layer.hpp"
#include "costmodel/stream.hpp"
#include "costmodel/technology.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

struct AxisText {
  const char* path;
  const char* values;
};
constexpr AxisText kAxes[] = {
    {"nodes.Buffer.capacity", "[64 B, 1 KiB, 256 B]"},
    {"nodes.Buffer.capacity", "[32 B, 100 B, 2 KiB, 512 B]"},
    {"nodes.Buffer.bandwidth.read", "[1 B/cycle, 4 B/cycle]"},
    {"nodes.DRAM.bandwidth.shared", "[2 B/cycle, 1 B/cycle, 6 B/cycle]"},
    {"nodes.PEs.x", "[4, 2, 3]"},
    {"nodes.PEs.y", "[1, 4]"},
    {"nodes.Registers.capacity", "[4 B, 24 B, 8 B]"},
    {"nodes.Registers.capacity",
     "[{input: 2 B, weight: 4 B, output: 8 B}, {input: 8 B, weight: 4 "
     "B, output: 12 B}]"},
    {"nodes.Registers.energy", "[{read: 2 pJ/B, write: 1 pJ/B}, {read: 0.5 pJ/B, write: 3 pJ/B}]"},
    {"nodes.Registers.double_buffered", "[false, true]"},
    {"nodes.Buffer.bypass", "[[input], [weight]]"},
    {"nodes.Buffer.leakage", "[0.1 mW, 5 mW]"},
    {"nodes.MAC.energy", "[1 pJ, 0.25 pJ]"},
    {"nodes.MAC.issue_interval", "[1, 2]"},
    {"nodes.PEs.reduction_energy", "[0.5 pJ, 0.1 pJ]"},
    {"clock", "[1 GHz, 500 MHz]"},
    {"technology", "[45nm, 16nm]"},
};

bool odds(Rng& rng, int of) { return rng.below(static_cast<std::uint64_t>(of)) == 0; }

std::string machine_text(Rng& rng) {
  const bool by_technology = odds(rng, 2);
  const char* const hop = odds(rng, 5) ? "\n    energy_per_hop: 0.3 pJ/b" : "";
  return fmt::format(
      "name: tiny\nclock: 1 GHz\ntechnology: 45nm\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    bandwidth: {{shared: 4 B/cycle}}\n    energy: {{read: 20 pJ/B, write: 20 pJ/B}}\n"
      "  - storage: Buffer\n    word: 8 b\n    capacity: 128 B\n"
      "    bandwidth: {{read: 2 B/cycle, write: 4 B/cycle}}\n{}"
      "  - fanout: PEs\n    x: 2\n    y: 2\n    spatial_reduction: true{}\n"
      "  - storage: Registers\n    word: 8 b\n    capacity: 16 B\n{}"
      "  - compute: MAC\n{}",
      by_technology ? "" : "    energy: {read: 3 pJ/B, write: 3 pJ/B}\n    area: 2 um2/b\n", hop,
      by_technology ? "    kind: regfile\n" : "    energy: {read: 1 pJ/B, write: 1 pJ/B}\n",
      odds(rng, 2) ? "" : "    energy: 1 pJ\n    area: 300 um2\n");
}

std::string grid_text(Rng& rng) {
  std::string text = "grid:\n";
  std::vector<std::string> taken;
  std::size_t designs = 1;
  for (int tries = 0; tries < 40 && designs < 20; ++tries) {
    const AxisText& axis = kAxes[rng.below(std::size(kAxes))];
    const std::size_t values =
        parse_yaml(fmt::format("v: {}", axis.values), "v").root.entries[0].value.items.size();
    if (std::find(taken.begin(), taken.end(), axis.path) == taken.end() && designs * values <= 60) {
      taken.emplace_back(axis.path);
      designs *= values;
      text += fmt::format("      {}: {}\n", axis.path, axis.values);
    }
  }
  return text;
}

// Values that belong together, in half of the spaces.
std::string list_text(Rng& rng) {
  return odds(rng, 2) ? ""
                      : "list:\n      - {nodes.Buffer.bandwidth.write: 1 B/cycle}\n"
                        "      - {nodes.Buffer.bandwidth.write: 8 B/cycle}\n    ";
}

Arch arch_of(const Campaign& campaign, std::size_t number) {
  return read_arch(design(campaign, number).document());
}

std::optional<double> optimum(const Arch& arch, const CampaignLayer& layer,
                              const ObjectiveFunction& function) {
  if (layer.stream) {
    const StreamCost cost = stream_cost(arch, layer.stream->in, layer.stream->out);
    return function.value(cost.energy.count(), static_cast<double>(cost.latency.count()));
  }
  SearchOptions options;
  options.objective.function = function;
  const Problem problem{arch, layer.workload};
  const SearchResult found = search_exact(Mapspace{problem, {}}, options);
  return found.cost ? std::optional{objective_value(options.objective, *found.cost)} : std::nullopt;
}

}  // namespace

RandomSpace random_space(std::uint64_t seed) {
  Rng rng{seed};
  RandomSpace space;
  const std::string machine = machine_text(rng);
  const std::string grid = list_text(rng) + grid_text(rng);
  const std::string text =
      "name: random\narchitectures:\n  - file: ../arch/teaching_flat.yaml\n    name: tiny\n"
      "workloads: [../workloads/teaching/gemm.yaml]\n";
  const std::string folder = std::string{MAPSIM_SOURCE_DIR} + "/configs/campaigns/";
  space.text = machine + "    " + grid;
  space.campaign = parse_campaign(text, folder + "random.yaml");
  // The grid of another file, that of the random machine.
  Machine& only = space.campaign.machines.front();
  only.document = parse_yaml(machine, "tiny.yaml");
  const Node axes = parse_yaml("    " + grid, "grid.yaml").root;
  for (const Entry& part : axes.entries) {
    if (part.key.text == "list") {
      only.list.clear();
      for (const Node& item : part.value.items) {
        only.list.push_back({{item.entries[0].key.text, item.entries[0].value}});
      }
    } else {
      for (const Entry& axis : part.value.entries) {
        only.grid.emplace_back(axis.key.text, axis.value.items);
      }
    }
  }
  space.campaign.layers.clear();
  const std::uint64_t layers = 1 + rng.below(2);
  for (std::uint64_t i = 0; i < layers; ++i) {
    const auto bound = [&rng] { return 1 + rng.below(8); };
    const std::string gemm =
        fmt::format("name: g{}\ngemm: {{m: {}, n: {}, k: {}}}\n", i, bound(), bound(), bound());
    space.campaign.layers.push_back({"", fmt::format("g{}", i),
                                     static_cast<std::int64_t>(1 + rng.below(3)),
                                     parse_workload(gemm, "g.yaml")});
  }
  if (odds(rng, 2)) {
    space.campaign.layers.push_back(
        {"", "pool", 2, {}, Stream{"pool", "MaxPool", Bits{80}, Bits{40}, 2}});
  }
  return space;
}

DesignObjective random_objective(Rng& rng) {
  constexpr const char* kTexts[] = {"energy", "latency", "sum-edp", "energy^2*latency",
                                    "energy + 3*latency"};
  return std::get<DesignObjective>(parse_design_objective(kTexts[rng.below(std::size(kTexts))]));
}

std::optional<double> FullSweep::best(std::optional<double> max_area) const {
  std::optional<double> least;
  for (const Row& row : designs) {
    if (row.value && (!max_area || row.area <= *max_area)) {
      least = std::min(least.value_or(*row.value), *row.value);
    }
  }
  return least;
}

double FullSweep::median_area() const {
  std::vector<double> areas;
  for (const Row& row : designs) {
    areas.push_back(row.area);
  }
  std::sort(areas.begin(), areas.end());
  return areas[areas.size() / 2];
}

FullSweep full_sweep(const Campaign& campaign, const DesignObjective& objective) {
  FullSweep sweep;
  for (std::size_t number = 0; number < campaign.designs(); ++number) {
    const Arch arch = arch_of(campaign, number);
    FullSweep::Row row;
    row.value = 0;
    for (const CampaignLayer& layer : campaign.layers) {
      const auto value = optimum(arch, layer, objective.function);
      row.value = value && row.value
                      ? std::optional{*row.value + static_cast<double>(layer.count) * *value}
                      : std::nullopt;
      const auto area = total_area(layer.stream ? arch : bind_widths(arch, layer.workload)).sum;
      row.area = std::max(row.area, area ? area->count() : 0);
    }
    if (row.value) {
      row.value = objective.function.scaled(*row.value, 1, arch.clock.count());
    }
    sweep.designs.push_back(row);
  }
  return sweep;
}

std::string compare_with_sweep(const RandomSpace& space, std::uint64_t seed) {
  Rng rng{seed};
  DesignOptions options;
  options.objective = random_objective(rng);
  const FullSweep sweep = full_sweep(space.campaign, options.objective);
  if (odds(rng, 2)) {
    options.max_area = SquareMillimetres{sweep.median_area()};
  }
  const auto limit = options.max_area ? std::optional{options.max_area->count()} : std::nullopt;
  const std::optional<double> expected = sweep.best(limit);
  const DesignAnswer found = search_design(space.campaign, options);
  const DesignTally& tally = found.tally;
  std::string wrong;
  if (found.best.has_value() != expected.has_value()) {
    wrong = expected ? "finds no design" : "finds a design where there is none";
  } else if (expected && std::abs(found.best->value - *expected) > kRounding * *expected) {
    wrong = fmt::format("finds {}, a sweep {}", found.best->value, *expected);
  } else if (expected) {
    const FullSweep::Row& row = sweep.designs[found.best->number];
    wrong = !row.value || std::abs(*row.value - *expected) > kRounding * *expected
                ? fmt::format("names design {}, which is another", found.best->number)
            : limit && row.area > *limit ? "breaks the limit on area"
            : std::abs(found.best->area.value_or(0) - row.area) > kRounding * row.area
                ? "gives another area"
                : "";
  }
  const double sum = tally.valued + tally.by_bound + tally.by_area + tally.infeasible +
                     tally.unreadable + tally.open;
  if (wrong.empty() && (!found.proven || sum != tally.designs || tally.open != 0 ||
                        tally.designs != static_cast<double>(space.campaign.designs()))) {
    wrong = fmt::format("settles {} of {} designs, proven: {}", sum, tally.designs, found.proven);
  }
  return wrong.empty() ? ""
                       : fmt::format("{} of {} designs{} {}\n{}", to_string(options.objective),
                                     space.campaign.designs(), limit ? " with a limit" : "", wrong,
                                     space.text);
}

std::string compare_enclosures(const RandomSpace& space, std::uint64_t seed,
                               std::int64_t& compared) {
  Rng rng{seed};
  DesignSpace designs{space.campaign.machines.front(), false};
  const DesignObjective objective = random_objective(rng);
  LayerOptima optima{space.campaign, space.campaign.questions.front(), {}};
  for (int tries = 0; tries < 4; ++tries) {
    DesignBox box = designs.all();
    std::vector<std::size_t> member;
    for (std::size_t a = 0; a < box.size(); ++a) {
      const std::size_t values = box[a].size();
      const bool branch = !designs.axes()[a].branched.empty();
      const std::size_t one = rng.below(values);
      const std::size_t other = branch ? one : rng.below(values);
      box[a] = {std::min(one, other), std::max(one, other)};
      member.push_back(box[a].low + rng.below(box[a].size()));
    }
    const auto enclosure = designs.enclosure(box);
    if (!enclosure) {
      continue;
    }
    const Arch arch = designs.arch(member);
    const DesignMachine composite{*enclosure, false, designs.excepted(enclosure->most)};
    if (optima.area(enclosure->least).value_or(0) > optima.area(arch).value_or(0)) {
      return "an enclosure has more area than a design\n" + space.text;
    }
    for (std::size_t l = 0; l < optima.layers().size(); ++l) {
      const double bound = optima.search(composite, l, objective.function, HUGE_VAL).value().lower;
      const auto value = optimum(arch, *optima.layers()[l].layer, objective.function);
      ++compared;
      if (value && bound > *value * (1 + kRounding)) {
        return fmt::format("{}: an enclosure costs {}, a design {}\n{}", to_string(objective),
                           bound, *value, space.text);
      }
    }
  }
  return "";
}

}  // namespace mapsim
