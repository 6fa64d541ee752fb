// SPDX-License-Identifier: Apache-2.0
#include "plan/within_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/arithmetic.hpp"
#include "plan/limits.hpp"
#include "plan/priced.hpp"
#include "report/figures.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kMostLabels = 1'000'000;  // of a search under limits
constexpr std::size_t kMostArcs = 4'000'000;    // of its graph: 300 MB

std::vector<PlanLimit> limits_of(const Soc& soc, const PlanOptions& options) {
  std::vector<PlanLimit> limits;
  if (options.max_latency) {
    limits.push_back({{1, 0, 0, {}}, *options.max_latency});
  }
  if (const auto power = power_limit(soc, options)) {  // energy that it does not give in the time
    limits.push_back({{-*power * kPicojoulesPerJoule, 1, 0, {}}, 0});
  }
  return limits;
}

bool keeps(const std::vector<PlanLimit>& limits, const Load& total) {
  return std::all_of(limits.begin(), limits.end(), [&](const PlanLimit& limit) {
    return mapsim::keeps(limit, total.latency, total.energy);
  });
}

// Why no plan keeps the limits.
std::string no_plan_within(const Soc& soc, const PlanOptions& options, const PlanProblem& problem) {
  const auto fastest = shortest_path(problem, {1, 0, 0, {}});
  if (!fastest) {
    return "there is none";
  }
  if (options.max_latency && fastest->value > *options.max_latency) {
    return fmt::format("the least latency of all plans is {}", scaled(fastest->value, "s"));
  }
  const double watts = least_power(problem, kMostArcs).value_or(0) / kPicojoulesPerJoule;
  const auto most = power_limit(soc, options);
  if (most && watts > *most) {
    return fmt::format("the least mean power of all plans is {}, where {} allows {}",
                       scaled(watts, "W"), options.max_power == most ? "--max-power" : soc.name,
                       scaled(*most, "W"));
  }
  return "plans keep either the limit on latency or the one on power";
}

// The best plan that keeps limits on latency and power becomes the plan of the answer, and its
// bound; false: there is none, or none was found. Throws NoPlanInBudget.
bool search_within(const Soc& soc, const PlanOptions& options, PlanAnswer& answer) {
  const Weights weights = weights_of(options.objective);
  const Weights ties = ties_of(options.objective);
  std::optional<PlanPath> path = shortest_path(answer.problem, weights, ties);
  if (!path) {
    return false;
  }
  answer.bound = path->bound;
  answer.limits = limits_of(soc, options);
  if (keeps(answer.limits, plan_of(answer.problem, path->steps).total)) {
    answer.limits.clear();
    answer.multipliers.clear();
    answer.is_tie_open = path->is_tie_open;
  } else {
    LimitedPlan found =
        limited_path(answer.problem, weights, ties, answer.limits, kMostLabels, kMostArcs);
    if (!found.path) {
      answer.misfit = found.is_impossible ? no_plan_within(soc, options, answer.problem)
                                          : "none was found before the search ended: too many "
                                            "partial plans for its memory or its time";
      return false;
    }
    answer.bound = found.bound;
    answer.multipliers = std::move(found.multipliers);
    answer.is_tie_open = found.is_tie_open;
    path = std::move(found.path);
  }
  answer.plan = plan_of(answer.problem, path->steps, &answer.prices);
  answer.plan.labels = path->labels;
  return true;
}

// The least that tensors which are alive at once can take, of all plans.
double search_least_alive(PlanProblem problem, const Weights& weights) {
  double low = 0;
  double high = 0;
  for (const PlanProblem::Tensor& tensor : problem.tensors) {
    for (const double bytes : tensor.bytes) {
      high += bytes;
    }
  }
  constexpr double kBit = 1. / 8;  // of a byte: what tensors take is whole bits
  while (high - low > kBit) {
    problem.most_least = (low + high) / 2;
    (shortest_path(problem, weights) ? high : low) = *problem.most_least;
  }
  return std::floor(high / kBit) * kBit;
}

