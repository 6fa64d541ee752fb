// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "campaign/chip.hpp"
#include "campaign/gpu_layer.hpp"
#include "core/document.hpp"
#include "mapper/mapper.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// A value of an architecture file, and its replacement.
struct Setting {
  std::string path;  // core/substitute.hpp
  Node value;
};
using Settings = std::vector<Setting>;

// An architecture file with the values that a campaign tries in it.
struct Machine {
  std::string name;  // unique in the campaign
  Document document;
  std::vector<Settings> list;                                   // at least one, perhaps empty
  std::vector<std::pair<std::string, std::vector<Node>>> grid;  // path, values
  GpuLayerOptions kernels{};                                    // of a GPU
  ReadChip read_chip{};                                         // of a chip with several engines
  std::size_t designs() const;  // entries of the list times combinations of the grid
};

// A layer to map: of a network, or by itself (then `network` is empty and `count` 1). Or an
// operator of a network that only moves data: it is priced, not mapped. Or a whole network, to be
// planned on a chip.
struct CampaignLayer {
  std::string network, name;
  std::int64_t count = 1;
  Workload workload;
  std::optional<Stream> stream{};  // then there is no workload
  WorkbookRow workbook{};
  std::shared_ptr<const Network> planned{};  // then there is no workload; it has a graph
};

// An objective with its limits and constraints, asked about every layer on every design.
struct Question {
  Objective objective;
  std::string max_latency;           // as written: cycles need the clock of the design
  std::string constraints = "none";  // the file as the campaign names it
  std::string constraints_file, constraints_text;  // where it was read, and its text
  bool is_throughput = false;  // of a stream of frames on a chip; then `objective` is latency
};

// A grid of designs x layers x questions. Points are numbered from 0, questions fastest, designs
// slowest.
struct Campaign {
  std::string name;
  std::vector<Machine> machines;
  std::vector<CampaignLayer> layers;
  // Operators of unknown cost, which are in no row: network, kind, count.
  std::vector<std::tuple<std::string, std::string, std::int64_t>> unpriced;
  std::vector<std::string> warnings;  // of the readers of models
  std::vector<Question> questions;
  std::string strategy = "exact";
  std::int64_t evaluations = 10'000;  // of random, annealing, genetic
  std::int64_t seed = 1;              // of these strategies
  Budget budget;                      // of each point; labels only, so that results repeat

  std::size_t designs() const;
  std::size_t points_per_design() const { return layers.size() * questions.size(); }
  std::size_t points() const { return designs() * points_per_design(); }
};

// One of several equal parts of a campaign. From design to design the points shift to the next
// part. Otherwise, if the number of parts divided that of layers, each part would have only some of
// the layers, perhaps the slow ones.
struct Shard {
  std::size_t index = 0;  // below count
  std::size_t count = 1;
  bool has(const Campaign& campaign, std::size_t number) const {
    const std::size_t each = campaign.points_per_design();
    return (number % each + number / each) % count == index;
  }
};

// One combination of values of one machine.
struct Design {
  const Machine* machine = nullptr;  // of the campaign
  Settings settings;                 // in the order of the file: list, then grid
  Document document() const;         // the architecture with these values; throws ConfigError
};
Design design(const Campaign& campaign, std::size_t number);

inline constexpr std::size_t kMostPoints = 100'000'000;

// Reads a campaign (docs/formats.md) and the files that it names. A value of a list or
// grid that is wrong whatever the others are (campaign/own_error.hpp) is an error. Whether a
// combination of values is an architecture is found out when that design is read. Throws
// ConfigError with all errors of the campaign, or of a file that it names. `configs`: folder of
// shipped files (core/shipped.hpp), which are found by name. `read_chip`: for campaigns of chips.
Campaign load_campaign(const std::string& path, const std::vector<std::string>& configs = {},
                       const ReadChip& read_chip = {});
Campaign parse_campaign(const std::string& text, const std::string& filename,
                        const std::vector<std::string>& configs = {},
                        const ReadChip& read_chip = {});
// The same as a space of designs: `work` (files of layers and networks), unless it is empty,
// replaces the layers and networks of the file. The number of points is not limited.
Campaign load_design_space(const std::string& path, const std::vector<std::string>& work,
                           const std::vector<std::string>& configs = {});

}  // namespace mapsim
