// SPDX-License-Identifier: Apache-2.0
#include "plan/throughput.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "plan/clock.hpp"
#include "plan/linear_program.hpp"
#include "plan/priced.hpp"
#include "plan/pricing.hpp"

namespace mapsim {

namespace {

constexpr double kPriceRounding = 1e-9;  // a frame is worth 1: prices closer to it than this are it
constexpr int kMostRounds = 1000;
constexpr double kMilliwatts = 1000;  // in a watt

// What a frame of a plan takes of each limited resource: engine times, bytes, energy.
std::vector<double> column_of(const PlanProblem& problem, const std::vector<PlanStep>& steps,
                              std::size_t rows) {
  const Plan plan = plan_of(problem, steps);
  std::vector<double> column = plan.busy;
  column.push_back(plan.total.bytes);
  column.push_back(plan.total.energy);
  column.resize(rows);
  return column;
}

Weights prices_of(const std::vector<double>& duals, std::size_t engines) {
  Weights weights;  // of latency nothing
  weights.busy.assign(duals.begin(), duals.begin() + static_cast<std::ptrdiff_t>(engines));
  weights.bytes = duals[engines];
  weights.energy = duals.size() > engines + 1 ? duals[engines + 1] : 0;
  return weights;
}

void set_limits(const Soc& soc, const std::vector<double>& capacities, const StreamMix& mix,
                StreamAnswer& answer) {
  std::vector<double> used(capacities.size(), 0);
  for (const PlanShare& share : answer.mix) {
    for (std::size_t e = 0; e < soc.engines.size(); ++e) {
      used[e] += share.rate * share.plan.busy[e];
    }
    used[soc.engines.size()] += share.rate * share.plan.total.bytes;
    if (capacities.size() > soc.engines.size() + 1) {
      used.back() += share.rate * share.plan.total.energy;
    }
  }
  constexpr double kGiga = 1e9;
  const auto add = [&](std::size_t row, const std::string& name, const char* unit, double scale) {
    answer.limits.push_back(
        {name, unit, capacities[row] / scale, used[row] / capacities[row], mix.duals[row] * scale});
  };
  const std::size_t engines = soc.engines.size();
  for (std::size_t e = 0; e < engines; ++e) {
    add(e, soc.engines[e].name, "", 1);
  }
  add(engines, "memory", "GB/s", kGiga);
  if (capacities.size() > engines + 1) {
    add(engines + 1, "power", "W", kPicojoulesPerJoule);
  }
}

}  // namespace

std::vector<double> capacities_of(const Soc& soc) {
  std::vector<double> capacities;
  for (const Engine& engine : soc.engines) {
    capacities.push_back(static_cast<double>(engine.count));
  }
  capacities.push_back(soc.memory.bandwidth.count() * soc.memory.share.value_or(1));
  if (soc.power > Milliwatts{0}) {
    capacities.push_back(soc.power.count() / kMilliwatts * kPicojoulesPerJoule);
  }
  return capacities;
}

StreamMix best_mix(const PlanProblem& problem, const std::vector<double>& capacities) {
  StreamMix mix;
  LinearProgram program{capacities, {}, {}};
  std::vector<std::vector<PlanStep>> plans;
  // The first prices: every capacity is worth the same.
  std::vector<double> duals;
  for (const double capacity : capacities) {
    duals.push_back(1 / capacity);
  }
  mix.bound = std::numeric_limits<double>::infinity();
  LinearSolution solution;
  for (; mix.rounds < kMostRounds; ++mix.rounds) {
    const auto path = path_or_none(problem, prices_of(duals, problem.engines));
    if (!path && plans.empty()) {
      return mix;
    }
    if (!path) {
      break;  // memory did not suffice for these prices: the bound of others holds
    }
    if (!plans.empty()) {
      mix.bound = std::min(mix.bound, solution.value / std::min(1.0, path->bound));
      if (path->value >= 1 - kPriceRounding) {
        break;
      }
    }
    program.columns.push_back(column_of(problem, path->steps, capacities.size()));
    program.gains.push_back(1);
    plans.push_back(path->steps);
    solution = solve(program);
    duals = solution.duals;
  }
  mix.rate = solution.value;
  mix.duals = solution.duals;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    if (solution.x[p] > 0) {
      mix.plans.emplace_back(solution.x[p], plans[p]);
    }
  }
  return mix;
}