// 0: memory or time did not suffice to know.
double least_alive(const PlanProblem& problem, const Weights& weights) {
  try {
    return search_least_alive(problem, weights);
  } catch (const NoPlanInBudget&) {
    return 0;
  }
}

constexpr std::int64_t kByte = 8;  // bits

// [B]. `width_of`: by operation.
template <class WidthOf>
std::int64_t weights_by(const PlanAnswer& answer, const WidthOf& width_of) {
  std::int64_t bits = 0;
  std::set<std::size_t> constants;
  for (std::size_t operation = 0; operation < answer.operations.all.size(); ++operation) {
    const GraphNode& node = answer.operations.node(operation);
    bits += node.parameters * width_of(operation);
    for (const GraphUse& use : node.in) {
      const GraphTensor& tensor = answer.operations.graph->tensors[use.tensor];
      if (tensor.constant && constants.insert(use.tensor).second) {
        bits += size_of(tensor).value_or(Bits{0}).count();
      }
    }
  }
  return ceil_div(bits, kByte);
}

// Of no plan weights take less.
std::int64_t least_weights(const PlanAnswer& answer) {
  const auto narrowest =
      std::min_element(answer.places.begin(), answer.places.end(),
                       [](const Place& a, const Place& b) { return a.width < b.width; });
  return weights_by(answer, [&](std::size_t) { return narrowest->width; });
}

// What tensors may take beside weights [B], by the chip's memory; infinite: it has no capacity.
double capacity_beside(const Soc& soc, std::int64_t weights) {
  return soc.memory.capacity == Bits{0} ? std::numeric_limits<double>::infinity()
                                        : real(soc.memory.capacity.count() / kByte - weights);
}
double capacity_for(const Soc& soc, const PlanOptions& options, std::int64_t weights) {
  return std::min(options.max_memory.value_or(std::numeric_limits<double>::infinity()),
                  capacity_beside(soc, weights));
}

std::string size_text(double bytes) {
  return bytes_text(Bits{static_cast<std::int64_t>(std::ceil(bytes * kBitsPerByte))});
}

// By how much the plan of an answer takes too much memory [B]; at most 0: it fits.
double excess_of(const Soc& soc, const PlanOptions& options, const PlanAnswer& answer) {
  return real(memory_of(answer).peak) - capacity_for(soc, options, weights_of_plan(answer));
}

// A plan that fits, and the limits on latency and power that it was found under.
struct Fitting {
  Plan plan;
  std::vector<PlanLimit> limits;
  std::vector<double> multipliers;
};

// The first plan that fits as a limit on what is alive becomes tighter, by what is too much or a
// share that doubles each time; once nothing keeps the limit, halfway between it and the last one.
void tighten(const Soc& soc, const PlanOptions& options, PlanAnswer& answer, double limit,
             std::optional<double> PlanProblem::* of, std::vector<Fitting>& found) {
  constexpr int kTries = 14;
  constexpr double kFirstShare = 1. / 512;
  double wide = limit;  // what was found does not fit
  std::optional<double> tight;
  for (int k = 0; k < kTries; ++k) {
    answer.problem.*of = limit;
    double excess = 0;
    if (plan_within(soc, options, answer)) {
      excess = excess_of(soc, options, answer);
      if (excess <= 0) {
        found.push_back({answer.plan, answer.limits, answer.multipliers});
        return;
      }
      wide = limit;
    } else if (k == 0) {
      return;
    } else {
      tight = limit;
    }
    limit = tight ? (*tight + wide) / 2
                  : wide - std::max({1.0, excess, wide * std::ldexp(kFirstShare, k)});
  }
}

