// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "core/arithmetic.hpp"
#include "plan/at_once.hpp"
#include "plan/front.hpp"
#include "plan/limits.hpp"
#include "plan/priced.hpp"
#include "report/figures.hpp"

namespace mapsim {

namespace {

Weights weights_of(PlanObjective objective) {
  return objective == PlanObjective::kLatency ? Weights{1, 0, 0, {}} : Weights{0, 1, 0, {}};
}

void add(Load& sum, const Load& part) {
  sum.latency += part.latency;
  sum.energy += part.energy;
  sum.bytes += part.bytes;
}

// All groups on one engine; the first operation that it cannot run, if there is one.
EngineAlone alone_on(const Soc& soc, const PlanAnswer& answer, std::size_t engine,
                     const Weights& weights) {
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
  const auto path = shortest_path(problem, weights);
  if (!path) {
    return {std::nullopt,
            fmt::format("tensors have no way between the places of {}", soc.engines[engine].name)};
  }
  return {plan_of(problem, path->steps, &answer.prices).total, ""};
}

// Each group where it is best if tensors moved for nothing, then with what moving them takes.
void set_greedy(const PlanProblem& problem, const Weights& weights, PlanAnswer& answer) {
  PlanProblem free = problem;
  for (PlanProblem::Tensor& tensor : free.tensors) {
    tensor.moves.assign(problem.places * problem.places, Load{});
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

namespace {

// The best plan that keeps the limits, in place of the one without; what is wrong, if there is
// none.
constexpr double kMostPower = 1e18;  // [pJ/s]: a megawatt

void keep_limits(const PlanOptions& options, const Weights& weights, PlanAnswer& answer) {
  const Load& total = answer.plan.total;
  Weights excess{0, 0, 0, {}};
  double limit = 0;
  double most = 0;
  const char* unit = "s";
  if (options.max_latency && total.latency > *options.max_latency) {
    excess.latency = 1;
    limit = *options.max_latency;
    most = options.objective == PlanObjective::kLatency ? 0 : kMostPower;
  } else if (options.max_power && total.energy > *options.max_power * 1e12 * total.latency) {
    excess = {-*options.max_power * 1e12, 1, 0, {}};  // pJ above what the power gives in its time
    most = options.objective == PlanObjective::kLatency ? 1 / (*options.max_power * 1e12) : 0;
    unit = "pJ";
  } else {
    return;
  }
  double least = std::numeric_limits<double>::infinity();
  const auto found = limited_path(answer.problem, weights, excess, limit, most, least);
  if (!found) {
    answer.misfit = options.max_latency
                        ? fmt::format("the least latency that was found is {:.4g} {}", least, unit)
                        : "every plan that was found takes more power; those that take more "
                          "time and more energy were not looked for";
    return;
  }
  answer.plan = plan_of(answer.problem, found->path.steps, &answer.prices);
  answer.plan.labels = found->path.labels;
  answer.bound = found->bound;
}

// The least that tensors which are alive at once can take.
double least_alive(PlanProblem problem, const Weights& weights) {
  double low = 0;
  double high = 0;
  for (const PlanProblem::Tensor& tensor : problem.tensors) {
    for (const double bytes : tensor.bytes) {
      high += bytes;
    }
  }
  constexpr double kBit = 1. / 8;  // of a byte: what tensors take is whole bits
  while (high - low > kBit) {
    problem.most_alive = (low + high) / 2;
    (shortest_path(problem, weights) ? high : low) = *problem.most_alive;
  }
  return std::floor(high / kBit) * kBit;
}

MemoryMap memory_of(const PlanAnswer& answer) {
  return place(buffers_of(answer.versions, answer.places, answer.groups, answer.plan.groups));
}

// Where the tensors of the best plan take too much: the best one of those that do not. What is
// alive is limited while the path is searched; where offsets or inputs need more than that, the
// limit is tightened.
void keep_memory(const PlanOptions& options, const Weights& weights, PlanAnswer& answer) {
  if (!options.max_memory || !answer.misfit.empty()) {
    return;
  }
  const double limit = *options.max_memory;
  double alive = limit;
  auto taken = static_cast<double>(memory_of(answer).peak);
  constexpr int kTries = 20;
  for (int k = 0; k < kTries && taken > limit; ++k) {
    answer.problem.most_alive = alive;
    const auto path = shortest_path(answer.problem, weights);
    if (!path) {
      break;
    }
    answer.plan = plan_of(answer.problem, path->steps, &answer.prices);
    answer.plan.labels = path->labels;
    taken = static_cast<double>(memory_of(answer).peak);
    alive -= std::max(1.0, taken - limit);
  }
  if (taken > limit) {
    answer.misfit = fmt::format(
        "tensors need {:.0f} B and more, of which {:.0f} B are alive at once in the best case",
        taken, least_alive(answer.problem, weights));
  }
  answer.problem.most_alive = std::nullopt;
}

constexpr std::int64_t kByte = 8;  // bits

// [B]. Constants that a node holds have the precision of its group, those that are tensors their
// own.
std::int64_t weights_of_plan(const PlanAnswer& answer) {
  std::int64_t bits = 0;
  std::set<std::size_t> constants;
  for (const PlannedGroup& group : answer.plan.groups) {
    for (const std::size_t operation : answer.groups.all[group.group].operations) {
      const GraphNode& node = answer.operations.node(operation);
      bits += node.parameters * answer.places[group.place].width;
      for (const GraphUse& use : node.in) {
        const GraphTensor& tensor = answer.operations.graph->tensors[use.tensor];
        if (tensor.constant && constants.insert(use.tensor).second) {
          bits += size_of(tensor).value_or(Bits{0}).count();
        }
      }
    }
  }
  return ceil_div(bits, kByte);
}

// Weights and tensors lie in the chip's memory together: where those of the best plan do not fit,
// the best one of those whose tensors take no more than is left.
void keep_capacity(const Soc& soc, PlanOptions options, const Weights& weights,
                   PlanAnswer& answer) {
  const std::int64_t capacity = soc.memory.capacity.count() / kByte;
  const std::int64_t left = capacity - weights_of_plan(answer);
  if (!answer.misfit.empty() || soc.memory.capacity == Bits{0} || memory_of(answer).peak <= left) {
    return;
  }
  answer.is_limited = true;
  if (left > 0) {
    options.max_memory = std::min(options.max_memory.value_or(real(left)), real(left));
    keep_memory(options, weights, answer);
  }
  if (left <= 0 || !answer.misfit.empty()) {
    answer.misfit = fmt::format("weights take {}; {}the memory of {} has {}",
                                bytes_text(Bits{kByte * weights_of_plan(answer)}),
                                answer.misfit.empty() ? "" : answer.misfit + "; ", soc.name,
                                bytes_text(soc.memory.capacity));
  }
}

constexpr std::size_t kMostNodes = 20'000;  // of the search of a block

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
  const auto found = schedule_at_once(answer.problem, servers, kMostNodes);
  answer.at_once = AtOnceAnswer{answer.in_turn, 0, 0, 0};
  if (!found) {
    return;
  }
  answer.at_once =
      AtOnceAnswer{std::min(found->value, answer.in_turn), std::min(found->bound, answer.in_turn),
                   found->blocks, found->nodes};
  if (found->value < answer.in_turn) {
    answer.plan = plan_of(answer.problem, *found, soc.engines.size());
    for (PlannedGroup& group : answer.plan.groups) {
      group.price = answer.prices[group.group][group.place];
    }
  }
}

}  // namespace

Plan plan_of(const PlanAnswer& answer, std::vector<PlanStep> steps) {
  walk(answer.problem, {1, 0, 0, {}}, steps);
  return plan_of(answer.problem, steps, &answer.prices);
}

PlanAnswer make_plan(const Soc& soc, const Network& network, const PlanOptions& options,
                     const std::string& soc_file, const std::string& network_file) {
  PlanAnswer answer;
  const auto widths =
      options.widths.empty() ? std::vector{width_of(*network.graph)} : options.widths;
  answer.places = places_of(soc, widths);
  answer.versions = versions_of(answer.places, std::vector(soc.engines.size(), &network));
  answer.operations = answer.versions.operations.front();
  const std::vector<std::int64_t> batches(soc.engines.size(), 1);
  const Weights weights = weights_of(options.objective);
  Pricing pricing{soc, options};
  for (std::size_t f = 0; f <= static_cast<std::size_t>(options.fusion); ++f) {
    const auto fusion = static_cast<Fusion>(f);
    Offer offer = offer_of(answer.places, answer.versions, pricing, options, fusion, batches);
    check_engines(soc, answer.places, answer.operations, offer, network_file);
    answer.problem = problem_of(soc, answer.places, answer.versions, offer, pricing, batches);
    answer.groups = std::move(offer.groups);
    answer.prices = std::move(offer.prices);
    auto path = shortest_path(answer.problem, weights);
    if (!path) {
      fail_without_plan(network, soc_file);
    }
    answer.plan = plan_of(answer.problem, path->steps, &answer.prices);
    answer.plan.labels = path->labels;
    answer.passes.push_back({fusion, answer.plan.total});
  }
  answer.bound = answer.passes.back().total.latency;
  if (options.objective == PlanObjective::kEnergy) {
    answer.bound = answer.passes.back().total.energy;
  }
  keep_limits(options, weights, answer);
  keep_memory(options, weights, answer);
  keep_capacity(soc, options, weights, answer);
  answer.in_turn = answer.plan.total.latency;
  for (std::size_t e = 0; e < soc.engines.size(); ++e) {
    answer.alone.push_back(alone_on(soc, answer, e, weights));
  }
  set_greedy(answer.problem, weights, answer);
  if (options.front) {
    for (const FrontPlan& corner : convex_front(answer.problem)) {
      answer.front.push_back(plan_of(answer.problem, corner.steps, &answer.prices));
    }
  }
  if (options.at_once) {
    set_at_once(soc, answer);
  }
  answer.memory = memory_of(answer);
  answer.weights = weights_of_plan(answer);
  answer.unpriced = unpriced_of(answer.operations);
  answer.searches = pricing.searches();
  answer.proven = answer.unpriced.empty() && answer.searches.short_of_memory == 0;
  return answer;
}

}  // namespace mapsim
