// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mapsim::check {

inline constexpr double kPlanClose = 1e-9;   // relative: sums in another order
inline constexpr double kPicojoules = 1e12;  // in a joule

// A plan of a network on a chip, and the claims about it (docs/certificates.md). The checker trusts
// only the prices of groups and moves, because the claim is about these.

// [s], [pJ], [B]; and the engine that is busy meanwhile [s].
struct PlanPrice {
  double latency = 0, energy = 0, bytes = 0, busy = 0;
  std::optional<std::size_t> engine{};
};

struct PlanGroup {
  std::vector<std::size_t> operations, reads, writes;
  std::size_t anchor = 0;                    // position in the order of groups
  std::vector<std::optional<PlanPrice>> on;  // per place; nullopt: cannot run there
};

struct PlanTensor {
  std::vector<std::size_t> readers;
  std::vector<std::optional<PlanPrice>> moves;  // [from * places + to]; nullopt: not possible
};

struct PlanWeights {
  double latency = 0, energy = 0, bytes = 0;
  std::vector<double> busy{};  // by engine
  double value(const PlanPrice& price) const;
};

// The sums of a plan; the second one breaks ties of the first.
struct PlanValue {
  double first = 0, second = 0;
  friend auto operator<=>(const PlanValue&, const PlanValue&) = default;
};

// A limit on a weighted sum, and its Lagrange multiplier.
struct PlanLimit {
  PlanWeights of;  // of latency and energy, of either sign
  double most = 0, multiplier = 0;
  // Are latency [s] and energy [pJ] within it? `close`: relative to the parts of their sum, of
  // either sign, which rounding is.
  bool keeps(double latency, double energy, double close) const;
  bool is_of_latency() const;  // else of mean power: energy less what it gives in the time, below 0
};

// The groups that were chosen, each with the place where it runs.
using PlanChoices = std::vector<std::pair<std::size_t, std::size_t>>;
// The tensors that are moved for a group, each with the place that it comes from.
using PlanSources = std::vector<std::pair<std::size_t, std::size_t>>;

struct PlanClaim {
  std::string soc, network, objective;
  std::size_t operations = 0, engines = 0, places = 0;
  std::vector<PlanTensor> tensors;
  std::vector<PlanGroup> groups;
  PlanWeights weights;  // of the sum, per frame, that the plan minimises
  PlanWeights ties;     // of the sum that decides between plans that are equal in it
  PlanChoices plan;     // ascending by anchor
  double value = 0, tie = 0;
  std::vector<PlanLimit> limits;
  std::vector<PlanSources> moves;  // with limits: for each group of the plan
  // For a stream of frames. What there is in a second of each engine [s], of memory traffic [B]
  // and, if it is limited, of energy [pJ]; and the Lagrange multiplier of each
  std::vector<double> capacities, duals;
  std::vector<std::pair<double, PlanChoices>> mix;  // frames per second, and the plan that they use
  // Tensors in memory: size and offset [B], first and last group that uses them.
  struct Buffer {
    double bytes = 0, offset = 0;
    std::size_t first = 0, last = 0;
  };
  std::vector<Buffer> buffers;
  double peak = 0, alive = 0;
  // A limit on what tensors that are alive at once take at least [B] (check/plan_needs.hpp).
  struct MemoryLimit {
    double most = 0;
    double bound = 0;           // no plan within it has less of the first sum
    std::vector<double> least;  // by tensor: wherever it lies
    // By tensor: the concat that it may be a part of.
    std::vector<std::optional<std::size_t>> whole;
    // By group and place: inputs of the network that only this group reads, as it reads them.
    std::vector<std::vector<double>> inputs;
  };
  std::optional<MemoryLimit> memory_limit{};
  // Engines at once: a group that runs, or a tensor that is converted.
  struct Task {
    std::optional<std::size_t> group{};
    std::size_t server = 0, tensor = 0, from = 0, clock = 0;  // PlanServers has their numbers
    double start = 0;                                         // [s]
  };
  struct AtOnce {
    std::vector<std::size_t> engine_of;  // by place
    std::vector<std::size_t> counts;     // by engine
    std::vector<Task> tasks;             // empty: the plan, one group after the other
    double bound = 0;                    // no schedule is faster [s]
  };
  std::optional<AtOnce> at_once{};
  // Of GPUs with these prices; and the limit on mean power [W] that the plan keeps at this clock.
  struct Clock {
    double share = 1, most_watts = 0;
  };
  std::optional<Clock> clock{};
};

// Whether a text begins as a certificate of a plan does.
bool is_plan_certificate(const std::string& text);

// Throws a ConfigError: not a certificate of a plan, or damaged. `name`: of the text, in errors.
PlanClaim parse_plan_claim(const std::string& text, const std::string& name);
PlanClaim load_plan_claim(const std::string& path);

struct PlanVerdict {
  std::vector<std::string> problems;  // empty: the proof holds
  std::vector<std::string> verified, unverified;
  std::size_t labels = 0;  // of the search
};

// Evaluates the plan, and searches all plans anew. This search goes from the last operation to the
// first: a label holds the demands of later groups for tensors that are not made yet, and
// conversions are charged where a tensor is made. (The search that found the plan goes forward, and
// charges them where a tensor is read.)
PlanVerdict check_plan(const PlanClaim& claim);

// The least value of all plans, by that search. nullopt: there is no plan, or it takes more than
// `most_labels` labels.
std::optional<PlanValue> least_plan(const PlanClaim& claim, const PlanWeights& weights,
                                    const PlanWeights& ties, std::size_t most_labels,
                                    std::size_t& labels);

// Whether a plan keeps the limits of the claim and has a lower value than `below`; nullopt: this
// takes more than `most_labels` labels. From the last operation to the first, every plan is
// followed as long as value and multipliers leave it a chance, by what the operations in front take
// at least.
std::optional<bool> has_plan_below(const PlanClaim& claim, PlanValue below, std::size_t most_labels,
                                   std::size_t& labels);

// Checks where the tensors of a plan lie in memory. Adds to the verdict.
void check_memory(const PlanClaim& claim, PlanVerdict& verdict);
bool is_close(double a, double b);  // equal but for rounding

}  // namespace mapsim::check
