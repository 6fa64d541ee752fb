// SPDX-License-Identifier: Apache-2.0
#include "plan/pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/blocks.hpp"
#include "plan/priced.hpp"
#include "plan/pricing.hpp"
#include "plan/throughput.hpp"

namespace mapsim {

namespace {

// Plans that a network could take, and their tasks.
struct Candidates {
  std::vector<std::vector<PlanStep>> steps;
  std::vector<std::vector<PairTask>> tasks;
};

// Tasks of a plan one after the other. Engines that are there several times are in nobody's way.
std::vector<PairTask> tasks_of(const Soc& soc, const PlanProblem& problem,
                               const std::vector<PlanStep>& steps) {
  std::vector<PairTask> tasks;
  double clock = 0;
  const auto add = [&](std::optional<std::size_t> engine, double time) {
    if (engine && soc.engines[*engine].count > 1) {
      engine = std::nullopt;
    }
    if (time > 0) {
      tasks.push_back({engine, clock, clock + time});
      clock += time;
    }
  };
  for (const PlanStep& step : steps) {
    for (const PlanMove& move : step.moves) {
      const Load& load = *problem.tensors[move.tensor].moves[move.from * problem.places + move.to];
      add(load.engine, load.engine ? load.busy : 0);
      add(std::nullopt, load.latency - (load.engine ? load.busy : 0));
    }
    const Load& load = *problem.choices[step.choice].on[step.engine];
    add(load.engine, load.latency);
  }
  return tasks;
}

// The problem with operations in front of `cut` on one engine and the others on another one, as far
// as these run them.
PlanProblem split_at(PlanProblem problem, const std::vector<Place>& places, std::size_t cut,
                     std::size_t first, std::size_t second) {
  for (PlanProblem::Choice& choice : problem.choices) {
    const std::size_t wanted = choice.operations.front() < cut ? first : second;
    bool runs = false;
    for (std::size_t p = 0; p < problem.places; ++p) {
      runs = runs || (places[p].engine == wanted && choice.on[p]);
    }
    for (std::size_t p = 0; runs && p < problem.places; ++p) {
      if (places[p].engine != wanted) {
        choice.on[p] = std::nullopt;
      }
    }
  }
  return problem;
}

// Plans for trying: the fastest, those that leave one engine free as far as that pays, those of one
// engine, and those that change engines once.
Candidates candidates_of(const Soc& soc, const PlanAnswer& answer) {
  Candidates found;
  const auto add = [&](const PlanProblem& problem, const Weights& weights) {
    auto path = path_or_none(problem, weights);
    if (!path || !walk(answer.problem, weights, path->steps) ||
        std::find(found.steps.begin(), found.steps.end(), path->steps) != found.steps.end()) {
      return;
    }
    found.tasks.push_back(tasks_of(soc, answer.problem, path->steps));
    found.steps.push_back(std::move(path->steps));
  };
  const Weights latency{1, 0, 0, {}};
  add(answer.problem, latency);
  for (std::size_t e = 0; e < soc.engines.size(); ++e) {
    add(only_on(answer.problem, answer.places, e), latency);
    for (const double price : {0.25, 0.5, 1.0, 2.0, 4.0, 8.0}) {
      Weights weights = latency;
      weights.busy.assign(soc.engines.size(), 0);
      weights.busy[e] = price;
      add(answer.problem, weights);
    }
  }
  for (const PlanBlock& block : blocks_of(answer.problem)) {
    for (std::size_t a = 0; a < soc.engines.size(); ++a) {
      for (std::size_t b = 0; b < soc.engines.size(); ++b) {
        if (a != b) {
          add(split_at(answer.problem, answer.places, block.begin, a, b), latency);
        }
      }
    }
  }
  return found;
}

// Both networks as one, the second behind the first.
PlanProblem joined(PlanProblem a, const PlanProblem& b) {
  const std::size_t tensors = a.tensors.size();
  for (PlanProblem::Tensor tensor : b.tensors) {
    for (std::size_t& reader : tensor.readers) {
      reader += a.operations;
    }
    a.tensors.push_back(std::move(tensor));
  }
  for (PlanProblem::Choice choice : b.choices) {
    choice.anchor += a.operations;
    for (std::size_t& i : choice.operations) {
      i += a.operations;
    }
    for (auto* list : {&choice.reads, &choice.writes}) {
      for (std::size_t& tensor : *list) {
        tensor += tensors;
      }
    }
    a.choices.push_back(std::move(choice));
  }
  a.operations += b.operations;
  return a;
}

// The plan with its starts in a schedule of both networks.
Plan plan_in(const PlanAnswer& answer, const std::vector<PlanStep>& steps,
             const std::vector<double>& starts) {
  Plan plan = plan_of(answer.problem, steps, &answer.prices);
  std::size_t task = 0;
  for (PlannedGroup& group : plan.groups) {
    for (PlannedMove& move : group.moves) {
      move.start = starts[task];
      const double busy = move.load.engine ? move.load.busy : 0;
      task += (busy > 0 ? 1U : 0U) + (move.load.latency - busy > 0 ? 1U : 0U);
    }
    if (group.price.load.latency > 0) {
      group.start = starts[task++];
    } else {
      group.start = task < starts.size() ? starts[task] : starts.back();
    }
  }
  return plan;
}

}  // namespace

PairAnswer make_pair_plan(const Soc& soc, const std::array<const Network*, 2>& networks,
                          const PlanOptions& options, const std::string& soc_file,
                          const std::array<std::string, 2>& network_files) {
  PairAnswer answer;
  const SharedBudget budget = budget_of(options);
  std::array<Candidates, 2> candidates;
  Soc alone = soc;  // a bound of the pair: a short burst may take more than the chip's power, and
  alone.power = Milliwatts{0};  // what of both is in memory at a time is not known
  alone.memory.capacity = Bits{0};
  for (std::size_t n = 0; n < 2; ++n) {
    const PlanOptions share = with_share(options, budget, 3 - static_cast<double>(n));
    answer.networks[n] = make_plan(alone, *networks[n], share, soc_file, network_files[n]);
    if (const std::string& misfit = answer.networks[n].misfit; !misfit.empty()) {
      throw UnsupportedSearch{fmt::format("no plan of {}: {}", networks[n]->name, misfit)};
    }
    candidates[n] = candidates_of(soc, answer.networks[n]);
  }
  const double left = with_share(options, budget, 1).seconds;
  const BestPair best =
      best_pair(candidates[0].tasks, candidates[1].tasks, PlanSearches::end_in(left));
  answer.makespan = best.makespan;
  answer.tried = best.tried;
  answer.pairs = candidates[0].tasks.size() * candidates[1].tasks.size();
  const PairSchedule schedule =
      schedule_pair(candidates[0].tasks[best.first], candidates[1].tasks[best.second]);
  answer.plans = {
      plan_in(answer.networks[0], candidates[0].steps[best.first], schedule.starts[0]),
      plan_in(answer.networks[1], candidates[1].steps[best.second], schedule.starts[1])};
  std::vector<double> capacities = capacities_of(soc);
  capacities.resize(soc.engines.size() + 1);  // a short burst may take more power than the limit
  const PlanProblem both = joined(answer.networks[0].problem, answer.networks[1].problem);
  const StreamMix mix = best_mix(both, capacities);
  answer.rate = mix.rate;
  answer.bound = std::max({answer.networks[0].bound, answer.networks[1].bound, 1 / mix.bound});
  for (std::size_t e = 0; e < soc.engines.size(); ++e) {
    const auto& a = answer.networks[0].alone[e].total;
    const auto& b = answer.networks[1].alone[e].total;
    if (a && b) {
      answer.in_turn.push_back({soc.engines[e].name, a->latency + b->latency});
    }
  }
  return answer;
}

}  // namespace mapsim
