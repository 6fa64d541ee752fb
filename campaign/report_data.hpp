// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mapper/objective.hpp"

namespace mapsim {

// The data of a report, whatever file it comes from.

// A part of the energy: of a level and a tensor; of a fanout, the compute node or leakage alone.
struct EnergyPart {
  std::string node, tensor;
  double pj = 0;
};

// Per second. Sums of integers do not depend on their order, so equal designs stay equal.
inline constexpr double kPicoseconds = 1e12;
std::int64_t picoseconds(double seconds);

// A layer on a design. Without a mapping all members from `energy_pj` on are zero or empty.
struct LayerResult {
  std::string layer;
  std::int64_t count = 1;
  std::string status;  // empty: not computed yet; "fastest": a kernel on a GPU
  std::string reason;
  std::optional<double> energy_pj;
  std::int64_t cycles = 0;  // the requested latency; on a GPU picoseconds
  std::int64_t macs = 0;
  double utilization = 0;
  std::string bottleneck;
  double ops = 0, bytes = 0;         // of the roofline
  std::optional<double> peak_ops;    // per second
  std::optional<double> peak_bytes;  // per second; absent: no limit
  std::optional<double> gap;
  std::vector<EnergyPart> energy;
  std::string mapping;
  std::string widths{};                    // of its elements, in words; empty: unknown
  std::string design_id{}, workload_id{};  // of the texts in a database; empty: none
};

// Sums over all layers of a design; layers without a mapping are only counted.
struct LayerSums {
  std::size_t layers = 0, mapped = 0, proven = 0, fastest = 0, priced = 0, missing = 0;
  double energy_pj = 0;  // from here on times their counts
  std::int64_t cycles = 0;
  double macs = 0, used = 0;  // used: cycles at full use of the MAC units
  std::int64_t streams = 0;   // operators that only move data
  double stream_cycles = 0, stream_pj = 0;
  void add(const LayerResult& layer);
};

// A machine with its settings, and every layer on it.
struct DesignResult {
  std::size_t number = 0;  // in the grid of its campaign, as `mapsim design` prints it
  std::string arch;
  std::vector<std::pair<std::string, std::string>> settings;  // path, value
  double clock_hz = 0;  // kPicoseconds on a GPU, whose times are no cycles
  std::optional<double> area_mm2;
  std::int64_t mac_units = 0;          // 0: not known, or a GPU, where each path has its own rate
  LayerSums sums{};                    // of all layers
  std::vector<LayerResult> layers{};   // all or none: few of many designs are drawn
  std::vector<std::int64_t> points{};  // in a database: their numbers
  // If mappings were chosen jointly: a proven lower bound of every choice's EDP [pJ cycles].
  std::optional<double> edp_lower_bound{};

  bool is_complete() const { return sums.mapped == sums.layers; }  // every layer has a mapping
  // Sums over the layers with a mapping, times their counts.
  double energy_pj() const { return sums.energy_pj; }
  std::int64_t cycles() const { return sums.cycles; }
  // How far the EDP may be above the least of all choices of mappings, as a share of that. Nothing
  // if it is proven, or if choices were not compared; infinite if no bound is known.
  std::optional<double> edp_gap() const;
  double seconds() const;
  // The objective of the sums, by seconds instead of cycles, since clocks of designs differ.
  double value(const ObjectiveFunction& function) const;
  // Shares of the operators that only move data, which are priced instead of mapped.
  struct Streams {
    std::int64_t count = 0;
    double time = 0, energy = 0;  // 0 to 1
  };
  Streams streams() const;
  double utilization() const;  // MACs / the MACs that the units could do in this time
  std::string name() const;    // "eyeriss, GLB.capacity 64 KiB": the architecture, its settings
};

// A mapping with its machine and layer, as texts that can be read again (YAML).
struct MappedLayer {
  std::string layer, arch, workload, mapping;
};

// One question about one network, or about the layers without a network, on every design.
struct Study {
  std::string campaign, network;
  std::string objective, latency, limits, constraints, strategy;  // as asked
  std::vector<DesignResult> designs;                              // in order of number
  std::vector<std::string> fixed{};     // settings that are equal in all designs of a machine
  std::vector<std::string> unpriced{};  // operators that are in no sum: "2 x NonMaxSuppression"
  std::map<std::string, std::size_t> reasons{};  // why layers have no mapping, with counts
  // The layer of the best design with the largest energy, to be stepped through, if the results
  // have the texts of its machine and layer.
  std::optional<MappedLayer> stepped{};
  std::size_t unlisted = 0;  // designs of the campaign that no shard read here computed
  std::size_t source = 0;    // which of the files of a report it is read from

  void count(const LayerResult& layer);  // into reasons
  void sum_up();                         // sums and reasons anew, from the layers
  Objective goal() const;
  // Is it about the EDP of a network in a database, and not on a GPU? Then mappings of all layers
  // may be chosen jointly or layer by layer (docs/decisions/0085).
  bool is_network_edp() const;
  // The question in words: "energy, at most 20 ms".
  std::string question() const;
  // The complete design with the least objective of the sums, then the faster one; or nullptr.
  const DesignResult* best() const;
};

// The studies of a database in the order of their first points. Throws ConfigError. Layers are read
// for the designs that a report draws or lists (campaign/report_select.hpp) and for those numbered
// `wanted`; the others have sums only.
std::vector<Study> read_studies(const std::string& database, const std::string& campaign,
                                const std::vector<std::size_t>& wanted = {});

}  // namespace mapsim
