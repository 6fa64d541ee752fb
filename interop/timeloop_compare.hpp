// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "interop/timeloop_counts.hpp"
#include "interop/timeloop_rules.hpp"

namespace mapsim {

// Timeloop's figures of one tensor at one storage: words of an average instance, rounded; energy
// [pJ] of all instances, with two decimals.
struct TimeloopTensorResult {
  std::int64_t tile = 0;
  std::int64_t reads = 0;
  std::int64_t fills = 0;
  std::int64_t updates = 0;
  double energy = 0;
};
// Those of one tensor in one network; energies in pJ.
struct TimeloopNetworkResult {
  double words = 0;
  double link_words = 0;
  double energy = 0;  // without links
  double link_energy = 0;
};
// All figures of a design.
struct TimeloopResult {
  struct Level {
    std::optional<std::int64_t> cycles;  // nullopt: not printed, because no tensor is kept
    std::vector<std::optional<TimeloopTensorResult>> tensors;    // kept ones
    std::vector<std::optional<TimeloopNetworkResult>> networks;  // printed ones
  };
  std::vector<Level> levels;  // outermost first
  std::int64_t computes = 0;
  std::int64_t cycles = 0;
  double energy = 0;  // total, pJ
};

// A figure that both tools have.
enum class TimeloopFigure : std::uint8_t {
  kFootprint,
  kReads,  // of outputs: read-backs
  kFills,
  kUpdates,
  kEnergy,       // of a tensor at a storage; without mapsim's drains
  kLevelCycles,  // without mapsim's drains
  kMacs,
  kCycles,
  kTotalEnergy,  // without networks and mapsim's drains
  kWholeEnergy,  // with networks, without mapsim's drains
  kNetworkWords,
  kNetworkEnergy,
};
inline constexpr std::size_t kTimeloopFigures = 12;
const char* to_string(TimeloopFigure figure);

// Whether the figures are equal.
enum class Verdict : std::uint8_t { kEqual, kExplained, kUnexplained };
// "equal", "derived" or "unexplained", as results state it.
const char* to_string(Verdict verdict);

// One figure of both tools. Explained: counting with `rules` gives Timeloop's figure to its last
// printed digit, and counting without any one of them does not. kExtrapolation is an exception: it
// is listed without a test if walking every iteration would take too long.
struct ComparedFigure {
  TimeloopFigure figure = TimeloopFigure::kReads;
  std::string where;  // "GLB Inputs"
  double timeloop = 0;
  double derived = 0;          // mapsim's count by all rules
  std::optional<double> ours;  // mapsim's; nullopt: it has no fanout there
  Verdict verdict = Verdict::kUnexplained;
  TimeloopRules rules;
};

// Compares all figures: mapsim's counts of the first instance with Timeloop's of the average one,
// energies of all instances, and cycles. Drains, which Timeloop does not charge, are left out.
// `all`: the rules of the version that printed the result.
std::vector<ComparedFigure> compare(const TimeloopDesign& design, const Problem& problem,
                                    const Counts& counts, const TimeloopResult& result,
                                    TimeloopRules all = kAllTimeloopRules);

}  // namespace mapsim
