// SPDX-License-Identifier: Apache-2.0
#include "plan/throughput.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "plan/linear_program.hpp"
#include "plan/priced.hpp"

namespace mapsim {

namespace {

constexpr double kPriceRounding = 1e-9;  // a frame is worth 1: prices closer to it than this are it
constexpr int kMostRounds = 1000;

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
    capacities.push_back(soc.power.count() / 1000 * kPicojoulesPerJoule);
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

StreamAnswer make_stream(const Soc& soc, const std::vector<const Network*>& networks,
                         const std::vector<std::int64_t>& batches, const PlanOptions& options,
                         const std::string& soc_file, const std::string& network_file) {
  StreamAnswer answer;
  const auto last = PlanSearches::end_in(options.seconds);
  Pricing pricing{soc, options};
  const auto widths =
      options.widths.empty() ? std::vector{width_of(*networks.front()->graph)} : options.widths;
  answer.places = places_of(soc, widths);
  answer.versions = versions_of(answer.places, networks);
  answer.operations = answer.versions.operations.front();
  Offer offer = offer_of(answer.places, answer.versions, pricing, options, options.fusion, batches);
  answer.batches = batches;
  check_engines(soc, answer.places, answer.operations, offer, network_file);
  PlanProblem problem = problem_of(soc, answer.places, answer.versions, offer, pricing, batches);
  problem.searches = std::make_shared<PlanSearches>();
  problem.searches->bytes = options.bytes;
  problem.searches->last = last;
  problem.searches->stop = options.stop;
  const std::vector<double> capacities = capacities_of(soc);
  const StreamMix mix = best_mix(problem, capacities);
  if (mix.plans.empty() && problem.searches->ended_early > 0) {
    throw UnsupportedSearch{"no plan was found in this memory (--memory) and time (--budget)"};
  }
  if (mix.plans.empty()) {
    fail_without_plan(soc, *networks.front(), answer.places, answer.operations, problem, soc_file);
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

}  // namespace mapsim