// Why nothing fits, or nothing was found that does.
std::string memory_misfit(const Soc& soc, const PlanOptions& options, const PlanAnswer& best,
                          const std::string& of_others) {
  const double capacity = capacity_for(soc, options, least_weights(best));
  std::string why;
  if (!of_others.empty()) {
    why = fmt::format("among plans whose live tensors take at most {}: {}", size_text(capacity),
                      of_others);
  } else if (capacity > 0) {
    PlanProblem problem = best.problem;
    problem.most_least = problem.most_alive = std::nullopt;
    const double least = least_alive(problem, weights_of(options.objective));
    why =
        fmt::format("the tensors of the best plan need {}{}", size_text(real(memory_of(best).peak)),
                    least > 0 ? ", those of every plan at least " + size_text(least) : "");
  }
  return best.is_limited
             ? fmt::format("weights take {}; {}the memory of {} has {}",
                           bytes_text(Bits{kByte * weights_of_plan(best)}),
                           why.empty() ? "" : why + "; ", soc.name, bytes_text(soc.memory.capacity))
             : why;
}

}  // namespace

bool plan_within(const Soc& soc, const PlanOptions& options, PlanAnswer& answer) {
  try {
    return search_within(soc, options, answer);
  } catch (const NoPlanInBudget&) {
    answer.misfit = kNoneInBudget;
    return false;
  }
}

MemoryMap memory_of(const PlanAnswer& answer) {
  return place(buffers_of(answer.versions, answer.places, answer.groups, answer.plan.groups));
}

std::int64_t weights_of_plan(const PlanAnswer& answer) {
  std::vector<std::int64_t> widths(answer.operations.all.size(), 0);
  for (const PlannedGroup& group : answer.plan.groups) {
    for (const std::size_t operation : answer.groups.all[group.group].operations) {
      widths[operation] = answer.places[group.place].width;
    }
  }
  return weights_by(answer, [&](std::size_t operation) { return widths[operation]; });
}

// First the best of the plans whose tensors take no more at least (plan/needs.hpp), whose value is
// a bound on all that fit. Where that one does not fit by its copies, its offsets or its inputs, a
// tighter limit finds another, or one that counts copies for longer.
void keep_memory(const Soc& soc, const PlanOptions& options, PlanAnswer& answer) {
  if (!answer.misfit.empty() || excess_of(soc, options, answer) <= 0) {
    return;
  }
  const Plan best = answer.plan;
  answer.is_limited = capacity_beside(soc, weights_of_plan(answer)) <
                      options.max_memory.value_or(std::numeric_limits<double>::infinity());
  answer.is_within_memory = true;
  const double capacity = capacity_for(soc, options, least_weights(answer));
  answer.problem.most_least = capacity;
  std::vector<Fitting> found;
  std::string misfit;
  if (capacity > 0 && plan_within(soc, options, answer)) {
    const Fitting first{answer.plan, answer.limits, answer.multipliers};
    const double bound = answer.bound;
    const double excess = excess_of(soc, options, answer);
    if (excess <= 0) {
      found.push_back(first);
    } else {
      tighten(soc, options, answer, capacity - std::max(1.0, excess), &PlanProblem::most_least,
              found);
      answer.problem.most_least = capacity;
      tighten(soc, options, answer, capacity, &PlanProblem::most_alive, found);
    }
    answer.bound = bound;
    if (!found.empty()) {
      const Weights weights = weights_of(options.objective);
      const auto least =
          std::min_element(found.begin(), found.end(), [&](const Fitting& a, const Fitting& b) {
            return weights.of(a.plan.total) < weights.of(b.plan.total);
          });
      answer.plan = least->plan;
      // The limits that the bound is about, too.
      answer.limits = least->limits.empty() ? first.limits : least->limits;
      answer.multipliers = least->limits.empty() ? first.multipliers : least->multipliers;
      answer.misfit.clear();
      answer.most_least = capacity;
    }
  } else {
    misfit = answer.misfit;
  }
  answer.problem.most_least = answer.problem.most_alive = std::nullopt;
  if (found.empty()) {
    answer.plan = best;
    answer.misfit = memory_misfit(soc, options, answer, misfit);
  }
}

}  // namespace mapsim
