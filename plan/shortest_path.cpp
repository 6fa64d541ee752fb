// SPDX-License-Identifier: Apache-2.0
#include "plan/shortest_path.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "plan/frontier.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What a plan is to have least of, and of plans that are equal in it.
struct Aim {
  const Weights& weights;
  const Weights& ties;
  Value of(const Load& load) const { return {weights.of(load), ties.of(load)}; }
};

// The cheapest way of a tensor to a place from those that can read it.
struct Way {
  Value value{kInfinity, 0};
  std::size_t from = kNone;
};
Way cheapest(const PlanProblem& problem, const Aim& aim, std::size_t tensor, PlaceMask places,
             std::size_t to) {
  Way best;
  const auto& moves = problem.tensors[tensor].moves;
  for (std::size_t from = 0; from < problem.places && !moves.empty(); ++from) {
    const std::optional<Load>& move = moves[from * problem.places + to];
    if ((places >> from & 1) != 0 && move && aim.of(*move) < best.value) {
      best = {aim.of(*move), from};
    }
  }
  return best;
}

struct Label {
  Value value{};
  std::size_t parent = kNone;  // in the list of all labels
  std::optional<std::size_t> choice{};
  std::size_t place = 0;
};

class Search {
 public:
  Search(const PlanProblem& problem, const Aim& aim)
      : problem_{problem}, aim_{aim}, frontiers_{problem} {}

  std::optional<PlanPath> run() {
    labels_.push_back({});
    std::map<Frontier, std::size_t> now{{Frontier{}, 0}};
    for (std::size_t i = 0; i < problem_.operations; ++i) {
      next_.clear();
      for (const auto& [frontier, label] : now) {
        for (FrontierStep& step : frontiers_.steps(i, frontier)) {
          keep(std::move(step), label);
        }
      }
      if (!problem_.most_alive) {  // else what is cheaper may need more memory
        drop_dominated();
      }
      now.swap(next_);
    }
    const auto end = now.find(Frontier{});
    return end == now.end() ? std::nullopt : std::optional{path_to(end->second)};
  }

 private:
  // The frontier behind a step, if nothing cheaper has come to it.
  void keep(FrontierStep&& step, std::size_t from) {
    Label label{labels_[from].value, from, step.choice, step.place};
    if (step.choice) {
      label.value = label.value + aim_.of(*problem_.choices[*step.choice].on[step.place]);
    }
    for (const FrontierStep::Fetch& fetch : step.fetched) {
      label.value =
          label.value + cheapest(problem_, aim_, fetch.tensor, fetch.from, step.place).value;
    }
    if (label.value.first == kInfinity) {
      return;  // there is no way
    }
    const auto [at, is_new] = next_.try_emplace(std::move(step.after), labels_.size());
    if (is_new) {
      labels_.push_back(label);
    } else if (label.value < labels_[at->second].value) {
      labels_[at->second] = label;
    }
  }

  // The most that a plan can pay more from one frontier on than from another that differs only in
  // where tensors can be read: moves to where the other has them, and what moves elsewhere cost
  // more from here. What the plan itself moves meanwhile, both have.
  Value lacking(const Frontier& from, const Frontier& to) const {
    Value value;
    for (std::size_t k = 0; k < from.live.size(); ++k) {
      const Frontier::Live& here = from.live[k];
      const Frontier::Live& there = to.live[k];
      for (std::size_t e = 0; e < problem_.places; ++e) {
        if ((here.places >> e & 1) != 0) {
          continue;
        }
        const Value mine = cheapest(problem_, aim_, here.tensor, here.places, e).value;
        const Value other = (there.places >> e & 1) != 0
                                ? Value{}
                                : cheapest(problem_, aim_, here.tensor, there.places, e).value;
        value = value + (mine > other ? mine - other : Value{});
      }
    }
    return value;
  }

  // Against the cheapest label of those that have run the same operations: they stand side by side.
  void drop_dominated() {
    for (auto begin = next_.begin(); begin != next_.end();) {
      auto end = begin;
      auto best = begin;
      for (; end != next_.end() && end->first.deferred == begin->first.deferred &&
             end->first.ahead == begin->first.ahead;
           ++end) {
        best = labels_[end->second].value < labels_[best->second].value ? end : best;
      }
      for (auto at = begin; at != end;) {
        const bool worse =
            at != best && labels_[best->second].value + lacking(best->first, at->first) <=
                              labels_[at->second].value;
        at = worse ? next_.erase(at) : std::next(at);
      }
      begin = end;
    }
  }

  PlanPath path_to(std::size_t label) const {
    PlanPath path;
    path.labels = labels_.size();
    path.value = labels_[label].value.first;
    path.tie = labels_[label].value.second;
    for (; label != kNone; label = labels_[label].parent) {
      if (labels_[label].choice) {
        path.steps.push_back({*labels_[label].choice, labels_[label].place});
      }
    }
    std::reverse(path.steps.begin(), path.steps.end());
    walk(problem_, aim_.weights, path.steps, aim_.ties);
    return path;
  }

  const PlanProblem& problem_;
  Aim aim_;
  Frontiers frontiers_;
  std::vector<Label> labels_;
  std::map<Frontier, std::size_t> next_;
};

}  // namespace

std::optional<PlanPath> shortest_path(const PlanProblem& problem, const Weights& weights,
                                      const Weights& ties) {
  return Search{problem, {weights, ties}}.run();
}

std::optional<double> walk(const PlanProblem& problem, const Weights& weights,
                           std::vector<PlanStep>& steps, const Weights& ties) {
  double value = 0;
  const Aim aim{weights, ties};
  std::vector<PlaceMask> places(problem.tensors.size(), 0);
  for (PlanStep& step : steps) {
    const PlanProblem::Choice& choice = problem.choices[step.choice];
    if (!choice.on[step.engine]) {
      return std::nullopt;
    }
    step.moves.clear();
    value += weights.of(*choice.on[step.engine]);
    for (const std::size_t tensor : choice.reads) {
      if ((places[tensor] >> step.engine & 1) != 0) {
        continue;
      }
      const Way way = cheapest(problem, aim, tensor, places[tensor], step.engine);
      if (way.from == kNone) {
        return std::nullopt;
      }
      value += way.value.first;
      step.moves.push_back({tensor, way.from, step.engine});
      places[tensor] |= PlaceMask{1} << step.engine;
    }
    for (const std::size_t tensor : choice.writes) {
      places[tensor] = PlaceMask{1} << step.engine;
    }
  }
  return value;
}

}  // namespace mapsim
