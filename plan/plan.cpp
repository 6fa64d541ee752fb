// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/diagnostic.hpp"
#include "plan/front.hpp"
#include "plan/priced.hpp"

namespace mapsim {

namespace {

[[noreturn]] void fail(const std::string& file, const std::string& message) {
  throw ConfigError{{{file, 0, 0, "", message, ""}}};
}

Weights weights_of(PlanObjective objective) {
  return objective == PlanObjective::kLatency ? Weights{1, 0, 0, {}} : Weights{0, 1, 0, {}};
}

void add(Load& sum, const Load& part) {
  sum.latency += part.latency;
  sum.energy += part.energy;
  sum.bytes += part.bytes;
}

Prices price_all(const Soc& soc, const Operations& operations, const Groups& groups,
                 Pricing& pricing) {
  Prices prices;
  for (const Group& group : groups.all) {
    std::vector<Price>& each = prices.emplace_back();
    for (std::size_t engine = 0; engine < soc.engines.size(); ++engine) {
      each.push_back(pricing.price(operations, group, engine));
    }
  }
  return prices;
}

// Why nothing runs a group; empty: something does.
std::string no_engine(const Soc& soc, const std::vector<Price>& prices) {
  std::string why;
  for (std::size_t e = 0; e < prices.size(); ++e) {
    if (prices[e].problem.empty()) {
      return "";
    }
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", soc.engines[e].name, prices[e].problem);
  }
  return why;
}

// All groups on one engine; the first operation that it cannot run, if there is one.
EngineAlone alone_on(const PlanProblem& problem, std::size_t engine, const Weights& weights,
                     const Operations& operations, const Groups& groups, const Prices& prices) {
  for (std::size_t g = 0; g < groups.all.size(); ++g) {
    const Group& group = groups.all[g];
    if (group.operations.size() == 1 && !group.elided && !prices[g][engine].problem.empty()) {
      return {std::nullopt, fmt::format("{}: {}", operations.node(group.operations.front()).name,
                                        prices[g][engine].problem)};
    }
  }
  const auto path = shortest_path(only_on(problem, engine), weights);
  return {path ? std::optional{plan_of(problem, path->steps, &prices).total} : std::nullopt, ""};
}

// Each group where it is best if tensors moved for nothing, then with what moving them takes.
void set_greedy(const PlanProblem& problem, const Weights& weights, PlanAnswer& answer) {
  PlanProblem free = problem;
  for (PlanProblem::Tensor& tensor : free.tensors) {
    tensor.moves.assign(problem.engines * problem.engines, Load{});
  }
  auto path = shortest_path(free, weights);
  answer.free_moves = path ? path->value : 0;
  if (path && walk(problem, weights, path->steps)) {
    answer.greedy = plan_of(problem, path->steps, &answer.prices).total;
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
      const Load& load = *problem.tensors[move.tensor].moves[move.from * problem.engines + move.to];
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

PlanProblem only_on(PlanProblem problem, std::size_t engine) {
  for (PlanProblem::Choice& choice : problem.choices) {
    for (std::size_t e = 0; e < problem.engines; ++e) {
      if (e != engine) {
        choice.on[e] = std::nullopt;
      }
    }
  }
  return problem;
}

void check_engines(const Soc& soc, const Operations& operations, const Groups& groups,
                   const Prices& prices, const std::string& file) {
  if (unpriced_of(operations).size() == operations.all.size()) {
    fail(file, "no node has a price: there is nothing to plan");
  }
  for (std::size_t g = 0; g < groups.all.size(); ++g) {
    const Group& group = groups.all[g];
    const std::string why = no_engine(soc, prices[g]);
    if (group.operations.size() == 1 && !why.empty()) {
      const GraphNode& node = operations.node(group.operations.front());
      fail(file, fmt::format("node {}: {} runs on no engine of {} ({})", node.name, node.op,
                             soc.name, why));
    }
  }
}

std::vector<std::string> unpriced_of(const Operations& operations) {
  std::vector<std::string> unpriced;
  for (std::size_t i = 0; i < operations.all.size(); ++i) {
    const GraphNode& node = operations.node(i);
    if (!node.unpriced.empty()) {
      unpriced.push_back(fmt::format("{} ({})", node.name, node.unpriced));
    }
  }
  return unpriced;
}

void fail_without_plan(const Network& network, const std::string& soc_file) {
  fail(soc_file, fmt::format("no plan of {}: its operations need several engines, and no "
                             "transition leads from one to the other",
                             network.name));
}

const char* to_string(PlanObjective objective) {
  constexpr std::array<const char*, 3> kWords{"latency", "energy", "throughput"};
  return kWords[static_cast<std::size_t>(objective)];
}

PlanProblem problem_of(const Soc& soc, const Operations& operations, const Groups& groups,
                       const Prices& prices, const MoveLoad& move) {
  PlanProblem problem;
  problem.operations = operations.all.size();
  problem.engines = soc.engines.size();
  for (std::size_t t = 0; t < operations.readers.size(); ++t) {
    PlanProblem::Tensor& tensor = problem.tensors.emplace_back();
    tensor.readers = operations.readers[t];
    if (tensor.readers.empty()) {
      continue;
    }
    for (std::size_t from = 0; from < problem.engines; ++from) {
      for (std::size_t to = 0; to < problem.engines; ++to) {
        tensor.moves.push_back(move(t, from, to));
      }
    }
  }
  for (std::size_t g = 0; g < groups.all.size(); ++g) {
    const Group& group = groups.all[g];
    PlanProblem::Choice choice{group.operations, group.anchor, group.reads, group.writes, {}};
    for (const Price& price : prices[g]) {
      choice.on.push_back(price.problem.empty() ? std::optional{price.load} : std::nullopt);
    }
    problem.choices.push_back(std::move(choice));
  }
  return problem;
}

PlanAnswer make_plan(const Soc& soc, const Network& network, const PlanOptions& options,
                     const std::string& soc_file, const std::string& network_file) {
  PlanAnswer answer;
  answer.operations = operations_of(*network.graph);
  const Operations& operations = answer.operations;
  const Weights weights = weights_of(options.objective);
  Pricing pricing{soc, options.launch, options.objective == PlanObjective::kEnergy};
  PlanProblem problem;
  for (std::size_t f = 0; f <= static_cast<std::size_t>(options.fusion); ++f) {
    const auto fusion = static_cast<Fusion>(f);
    answer.groups = groups_of(operations, fusion);
    answer.prices = price_all(soc, operations, answer.groups, pricing);
    check_engines(soc, operations, answer.groups, answer.prices, network_file);
    problem = problem_of(soc, operations, answer.groups, answer.prices,
                         [&](std::size_t tensor, std::size_t from, std::size_t to) {
                           return pricing.transition(bytes_of(operations, tensor), from, to);
                         });
    const auto path = shortest_path(problem, weights);
    if (!path) {
      fail_without_plan(network, soc_file);
    }
    answer.plan = plan_of(problem, path->steps, &answer.prices);
    answer.plan.labels = path->labels;
    answer.passes.push_back({fusion, answer.plan.total});
  }
  for (std::size_t e = 0; e < soc.engines.size(); ++e) {
    answer.alone.push_back(alone_on(problem, e, weights, operations, answer.groups, answer.prices));
  }
  set_greedy(problem, weights, answer);
  if (options.front) {
    for (const FrontPlan& corner : convex_front(problem)) {
      answer.front.push_back(plan_of(problem, corner.steps, &answer.prices));
    }
  }
  answer.memory = place(buffers_of(operations, answer.groups, answer.plan.groups));
  answer.unpriced = unpriced_of(operations);
  answer.searches = pricing.searches();
  answer.proven = answer.unpriced.empty();
  return answer;
}

}  // namespace mapsim
