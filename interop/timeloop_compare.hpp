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

// What Timeloop printed about one tensor at one storage: words of an average instance, rounded;
// energy of all instances, pJ, with two decimals.
struct TimeloopTensorResult {
  std::int64_t tile = 0;
  std::int64_t reads = 0;
  std::int64_t fills = 0;
  std::int64_t updates = 0;
  double energy = 0;
};
struct TimeloopNetworkResult {
  double words = 0;
  double link_words = 0;
  double energy = 0;  // links left out
  double link_energy = 0;
};
struct TimeloopResult {
  struct Level {
    std::optional<std::int64_t> cycles;  // nullopt: not printed, as nothing is kept there
    std::vector<std::optional<TimeloopTensorResult>> tensors;    // kept ones
    std::vector<std::optional<TimeloopNetworkResult>> networks;  // printed ones
  };
  std::vector<Level> levels;  // outermost first
  std::int64_t computes = 0;
  std::int64_t cycles = 0;
  double energy = 0;  // of everything
};

enum class TimeloopFigure : std::uint8_t {
  kFootprint,
  kReads,  // of outputs: read-backs
  kFills,
  kUpdates,
  kEnergy,       // of a tensor at a storage; our drains left out
  kLevelCycles,  // our drains left out
  kMacs,
  kCycles,
  kTotalEnergy,  // networks and our drains left out
  kWholeEnergy,  // networks included; our drains left out
  kNetworkWords,
  kNetworkEnergy,
};
inline constexpr std::size_t kTimeloopFigures = 12;
const char* to_string(TimeloopFigure figure);

enum class Verdict : std::uint8_t { kEqual, kExplained, kUnexplained };

// One figure, side by side. Explained: counting with `rules` gives Timeloop's figure to the last
// digit that it prints, and without any one of them it does not (but for kExtrapolation, which is
// named unseen where walking every iteration would take too long).
struct ComparedFigure {
  TimeloopFigure figure = TimeloopFigure::kReads;
  std::string where;  // "GLB Inputs"
  double timeloop = 0;
  double derived = 0;          // by all rules
  std::optional<double> ours;  // nullopt: no fanout of ours is there
  Verdict verdict = Verdict::kUnexplained;
  TimeloopRules rules;
};

// `all`: the rules of the version that printed it. Our counts of the first instance against
// Timeloop's of the average one, energies of all instances and cycles without our drains, which
// Timeloop does not charge.
std::vector<ComparedFigure> compare(const TimeloopDesign& design, const Problem& problem,
                                    const Counts& counts, const TimeloopResult& result,
                                    TimeloopRules all = kAllTimeloopRules);

}  // namespace mapsim
