// SPDX-License-Identifier: Apache-2.0
#include "tests/plan/random_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace mapsim {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

Load random_load(Rng& rng, std::size_t engine) {
  const auto number = [&rng] { return static_cast<double>(rng.between(0, 20)); };
  return {number(), number(), number(), engine, number()};
}

void add_choice(Rng& rng, PlanProblem& problem, PlanProblem::Choice choice) {
  for (std::size_t e = 0; e < problem.places; ++e) {
    choice.on.push_back(rng.below(6) == 0 ? std::nullopt : std::optional{random_load(rng, e)});
  }
  problem.choices.push_back(std::move(choice));
}

std::size_t only_reader(const PlanProblem& problem, std::size_t tensor) {
  return problem.tensors[tensor].readers.size() == 1 ? problem.tensors[tensor].readers.front()
                                                     : problem.operations;
}

// Every group of a head with those that follow it as its only readers.
void add_chains(Rng& rng, PlanProblem& problem,
                const std::vector<std::vector<std::size_t>>& reads) {
  for (std::size_t head = 0; head < problem.operations; ++head) {
    PlanProblem::Choice chain{{head}, head, reads[head], {head}, {}};
    for (std::size_t next = only_reader(problem, head);
         next < problem.operations && rng.below(3) > 0; next = only_reader(problem, next)) {
      chain.operations.push_back(next);
      chain.anchor = next;
      for (const std::size_t tensor : reads[next]) {
        if (tensor != chain.writes.front() &&
            std::find(chain.reads.begin(), chain.reads.end(), tensor) == chain.reads.end()) {
          chain.reads.push_back(tensor);
        }
      }
      chain.writes = {next};
      add_choice(rng, problem, chain);
    }
  }
}

// All plans: which group covers the first operation that none covers, and where it runs.
class AllPlans {
 public:
  AllPlans(const PlanProblem& problem, const Weights& weights)
      : problem_{problem}, weights_{weights}, covered_(problem.operations) {}

  double best() {
    cover();
    return best_;
  }
  const std::vector<std::vector<double>>& loads() {
    cover();
    return loads_;
  }
  const std::vector<std::pair<double, double>>& figures() {
    cover();
    return figures_;
  }

 private:
  using Order = std::vector<std::pair<const PlanProblem::Choice*, std::size_t>>;

  void cover() {
    const auto at = std::find(covered_.begin(), covered_.end(), false);
    if (at == covered_.end()) {
      take();
      return;
    }
    const auto first = static_cast<std::size_t>(at - covered_.begin());
    for (const PlanProblem::Choice& choice : problem_.choices) {
      const auto& all = choice.operations;
      if (std::find(all.begin(), all.end(), first) == all.end() ||
          std::any_of(all.begin(), all.end(), [this](std::size_t i) { return covered_[i]; })) {
        continue;
      }
      for (const std::size_t i : all) {
        covered_[i] = true;
      }
      for (std::size_t e = 0; e < problem_.places; ++e) {
        if (choice.on[e]) {
          chosen_.emplace_back(&choice, e);
          cover();
          chosen_.pop_back();
        }
      }
      for (const std::size_t i : all) {
        covered_[i] = false;
      }
    }
  }

  // Latency and energy, with every source of every tensor.
  void fetch(const Order& order, std::size_t step, std::size_t read,
             std::vector<std::set<std::size_t>> where, std::pair<double, double> figures) {
    if (step == order.size()) {
      figures_.push_back(figures);
      return;
    }
    const auto& [choice, engine] = order[step];
    const auto with = [&](const Load& load) {
      return std::pair{figures.first + load.latency, figures.second + load.energy};
    };
    if (read == choice->reads.size()) {
      for (const std::size_t tensor : choice->writes) {
        where[tensor] = {engine};
      }
      fetch(order, step + 1, 0, std::move(where), with(*choice->on[engine]));
      return;
    }
    const std::size_t tensor = choice->reads[read];
    const std::set<std::size_t> sources = where[tensor];
    where[tensor].insert(engine);
    if (sources.contains(engine)) {
      fetch(order, step, read + 1, where, figures);
      return;
    }
    for (const std::size_t from : sources) {
      if (const auto& move = problem_.tensors[tensor].moves[from * problem_.places + engine]) {
        fetch(order, step, read + 1, where, with(*move));
      }
    }
  }

  void take() {
    double sum = 0;
    std::vector<double> load(problem_.places + 2, 0);
    const auto add = [&](const Load& part) {
      sum += weights_.of(part);
      load[*part.engine] += part.busy;
      load[problem_.places] += part.bytes;
      load[problem_.places + 1] += part.energy;
    };
    Order order = chosen_;
    std::sort(order.begin(), order.end(),
              [](const auto& a, const auto& b) { return a.first->anchor < b.first->anchor; });
    fetch(order, 0, 0, std::vector<std::set<std::size_t>>(problem_.tensors.size()), {0, 0});
    std::vector<std::set<std::size_t>> where(problem_.tensors.size());
    for (const auto& [choice, engine] : order) {
      add(*choice->on[engine]);
      for (const std::size_t tensor : choice->reads) {
        if (where[tensor].contains(engine)) {
          continue;
        }
        const Load* least = nullptr;
        for (const std::size_t from : where[tensor]) {
          const auto& move = problem_.tensors[tensor].moves[from * problem_.places + engine];
          least = move && (least == nullptr || weights_.of(*move) < weights_.of(*least)) ? &*move
                                                                                         : least;
        }
        if (least == nullptr) {
          return;  // there is no way
        }
        add(*least);
        where[tensor].insert(engine);
      }
      for (const std::size_t tensor : choice->writes) {
        where[tensor] = {engine};
      }
    }
    best_ = std::min(best_, sum);
    loads_.push_back(std::move(load));
  }

