// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/memory.hpp"

namespace mapsim {

// How much may be made into one kernel; each includes those before it.
enum class Fusion : std::uint8_t {
  kNone,        // every node by itself, and its epilogue another pass
  kVertical,    // epilogues, pointwise operators behind their producer, chains of row operators
  kHorizontal,  // siblings: layers that share their input
  kElision      // concats whose producers write their parts of the result
};
inline constexpr std::size_t kFusions = 4;
const char* to_string(Fusion fusion);  // "none", "vertical", "horizontal", "elision"

// How work is handed to an engine: kernel by kernel, or as a graph that was recorded before.
enum class LaunchMode : std::uint8_t { kGraph, kStream };
inline constexpr std::size_t kLaunchModes = 2;
const char* to_string(LaunchMode mode);  // "graph", "stream"

enum class PlanObjective : std::uint8_t { kLatency, kEnergy, kThroughput };
const char* to_string(PlanObjective objective);  // "latency", "energy", "throughput"

struct PlanOptions {
  PlanObjective objective = PlanObjective::kLatency;
  Fusion fusion = Fusion::kElision;
  LaunchMode launch = LaunchMode::kGraph;
  bool front = false;                  // also other exchanges of latency and energy
  bool at_once = false;                // engines work at the same time on a frame
  std::vector<std::int64_t> widths{};  // of operands [b], to choose from; empty: the network's
  std::map<std::string, std::int64_t> node_widths{};  // of a node [b], whatever else there is
  bool sparse = false;                                // weights are pruned 2:4
  bool what_if = false;                               // also what better chips would give
  std::optional<double> max_latency{};                // [s]
  std::optional<double> max_power{};                  // [W], mean over a frame
  std::optional<double> max_memory{};                 // [B], of tensors
  std::optional<std::string> why{};                   // an operation that is to be explained
  std::size_t bytes = search_bytes();  // memory of each search, of a layer or for a plan
  double seconds = std::numeric_limits<double>::infinity();  // wall time of all searches
  const std::atomic<bool>* stop = nullptr;  // set by the caller: planning throws PlanStopped
};

}  // namespace mapsim
