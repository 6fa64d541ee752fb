// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mapsim {

// A configuration and a topology of SCALE-Sim (v2, v3), by the tool's terms.

enum class ScaleSimDataflow : std::uint8_t { kOutput, kWeight, kInput };  // the stationary tensor

struct ScaleSimConfig {
  std::string name;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t ifmap_kb = 1;  // KiB
  std::int64_t filter_kb = 1;
  std::int64_t ofmap_kb = 1;
  ScaleSimDataflow dataflow = ScaleSimDataflow::kOutput;
  // Words/cycle of the port of each SRAM to DRAM; nullopt: the tool computes them.
  struct Ports {
    std::int64_t ifmap = 1, filter = 1, ofmap = 1;
    friend bool operator==(const Ports&, const Ports&) = default;
  };
  std::optional<Ports> bandwidth{};
  std::string not_modelled{};           // what else the tool does with the ports; empty: nothing
  std::vector<std::string> left_out{};  // keys that are not used, with their lines
  bool sparse = false;                  // weights are compressed, by the ratio of each layer
  std::int64_t sparse_block = 0;        // above 0: all weights, by rows in blocks of this size
  friend bool operator==(const ScaleSimConfig&, const ScaleSimConfig&) = default;
};

// A row of a topology. The ifmap is padded already, and the batch is 1.
struct ScaleSimLayer {
  std::string name;
  std::int64_t ifmap_height = 1;
  std::int64_t ifmap_width = 1;
  std::int64_t filter_height = 1;
  std::int64_t filter_width = 1;
  std::int64_t channels = 1;
  std::int64_t filters = 1;
  std::int64_t stride = 1;
  std::int64_t copies = 1;           // of a depthwise layer ("DP" in its name): one per channel
  bool gemm = false;                 // the row is M, N, K: an ifmap of M x K with a filter of 1 x K
  int line = 0;                      // in the topology
  std::string ratio{};               // of non-zero weights, "2:4"; the layer here is dense
  std::int64_t kept = 1, block = 1;  // the same as numbers
  friend bool operator==(const ScaleSimLayer&, const ScaleSimLayer&) = default;
};

// The words of a window for which weights remain when SCALE-Sim has compressed them: n of each m
// (fewer in the last block if it has fewer); with ratios by row, half of each two blocks.
std::int64_t scalesim_kept(const ScaleSimConfig& config, const ScaleSimLayer& layer);

// They throw ConfigError with all errors, by line and column.
ScaleSimConfig parse_scalesim_config(const std::string& text, const std::string& filename);
std::vector<ScaleSimLayer> parse_scalesim_topology(const std::string& text,
                                                   const std::string& filename);

}  // namespace mapsim