  const PlanProblem& problem_;
  const Weights& weights_;
  std::vector<bool> covered_;
  Order chosen_;
  double best_ = kNever;
  std::vector<std::vector<double>> loads_;
  std::vector<std::pair<double, double>> figures_;
};

}  // namespace

PlanProblem random_plan_problem(std::uint64_t seed) {
  Rng rng{seed};
  PlanProblem problem;
  problem.operations = static_cast<std::size_t>(rng.between(3, 8));
  problem.places = problem.engines =
      static_cast<std::size_t>(rng.between(1, problem.operations > 6 ? 2 : 3));
  problem.tensors.resize(problem.operations);  // one of each operation
  std::vector<std::vector<std::size_t>> reads(problem.operations);
  for (std::size_t i = 1; i < problem.operations; ++i) {
    std::set<std::size_t> from;
    for (std::int64_t k = rng.between(1, 2); k > 0; --k) {
      const std::size_t reach = std::min<std::size_t>(i, 4);  // frontiers stay narrow, as in nets
      from.insert(i - 1 - rng.below(reach));
    }
    reads[i] = {from.begin(), from.end()};
    for (const std::size_t tensor : from) {
      problem.tensors[tensor].readers.push_back(i);
    }
  }
  for (PlanProblem::Tensor& tensor : problem.tensors) {
    for (std::size_t m = 0; m < problem.places * problem.places; ++m) {
      tensor.moves.push_back(rng.below(8) == 0
                                 ? std::nullopt
                                 : std::optional{random_load(rng, rng.below(problem.places))});
    }
  }
  for (std::size_t i = 0; i < problem.operations; ++i) {
    add_choice(rng, problem, {{i}, i, reads[i], {i}, {}});
    for (std::size_t j = i + 1; j < problem.operations; ++j) {
      if (reads[i].size() == 1 && reads[i] == reads[j]) {
        add_choice(rng, problem, {{i, j}, i, reads[i], {i, j}, {}});
      }
    }
  }
  add_chains(rng, problem, reads);
  return problem;
}

PlanProblem coarse_plan_problem(std::uint64_t seed) {
  constexpr int kStep = 8;
  PlanProblem problem = random_plan_problem(seed);
  const auto coarse = [](std::optional<Load>& load) {
    if (load) {
      load->energy = static_cast<int>(load->energy) / kStep;
    }
  };
  for (PlanProblem::Choice& choice : problem.choices) {
    std::for_each(choice.on.begin(), choice.on.end(), coarse);
  }
  for (PlanProblem::Tensor& tensor : problem.tensors) {
    std::for_each(tensor.moves.begin(), tensor.moves.end(), coarse);
  }
  return problem;
}

Weights random_weights(Rng& rng, std::size_t engines) {
  const auto number = [&rng] { return static_cast<double>(rng.between(0, 3)); };
  Weights weights{number(), number(), number(), {}};
  for (std::size_t e = 0; e < engines; ++e) {
    weights.busy.push_back(number());
  }
  return weights;
}

std::optional<double> best_of_all_plans(const PlanProblem& problem, const Weights& weights) {
  const double best = AllPlans{problem, weights}.best();
  return best == kNever ? std::nullopt : std::optional{best};
}

std::vector<std::vector<double>> loads_of_all_plans(const PlanProblem& problem) {
  const Weights weights{0, 0, 0, {}};
  return AllPlans{problem, weights}.loads();
}

std::vector<std::pair<double, double>> figures_of_all_plans(const PlanProblem& problem) {
  const Weights weights{0, 0, 0, {}};
  return AllPlans{problem, weights}.figures();
}

std::string compare_with_all_plans(std::uint64_t seed, std::int64_t& plans) {
  const PlanProblem problem = random_plan_problem(seed);
  Rng rng{seed ^ 0x5eed};
  const Weights weights = random_weights(rng, problem.places);
  const std::optional<double> wanted = best_of_all_plans(problem, weights);
  const std::optional<PlanPath> found = shortest_path(problem, weights);
  if (wanted.has_value() != found.has_value()) {
    return fmt::format("{} a plan", wanted ? "missed" : "made up");
  }
  if (!found) {
    return "";
  }
  ++plans;
  if (found->value != *wanted) {
    return fmt::format("{} where the best of all plans has {}", found->value, *wanted);
  }
  std::vector<PlanStep> steps = found->steps;
  const std::optional<double> walked = walk(problem, weights, steps);
  return walked && *walked == *wanted && steps == found->steps
             ? ""
             : "its steps have another value than it says";
}

}  // namespace mapsim