namespace {

// What plans of a stream are asked for, and what all of their searches share.
struct StreamPlanning {
  const Soc& soc;
  const std::vector<const Network*>& networks;
  const std::vector<std::int64_t>& batches;
  const PlanOptions& options;
  const std::string &soc_file, &network_file;
  PlanSearches::Clock::time_point last;
  Pricing pricing;  // with the clock of the moment
};

// The best plans at this clock within `capacities`.
StreamAnswer stream_at_clock(StreamPlanning& planning, const std::vector<double>& capacities) {
  const Soc& soc = planning.soc;
  const PlanOptions& options = planning.options;
  Pricing& pricing = planning.pricing;
  StreamAnswer answer;
  const auto widths = options.widths.empty()
                          ? std::vector{width_of(*planning.networks.front()->graph)}
                          : options.widths;
  answer.places = places_of(soc, widths);
  answer.versions = versions_of(answer.places, planning.networks);
  answer.operations = answer.versions.operations.front();
  answer.batches = planning.batches;
  Offer offer =
      offer_of(answer.places, answer.versions, pricing, options, options.fusion, answer.batches);
  check_engines(soc, answer.places, answer.operations, offer, planning.network_file);
  PlanProblem problem =
      problem_of(soc, answer.places, answer.versions, offer, pricing, answer.batches);
  problem.searches = std::make_shared<PlanSearches>();
  problem.searches->bytes = options.bytes;
  problem.searches->last = planning.last;
  problem.searches->stop = options.stop;
  const StreamMix mix = best_mix(problem, capacities);
  if (mix.plans.empty() && problem.searches->ended_early > 0) {
    throw UnsupportedSearch{"no plan was found in this memory (--memory) and time (--budget)"};
  }
  if (mix.plans.empty()) {
    fail_without_plan(soc, *planning.networks.front(), answer.places, answer.operations, problem,
                      planning.soc_file);
  }
  answer.rate = mix.rate;
  answer.bound = mix.bound;
  answer.capacities = capacities;
  answer.duals = mix.duals;
  answer.rounds = mix.rounds;
  for (const auto& [rate, steps] : mix.plans) {
    answer.mix.push_back({rate, plan_of(problem, steps, &offer.prices)});
  }
  set_limits(soc, capacities, mix, answer);
  for (std::size_t e = 0; e < soc.engines.size(); ++e) {
    answer.alone.push_back(best_mix(only_on(problem, answer.places, e), capacities).rate);
  }
  answer.groups = std::move(offer.groups);
  answer.problem = problem;
  answer.unpriced = unpriced_of(answer.operations);
  answer.searches = pricing.searches();
  answer.searches.plans = *problem.searches;
  answer.searches.plans.are_groups_cut = answer.groups.is_cut;
  return answer;
}

// [W]
double power_of(const StreamAnswer& answer) {
  double power = 0;
  for (const PlanShare& share : answer.mix) {
    power += share.rate * share.plan.total.energy;
  }
  return power / kPicojoulesPerJoule;
}

// The best plans at the highest clock at which the best ones without a limit on power keep it, or
// at the lowest clock that there is.
StreamAnswer stream_at_lower_clock(StreamPlanning& planning,
                                   const std::vector<double>& capacities) {
  const double most = capacities.back() / kPicojoulesPerJoule;
  const std::vector<double> without(capacities.begin(), capacities.end() - 1);
  const auto power_at = [&](int step) {
    planning.pricing.set_clock(share_of_step(step));
    return power_of(stream_at_clock(planning, without));
  };
  const double full_power = power_at(kFullClock);
  const auto step = highest_step(full_power, most, power_at);
  const double share = step ? share_of_step(*step) : kLeastClockShare;
  planning.pricing.set_clock(share);
  StreamAnswer answer = stream_at_clock(planning, capacities);
  answer.clock_share = share;
  answer.full_clock_power = full_power;
  return answer;
}

}  // namespace

StreamAnswer make_stream(const Soc& soc, const std::vector<const Network*>& networks,
                         const std::vector<std::int64_t>& batches, const PlanOptions& options,
                         const std::string& soc_file, const std::string& network_file) {
  StreamPlanning planning{soc,
                          networks,
                          batches,
                          options,
                          soc_file,
                          network_file,
                          PlanSearches::end_in(options.seconds),
                          {soc, options}};
  const std::vector<double> capacities = capacities_of(soc);
  StreamAnswer full = stream_at_clock(planning, capacities);
  const bool is_limited = soc.power > Milliwatts{0} && full.duals.back() > 0;
  if (!is_limited || !has_clock(soc)) {
    return full;
  }
  try {
    StreamAnswer lower = stream_at_lower_clock(planning, capacities);
    return lower.rate > full.rate ? lower : full;
  } catch (const UnsupportedSearch&) {  // the budget is over
    return full;
  }
}

}  // namespace mapsim
