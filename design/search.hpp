// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "core/memory.hpp"
#include "design/archive.hpp"
#include "design/limits.hpp"
#include "design/space.hpp"
#include "design/value.hpp"
#include "report/json.hpp"

namespace mapsim {

// Where a search for the best design stands.
struct DesignProgress {
  std::optional<double> best;
  double lower_bound = 0;
  std::int64_t boxes = 0;     // looked at
  std::int64_t searches = 0;  // of layers
};

// A box of designs that is done with, and why.
struct Leaf {
  enum class Why : std::uint8_t {
    kBound,      // its bound is no better than what is known; of one design: its value is known
    kArea,       // more than allowed
    kLimit,      // no mappings keep the limits, or none that are better than what is known
    kUnreadable  // one design, whose values contradict each other
  };
  std::size_t space = 0;
  DesignBox box;
  Why why = Why::kBound;
};

// What an answer rests on: for its certificate.
struct DesignEvidence {
  std::vector<std::vector<DesignAxis>> axes;  // of each space
  std::vector<Leaf> leaves;                   // with each design once
  // Whether a limit decided which mappings the layers take: single bounds then do not suffice to
  // exclude a design.
  bool is_by_choice = false;
  std::vector<ProvenBound> bounds;
};

struct DesignOptions {
  DesignObjective objective;
  DesignLimits limits{};
  Wanted wanted = Wanted::kBest;
  std::size_t top = 1;  // of the best
  double gap = 0;       // designs that are better by no more than this share are left out
  double seconds = std::numeric_limits<double>::infinity();  // on the clock on the wall
  int threads = 1;                     // over boxes, or of a search of a layer
  std::size_t bytes = search_bytes();  // memory of all searches, and of what is open and known
  bool certificate = false;            // keep what one needs; only mappings that one is about
  DesignAnswers* answers = nullptr;    // of earlier runs; those of this one are added
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const DesignProgress&)> progress = {};
};

// What became of the designs; they add up to the space's. Doubles, since boxes are large.
struct DesignCounts {
  double designs = 0;
  double valued = 0;      // every layer's optimum is known
  double by_bound = 0;    // a box of them has a bound that is no better than the best
  double by_area = 0;     // more than the area allowed
  double by_limit = 0;    // no choice of mappings keeps the limits on energy, latency and power
  double infeasible = 0;  // a layer has no mapping
  double unreadable = 0;  // values contradict each other
  double open = 0;        // not decided before the end
};

// An axis whose best value is the last of those given.
struct EdgeAxis {
  std::string name;
  std::string value;  // as the file has it
  bool is_high = false;
};

// The best design with the next value of one axis in place of its own.
struct AxisStep {
  std::string name, value;              // of the axis, as the file has it
  double least = 0, most = kNoMapping;  // of the objective, as shares of the best design's
  std::optional<double> area{};         // mm2
  std::string excluded{};               // why it cannot be used; empty: it can
};

struct DesignAnswer {
  std::vector<BestDesign> designs;  // those wanted, best value first
  const BestDesign* best() const { return designs.empty() ? nullptr : &designs.front(); }
  double lower_bound = 0;  // no design of the space is better
  bool proven = false;     // nothing is better by more than the gap that was asked for and rounding
  bool interrupted = false;
  DesignCounts counts;
  std::int64_t searches = 0;  // of layers: on bounds and on designs
  std::int64_t answered = 0;  // by DesignOptions::answers, in place of a search
  std::int64_t boxes = 0;
  std::int64_t short_of_memory = 0;  // searches of layers
  bool out_of_memory = false;        // ended for want of memory
  std::size_t peak_bytes = 0;        // at most: of a search of a layer, and of all boxes
  std::size_t layers = 0;            // distinct ones
  double seconds = 0;
  std::vector<EdgeAxis> edges;                                // of the best design
  std::vector<AxisStep> steps;                                // from it
  std::vector<std::pair<std::string, std::string>> branched;  // axes, and why
  std::vector<std::string> unknown_areas;  // nodes of the best design whose area nobody gives
  std::string unreadable_reason;           // of the first design that cannot be read
  DesignEvidence evidence;                 // with `certificate`
};

// Finds the design of a campaign's machines with the least objective, by best-first branch and
// bound over boxes of designs (docs/design.md). Throws ConfigError and UnsupportedSearch about what
// is not known to it.
DesignAnswer search_design(const Campaign& campaign, const DesignOptions& options);

// One line: how far a search is; begins with a comma.
std::string design_progress_text(const DesignOptions& options, const DesignProgress& progress);
// For people and for programs (docs/results.md).
std::string design_text(const Campaign& campaign, const DesignOptions& options,
                        const DesignAnswer& result);
std::string design_json(const Provenance& origin, const Campaign& campaign,
                        const DesignOptions& options, const DesignAnswer& result);
// The best machine as a file that other commands read.
std::string best_arch_text(const Campaign& campaign, const DesignAnswer& result);

}  // namespace mapsim
