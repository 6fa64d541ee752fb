// SPDX-License-Identifier: Apache-2.0
#include "tests/design/random_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim {

bool odds(Rng& rng, int of) { return rng.below(static_cast<std::uint64_t>(of)) == 0; }

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
    {"nodes.Buffer.word", "[8 b, 32 b]"},
    {"nodes.Buffer.leakage", "[0.1 mW, 5 mW]"},
    {"nodes.MAC.energy", "[1 pJ, 0.25 pJ]"},
    {"nodes.MAC.issue_interval", "[1, 2]"},
    {"nodes.PEs.reduction_energy", "[0.5 pJ, 0.1 pJ]"},
    {"clock", "[1 GHz, 500 MHz]"},
    {"technology", "[45nm, 16nm]"},
};

// Of machines with a format: what they make of zeros.
constexpr AxisText kZeroAxes[] = {
    {"nodes.Buffer.word", "[8 b, 32 b]"},
    {"nodes.Buffer.energy.gated", "[0 pJ/word, 12 pJ/word]"},
    {"nodes.MAC.gated_energy", "[0 pJ, 0.2 pJ]"},
    {"nodes.Buffer.format", "[{weight: bitmask}, {input: coordinates 4 b, weight: coordinates}]"},
};
// Of machines without: some designs make use of zeros, in nodes beside those of other axes.
constexpr AxisText kFormatAxes[] = {
    {"nodes.Buffer.format", "[{output: dense}, {input: bitmask, weight: coordinates}]"},
    {"nodes.MAC.when_zero", "[nothing, gate, {skip: [weight]}]"},
};

// Which designs make use of zeros: none, those with some value of an axis, those with an item of
// the list, all.
enum class Zeros { kNone, kValue, kItem, kAll };

std::string machine_text(Rng& rng, Zeros zeros) {
  const bool by_technology = odds(rng, 2);
  const bool is_sparse = zeros == Zeros::kAll;
  const bool conditions = is_sparse && odds(rng, 2);
  // The search takes them where they are alike at all levels and a format shows the zeros.
  const char* const gate = conditions ? "    format: {weight: bitmask}\n"
                                        "    when_empty: [{gate: input, 'on': weight}]\n"
                                      : "";
  const std::string buffer =
      is_sparse ? std::string{"    energy: {read: 3 pJ/B, write: 3 pJ/B, gated: 2 pJ/word}\n"
                              "    area: 2 um2/b\n"} +
                      (conditions ? gate : "    format: {weight: bitmask}\n")
      : by_technology ? ""
                      : "    energy: {read: 3 pJ/B, write: 3 pJ/B}\n    area: 2 um2/b\n";
  const char* const hop =
      zeros == Zeros::kNone && odds(rng, 5) ? "\n    energy_per_hop: 0.3 pJ/b" : "";
  return fmt::format(
      "name: tiny\nclock: 1 GHz\ntechnology: 45nm\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    bandwidth: {{shared: 4 B/cycle}}\n    energy: {{read: 20 pJ/B, write: 20 pJ/B}}\n"
      "  - storage: Buffer\n    word: 8 b\n    capacity: 128 B\n"
      "    bandwidth: {{read: 2 B/cycle, write: 4 B/cycle}}\n{}"
      "  - fanout: PEs\n    x: 2\n    y: 2\n    spatial_reduction: true{}\n"
      "  - storage: Registers\n    word: 8 b\n    capacity: 16 B\n{}{}"
      "  - compute: MAC\n{}{}",
      buffer, hop,
      by_technology ? "    kind: regfile\n" : "    energy: {read: 1 pJ/B, write: 1 pJ/B}\n", gate,
      odds(rng, 2) ? "" : "    energy: 1 pJ\n    area: 300 um2\n",
      is_sparse ? "    when_zero: gate\n    gated_energy: 0.1 pJ\n" : "");
}

std::string grid_text(Rng& rng, Zeros zeros) {
  std::vector<AxisText> axes{std::begin(kAxes), std::end(kAxes)};
  if (zeros == Zeros::kAll) {  // these more often than the others
    for (int i = 0; i < 9; ++i) {
      axes.insert(axes.end(), std::begin(kZeroAxes), std::end(kZeroAxes));
    }
  } else if (zeros == Zeros::kItem) {
    axes.insert(axes.end(), 12, {"nodes.Buffer.word", "[8 b, 32 b]"});
  } else if (zeros == Zeros::kValue) {
    for (int i = 0; i < 6; ++i) {
      axes.insert(axes.end(), std::begin(kFormatAxes), std::end(kFormatAxes));
    }
  }
  std::string text = "grid:\n";
  std::vector<std::string> taken;
  std::size_t designs = 1;
  for (int tries = 0; tries < 40 && designs < 20; ++tries) {
    const AxisText& axis = axes[rng.below(axes.size())];
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

// Values that belong together, in half of the spaces: one item is a machine that saves at zeros.
std::string list_text(Rng& rng, Zeros zeros) {
  if (zeros != Zeros::kItem && odds(rng, 2)) {
    return "";
  }
  const char* const gates =
      ", nodes.Buffer.energy: {read: 3 pJ/B, write: 3 pJ/B, gated: 12 pJ/word}"
      ", nodes.Buffer.area: 2 um2/b, nodes.Buffer.format: {weight: bitmask}"
      ", nodes.Buffer.when_empty: [{gate: input, 'on': weight}]"
      ", nodes.Registers.format: {weight: bitmask}"
      ", nodes.Registers.when_empty: [{gate: input, 'on': weight}], nodes.MAC.when_zero: gate";
  return fmt::format(
      "list:\n      - {{nodes.Buffer.bandwidth.write: 1 B/cycle}}\n"
      "      - {{nodes.Buffer.bandwidth.write: 8 B/cycle{}}}\n    ",
      zeros == Zeros::kItem ? gates : "");
}

}  // namespace

RandomSpace random_space(std::uint64_t seed) {
  Rng rng{seed};
  RandomSpace space;
  const Zeros zeros = odds(rng, 3)   ? Zeros::kAll
                      : odds(rng, 4) ? Zeros::kValue
                      : odds(rng, 4) ? Zeros::kItem
                                     : Zeros::kNone;
  const std::string machine = machine_text(rng, zeros);
  const std::string grid = list_text(rng, zeros) + grid_text(rng, zeros);
  const std::string text =
      "name: random\narchitectures:\n  - file: ../arch/teaching_flat.yaml\n    name: tiny\n"
      "workloads: [../workloads/teaching/gemm.yaml]\n";
  const std::string folder = source_path("configs/campaigns/");
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
        Settings& settings = only.list.emplace_back();
        for (const Entry& setting : item.entries) {
          settings.push_back({setting.key.text, setting.value});
        }
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
        fmt::format("name: g{}\ngemm: {{m: {}, n: {}, k: {}}}\n{}", i, bound(), bound(), bound(),
                    zeros == Zeros::kNone ? "" : "density: {input: 0.5, weight: 0.3}\n");
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

}  // namespace mapsim
