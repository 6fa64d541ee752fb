// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "core/arithmetic.hpp"
#include "plan/at_once.hpp"
#include "plan/clock.hpp"
#include "plan/front.hpp"
#include "plan/limits.hpp"
#include "plan/priced.hpp"
#include "plan/pricing.hpp"
#include "plan/within_limits.hpp"
#include "report/figures.hpp"

namespace mapsim {

namespace {

void add(Load& sum, const Load& part) {
  sum.latency += part.latency;
  sum.energy += part.energy;
  sum.bytes += part.bytes;
}

// All groups on one engine; the first operation that it cannot run, if there is one.
EngineAlone alone_on(const Soc& soc, const PlanAnswer& answer, std::size_t engine,
                     PlanObjective objective) {
  for (std::size_t g = 0; g < answer.groups.all.size(); ++g) {
    const Group& group = answer.groups.all[g];
    std::string problem;
    bool runs = false;
    for (std::size_t p = 0; p < answer.places.size(); ++p) {
      if (answer.places[p].engine == engine) {
        runs = runs || answer.prices[g][p].problem.empty();
        problem = answer.prices[g][p].problem;
      }
    }
    if (group.operations.size() == 1 && !group.elided && !runs) {
      return {
          std::nullopt,
          fmt::format("{}: {}", answer.operations.node(group.operations.front()).name, problem)};
    }
  }
  const PlanProblem problem = only_on(answer.problem, answer.places, engine);
  try {
    const auto path = shortest_path(problem, weights_of(objective), ties_of(objective));
    if (!path) {
      return {std::nullopt, fmt::format("tensors have no way between the places of {}",
                                        soc.engines[engine].name)};
    }
    return {plan_of(problem, path->steps, &answer.prices).total, ""};
  } catch (const NoPlanInBudget&) {
    return {std::nullopt, kNoneInBudget};
  }
}

// Empty where memory or time does not suffice.
void set_front(PlanAnswer& answer) {
  try {
    for (const FrontPlan& corner : convex_front(answer.problem)) {
      answer.front.push_back(plan_of(answer.problem, corner.steps, &answer.prices));
    }
  } catch (const NoPlanInBudget&) {
    answer.front.clear();
  }
}

// Each group where it is best if tensors moved for nothing, then with what moving them takes.
void set_greedy(const PlanProblem& problem, PlanObjective objective, PlanAnswer& answer) {
  const Weights weights = weights_of(objective);
  const Weights ties = ties_of(objective);
  PlanProblem free = problem;
  for (PlanProblem::Tensor& tensor : free.tensors) {
    tensor.moves.assign(problem.places * problem.places, Load{});
  }
  try {
    auto path = shortest_path(free, weights, ties);
    answer.free_moves = path ? path->bound : 0;
    if (path && walk(problem, weights, path->steps, ties)) {
      answer.greedy = plan_of(problem, path->steps, &answer.prices).total;
    }
  } catch (const NoPlanInBudget&) {
    answer.free_moves = 0;  // which is a bound
  }
}

}  // namespace

Plan plan_of(const PlanProblem& problem, const std::vector<PlanStep>& steps, const Prices* prices) {
  Plan plan;
  plan.busy.resize(problem.engines);
  const auto run = [&plan](const Load& load) {
    add(plan.total, load);
    if (load.engine) {
      plan.busy[*load.engine] += load.busy;
    }
  };
  for (const PlanStep& step : steps) {
    PlannedGroup group{step.choice, step.engine, {}, {}, 0};
    group.price.load = *problem.choices[step.choice].on[step.engine];
    if (prices != nullptr) {
      group.price = (*prices)[step.choice][step.engine];
    }
    for (const PlanMove& move : step.moves) {
      const Load& load = *problem.tensors[move.tensor].moves[move.from * problem.places + move.to];
      group.moves.push_back({move, load, plan.total.latency});
      plan.moves_latency += load.latency;
      run(load);
    }
    group.start = plan.total.latency;
    run(group.price.load);
    plan.groups.push_back(std::move(group));
  }
  return plan;
}

const char* to_string(PlanObjective objective) {
  constexpr std::array<const char*, 3> kWords{"latency", "energy", "throughput"};
  return kWords[static_cast<std::size_t>(objective)];
}

Weights weights_of(PlanObjective objective) {
  return objective == PlanObjective::kEnergy ? Weights{0, 1, 0, {}} : Weights{1, 0, 0, {}};
}
Weights ties_of(PlanObjective objective) {
  return objective == PlanObjective::kEnergy ? Weights{1, 0, 0, {}} : Weights{0, 1, 0, {}};
}

std::optional<double> power_limit(const Soc& soc, const PlanOptions& options) {
  constexpr double kMilliwatts = 1e3;  // in a watt
  std::optional<double> most = options.max_power;
  if (soc.power > Milliwatts{0}) {
    const double chip = soc.power.count() / kMilliwatts;
    most = std::min(most.value_or(chip), chip);
  }
  return most;
}

namespace {

constexpr std::size_t kMostNodes = 20'000;  // of a block, in one round

// Engines at the same time; the plan, where that is faster.
void set_at_once(const Soc& soc, PlanAnswer& answer) {
  std::vector<std::size_t> engine_of;
  for (const Place& place : answer.places) {
    engine_of.push_back(place.engine);
  }
  std::vector<std::int64_t> counts;
  for (const Engine& engine : soc.engines) {
    counts.push_back(engine.count);
  }
  const auto servers = servers_of(engine_of, counts);
  const AtOnce found = schedule_at_once(answer.problem, servers, kMostNodes, answer.in_turn);
  answer.at_once = AtOnceAnswer{std::min(found.value, answer.in_turn),
                                std::min(found.bound, answer.in_turn),
                                found.blocks,
                                found.nodes,
                                servers,
                                found.tasks};
  if (found.value < answer.in_turn) {
    answer.plan = plan_of(answer.problem, found, soc.engines.size());
    for (PlannedGroup& group : answer.plan.groups) {
      group.price = answer.prices[group.group][group.place];
    }
  }
}

// The best plan of the answer's problem, one group after the other; false: memory or time did not
// suffice.
bool add_pass(const Soc& soc, const Network& network, Fusion fusion, PlanObjective objective,
              const std::string& soc_file, PlanAnswer& answer) {
  try {
    const auto path = shortest_path(answer.problem, weights_of(objective), ties_of(objective));
    if (!path) {
      fail_without_plan(soc, network, answer.places, answer.operations, answer.problem, soc_file);
    }
    answer.plan = plan_of(answer.problem, path->steps, &answer.prices);
    answer.plan.labels = path->labels;
    answer.passes.push_back({fusion, answer.plan.total});
    return true;
  } catch (const NoPlanInBudget&) {
    answer.passes.clear();
    answer.misfit = kNoneInBudget;
    return false;
  }
}

// What a plan is asked for, and what all of its searches share.
struct Planning {
  const Soc& soc;
  const Network& network;
  const PlanOptions& options;
  const std::string &soc_file, &network_file;
  PlanSearches::Clock::time_point last;
  Pricing pricing;  // with the clock of the moment
};

// The best plans by fusion, from `first` on, at this clock and without limits: the last one is the
// plan of the answer. No passes: memory or time did not suffice.
PlanAnswer passes_of(Planning& planning, Fusion first) {
  const Soc& soc = planning.soc;
  const Network& network = planning.network;
  const PlanOptions& options = planning.options;
  PlanAnswer answer;
  const auto widths =
      options.widths.empty() ? std::vector{width_of(*network.graph)} : options.widths;
  answer.places = places_of(soc, widths);
  answer.versions = versions_of(answer.places, std::vector(soc.engines.size(), &network));
  answer.operations = answer.versions.operations.front();
  const std::vector<std::int64_t> batches(soc.engines.size(), 1);
  const auto searches = std::make_shared<PlanSearches>();
  searches->bytes = options.bytes;
  searches->last = planning.last;
  searches->stop = options.stop;
  bool is_found = true;
  for (auto f = static_cast<std::size_t>(first);
       is_found && f <= static_cast<std::size_t>(options.fusion); ++f) {
    const auto fusion = static_cast<Fusion>(f);
    Offer offer =
        offer_of(answer.places, answer.versions, planning.pricing, options, fusion, batches);
    check_engines(soc, answer.places, answer.operations, offer, planning.network_file);
    answer.problem =
        problem_of(soc, answer.places, answer.versions, offer, planning.pricing, batches);
    answer.problem.searches = searches;
    answer.groups = std::move(offer.groups);
    answer.prices = std::move(offer.prices);
    searches->are_groups_cut = searches->are_groups_cut || answer.groups.is_cut;
    is_found = add_pass(soc, network, fusion, options.objective, planning.soc_file, answer);
  }
  answer.searches = planning.pricing.searches();
  answer.searches.plans = *searches;
  return answer;
}

// The best plan at this clock that keeps the limits.
PlanAnswer plan_at_clock(Planning& planning) {
  const Soc& soc = planning.soc;
  const PlanOptions& options = planning.options;
  PlanAnswer answer = passes_of(planning, Fusion::kNone);
  if (answer.passes.empty()) {
    return answer;
  }
  if (options.at_once) {
    answer.bound = answer.plan.total.latency;
  } else {
    plan_within(soc, options, answer);
  }
  keep_memory(soc, options, answer);
  answer.in_turn = answer.plan.total.latency;
  for (std::size_t e = 0; e < soc.engines.size(); ++e) {
    answer.alone.push_back(alone_on(soc, answer, e, options.objective));
  }
  set_greedy(answer.problem, options.objective, answer);
  if (options.front) {
    set_front(answer);
  }
  if (options.at_once) {
    set_at_once(soc, answer);
  }
  answer.memory = memory_of(answer);
  answer.weights = weights_of_plan(answer);
  answer.unpriced = unpriced_of(answer.operations);
  answer.searches.plans = *answer.problem.searches;
  answer.proven = answer.unpriced.empty() && answer.searches.are_complete();
  return answer;
}

double watts_of(const Load& total) { return total.energy / kPicojoulesPerJoule / total.latency; }

// The best plan at the highest clock at which the best one without limits draws at most `most`, or
// at the lowest clock that there is.
PlanAnswer plan_at_lower_clock(Planning& planning, double full_power, double most) {
  const auto step = highest_step(full_power, most, [&](int each) {
    planning.pricing.set_clock(share_of_step(each));
    const PlanAnswer best = passes_of(planning, planning.options.fusion);
    return best.passes.empty() ? std::numeric_limits<double>::infinity()
                               : watts_of(best.passes.back().total);
  });
  const double share = step ? share_of_step(*step) : kLeastClockShare;
  planning.pricing.set_clock(share);
  PlanAnswer answer = plan_at_clock(planning);
  answer.clock_share = share;
  answer.full_clock_power = full_power;
  if (!answer.misfit.empty()) {
    answer.misfit = fmt::format("at {} of the full clock: {}", percent(share), answer.misfit);
  }
  return answer;
}

}  // namespace

Plan plan_of(const PlanAnswer& answer, std::vector<PlanStep> steps) {
  walk(answer.problem, {1, 0, 0, {}}, steps);
  return plan_of(answer.problem, steps, &answer.prices);
}

PlanAnswer make_plan(const Soc& soc, const Network& network, const PlanOptions& options,
                     const std::string& soc_file, const std::string& network_file) {
  Planning planning{soc,           network,      options,
                    soc_file,      network_file, PlanSearches::end_in(options.seconds),
                    {soc, options}};
  PlanAnswer full = plan_at_clock(planning);
  const auto most = power_limit(soc, options);
  if (!most || !has_clock(soc) || options.at_once || full.passes.empty() ||
      !(watts_of(full.passes.back().total) > *most) ||
      PlanSearches::Clock::now() >= planning.last) {
    return full;
  }
  PlanAnswer lower = plan_at_lower_clock(planning, watts_of(full.passes.back().total), *most);
  // Slower groups may keep the limit at the full clock, too.
  const Weights weights = weights_of(options.objective);
  const bool is_full_better =
      full.misfit.empty() &&
      (!lower.misfit.empty() || weights.of(full.plan.total) <= weights.of(lower.plan.total));
  return is_full_better ? full : lower;
}

}  // namespace mapsim
