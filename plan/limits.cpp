// SPDX-License-Identifier: Apache-2.0
#include "plan/limits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <utility>

#include "plan/front.hpp"
#include "plan/frontier.hpp"

namespace mapsim {

namespace {

using Index = std::uint32_t;
using Clock = PlanSearches::Clock;

constexpr Index kNoIndex = std::numeric_limits<Index>::max();
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int kMostLines = 100;           // rounding could let it go on
constexpr double kLimitRounding = 1e-12;  // relative: of sums, with multipliers too

// Latency and energy of a part of a plan.
struct Figures {
  double latency = 0, energy = 0;
  Figures operator+(const Figures& other) const {
    return {latency + other.latency, energy + other.energy};
  }
};
double value_of(const Weights& weights, const Figures& figures) {
  return weights.latency * figures.latency + weights.energy * figures.energy;
}

bool keeps(const PlanLimit& limit, const Figures& takes) {
  return mapsim::keeps(limit, takes.latency, takes.energy);
}

Weights plus(const Weights& a, double m, const Weights& b) {
  return {a.latency + m * b.latency, a.energy + m * b.energy, 0, {}};
}

struct Arc {
  Index to = 0;
  Figures takes;
  bool runs = false;  // a group
  PlanStep step{};
};

// All frontiers, and what leads from one to the next.
struct FrontierGraph {
  std::vector<Index> first;  // by frontier: its first arc; one more at the end
  std::vector<Arc> arcs;     // by frontiers, which are in the order of their operations
  std::optional<Index> end{};
};

void add_arcs(const PlanProblem& problem, const FrontierStep& step, Index to, std::size_t fetched,
              Arc arc, std::vector<Arc>& arcs) {
  if (fetched == step.fetched.size()) {
    arc.to = to;
    arcs.push_back(std::move(arc));
    return;
  }
  const FrontierStep::Fetch& fetch = step.fetched[fetched];
  const auto& moves = problem.tensors[fetch.tensor].moves;
  std::vector<Figures> tried;
  for (std::size_t from = 0; from < problem.places && !moves.empty(); ++from) {
    const auto& move = moves[from * problem.places + step.place];
    if ((fetch.from >> from & 1) == 0 || !move) {
      continue;
    }
    const bool is_known = std::any_of(tried.begin(), tried.end(), [&](const Figures& each) {
      return each.latency == move->latency && each.energy == move->energy;
    });
    if (is_known) {
      continue;
    }
    tried.push_back({move->latency, move->energy});
    Arc next = arc;
    next.takes = next.takes + tried.back();
    next.step.moves.push_back({fetch.tensor, from, step.place});
    add_arcs(problem, step, to, fetched + 1, std::move(next), arcs);
  }
}

// By estimate: lists that grow, and for each frontier the completions of a search under two limits.
constexpr std::size_t kArcBytes = 3 * sizeof(Arc);
constexpr std::size_t kFrontierBytes = 8 * (sizeof(double) + sizeof(Index) + sizeof(Figures));

// What is known of a frontier while those of its position are collected: twice, and in a map.
std::size_t graph_bytes(const Frontier& frontier) {
  constexpr std::size_t kNode = 2 * sizeof(Frontier) + 200;
  return kNode + 2 * (sizeof(Frontier::Index) * (frontier.deferred.size() + frontier.ahead.size()) +
                      sizeof(Frontier::Live) * frontier.live.size());
}

// nullopt: there are more arcs, they take more than half of the memory (labels take the rest), or
// more time than a search may.
std::optional<FrontierGraph> graph_of(const PlanProblem& problem, std::size_t most_arcs) {
  const std::size_t most_bytes =
      problem.searches ? problem.searches->bytes / 2 : std::numeric_limits<std::size_t>::max();
  const Clock::time_point end = end_of(problem);
  std::size_t position_bytes = 0;
  const Frontiers frontiers{problem};
  FrontierGraph graph;
  std::vector<Frontier> now{{}};
  Index count = 1;
  for (std::size_t i = 0; i < problem.operations; ++i) {
    std::map<Frontier, Index> known;
    std::vector<Frontier> next;
    const std::size_t now_bytes = std::exchange(position_bytes, 0);
    for (const Frontier& frontier : now) {
      graph.first.push_back(static_cast<Index>(graph.arcs.size()));
      if (problem.searches) {
        problem.searches->check_stop();
      }
      for (FrontierStep& step : frontiers.steps(i, frontier)) {
        const auto [at, is_new] = known.try_emplace(step.after, count);
        if (is_new) {
          ++count;
          next.push_back(step.after);
          position_bytes += graph_bytes(step.after);
        }
        Arc arc;
        if (step.choice) {
          const Load& load = *problem.choices[*step.choice].on[step.place];
          arc.takes = {load.latency, load.energy};
          arc.runs = true;
          arc.step = {*step.choice, step.place};
        }
        add_arcs(problem, step, at->second, 0, std::move(arc), graph.arcs);
        const std::size_t bytes =
            kArcBytes * graph.arcs.size() + kFrontierBytes * count + now_bytes + position_bytes;
        if (graph.arcs.size() > most_arcs || bytes > most_bytes || Clock::now() >= end) {
          return std::nullopt;
        }
        if (problem.searches) {
          problem.searches->take(bytes);
        }
      }
    }
    now.swap(next);
    if (i + 1 == problem.operations) {
      const auto last = known.find(Frontier{});
      graph.end = last == known.end() ? std::nullopt : std::optional{last->second};
    }
  }
  for (std::size_t k = 0; k <= now.size(); ++k) {
    graph.first.push_back(static_cast<Index>(graph.arcs.size()));
  }
  return graph;
}

// By frontier: the best way to the end by some weights.
struct Completion {
  Weights weights;
  double constant = 0;        // of a bound that these weights give
  std::vector<double> value;  // never: there is no way
  std::vector<Index> arc;
  std::vector<Figures> takes;
};

Completion completion_of(const FrontierGraph& graph, const Weights& weights, double constant = 0) {
  const std::size_t frontiers = graph.first.size() - 1;
  Completion found{weights, constant, std::vector<double>(frontiers, kNever),
                   std::vector<Index>(frontiers, kNoIndex), std::vector<Figures>(frontiers)};
  if (graph.end) {
    found.value[*graph.end] = 0;
  }
  for (std::size_t f = frontiers; f-- > 0;) {
    for (Index a = graph.first[f]; a < graph.first[f + 1]; ++a) {
      const Arc& arc = graph.arcs[a];
      const double value = value_of(weights, arc.takes) + found.value[arc.to];
      if (value < found.value[f]) {
        found.value[f] = value;
        found.arc[f] = a;
        found.takes[f] = arc.takes + found.takes[arc.to];
      }
    }
  }
  return found;
}

// The weights with the multiplier of a limit whose bound is best.
struct Multiplied {
  Weights weights;
  double multiplier = 0;
};
Multiplied multiplied(const FrontierGraph& graph, const Weights& weights, const PlanLimit& limit) {
  const auto over = [&](const Figures& takes) { return value_of(limit.of, takes) - limit.most; };
  Figures outside = completion_of(graph, weights).takes.front();
  Figures inside = completion_of(graph, limit.of).takes.front();
  double multiplier = 0;
  // Each time the line between two plans is replaced by one through a plan below it.
  for (int k = 0; k < kMostLines && over(outside) > 0 && over(inside) <= 0; ++k) {
    multiplier = std::max(0.0, (value_of(weights, inside) - value_of(weights, outside)) /
                                   (over(outside) - over(inside)));
    const Weights sum = plus(weights, multiplier, limit.of);
    const Figures between = completion_of(graph, sum).takes.front();
    if (value_of(sum, between) >= value_of(sum, outside)) {
      break;
    }
    (over(between) > 0 ? outside : inside) = between;
  }
  return {plus(weights, multiplier, limit.of), multiplier};
}

struct LimitedLabel {
  Figures takes;
  Index frontier = 0;
  Index parent = kNoIndex;
  Index arc = kNoIndex;
};

class LimitedSearch {
 public:
  LimitedSearch(FrontierGraph graph, const Weights& weights, const Weights& ties,
                const std::vector<PlanLimit>& limits, std::size_t most_labels,
                Clock::time_point end)
      : graph_{std::move(graph)},
        weights_{weights},
        ties_{ties},
        limits_{limits},
        most_labels_{most_labels},
        end_{end} {}

  LimitedPlan run() {
    LimitedPlan found;
    found.is_impossible = !set_completions(found.multipliers);
    if (found.is_impossible) {
      return found;
    }
    known_.resize(graph_.first.size());
    add({{}, 0, kNoIndex, kNoIndex});
    double open = kNever;  // the least bound of what was not looked at
    while (!open_.empty()) {
      const Open next = open_.top();
      open_.pop();
      if (is_worse(next.bound, labels_[next.label])) {
        continue;
      }
      if (labels_.size() > most_labels_ || Clock::now() >= end_) {
        open = next.bound;
        found.is_tie_open = true;
        break;
      }
      expand(next.label);
    }
    found.bound = std::min(best_.first, open);
    found.is_impossible = found.bound == kNever;
    if (best_.first < kNever) {
      found.path = path();
    }
    return found;
  }

 private:
  struct Open {
    double bound = 0, tie = 0;
    Index label = 0;
    bool operator<(const Open& other) const {  // the least on top
      return std::pair{bound, tie} > std::pair{other.bound, other.tie};
    }
  };

  // False: there is no plan, or none that keeps some limit.
  bool set_completions(std::vector<double>& multipliers) {
    completions_.push_back(completion_of(graph_, weights_));
    multipliers.assign(limits_.size(), 0);
    if (completions_.front().value.front() == kNever) {
      return false;
    }
    double best = completions_.front().value.front();
    Weights sum = weights_;
    double constant = 0;
    const auto look = [&](std::size_t k, const Multiplied& more, double others,
                          std::vector<double> with) {
      with[k] = more.multiplier;
      completions_.push_back(
          completion_of(graph_, more.weights, others - more.multiplier * limits_[k].most));
      const double bound = completions_.back().value.front() + completions_.back().constant;
      if (bound > best) {
        best = bound;
        multipliers = with;
      }
    };
    std::vector<double> together(limits_.size(), 0);
    for (std::size_t k = 0; k < limits_.size(); ++k) {
      least_.push_back(completion_of(graph_, limits_[k].of));
      if (!keeps(limits_[k], least_.back().takes.front())) {
        return false;
      }
      Multiplied more = multiplied(graph_, weights_, limits_[k]);
      look(k, more, 0, std::vector<double>(limits_.size(), 0));
      if (k > 0) {
        more = multiplied(graph_, sum, limits_[k]);
        look(k, more, constant, together);
      }
      sum = more.weights;
      constant -= more.multiplier * limits_[k].most;
      together[k] = more.multiplier;
    }
    tied_ = completion_of(graph_, ties_);
    return true;
  }

  bool is_worse(double bound, const LimitedLabel& label) const {
    const double slack = kLimitRounding * std::abs(best_.first);
    return best_.first < kNever && (bound > best_.first + slack || (bound >= best_.first - slack &&
                                                                    tie_of(label) >= best_.second));
  }
  double tie_of(const LimitedLabel& label) const {
    return value_of(ties_, label.takes) + tied_.value[label.frontier];
  }

  bool keeps_limits(const Figures& takes) const {
    return std::all_of(limits_.begin(), limits_.end(),
                       [&](const PlanLimit& limit) { return keeps(limit, takes); });
  }

  // Whether another label of its frontier takes no more of anything; else it is known.
  bool is_dominated(const LimitedLabel& label) {
    std::vector<Figures>& known = known_[label.frontier];
    const auto no_more = [&](const Figures& a, const Figures& b) {
      const auto less = [&](const Weights& weights) {
        return value_of(weights, a) <= value_of(weights, b);
      };
      return less(weights_) && less(ties_) &&
             std::all_of(limits_.begin(), limits_.end(),
                         [&](const PlanLimit& limit) { return less(limit.of); });
    };
    if (std::any_of(known.begin(), known.end(),
                    [&](const Figures& each) { return no_more(each, label.takes); })) {
      return true;
    }
    std::erase_if(known, [&](const Figures& each) { return no_more(label.takes, each); });
    known.push_back(label.takes);
    return false;
  }

  void add(const LimitedLabel& label) {
    double bound = -kNever;
    for (const Completion& each : completions_) {
      bound = std::max(
          bound, value_of(each.weights, label.takes) + each.value[label.frontier] + each.constant);
    }
    for (std::size_t k = 0; k < limits_.size(); ++k) {
      if (!keeps(limits_[k], label.takes + least_[k].takes[label.frontier])) {
        return;
      }
    }
    if (bound == kNever || is_worse(bound, label) || is_dominated(label)) {
      return;
    }
    labels_.push_back(label);
    const auto index = static_cast<Index>(labels_.size() - 1);
    open_.push({bound, tie_of(label), index});
    for (const auto* list : {&completions_, &least_}) {
      for (const Completion& each : *list) {
        complete(index, each);
      }
    }
  }
  // A whole plan: a label, and the best way on by some weights.
  void complete(Index label, const Completion& by) {
    const Figures takes = labels_[label].takes + by.takes[labels_[label].frontier];
    const Value value{value_of(weights_, takes), value_of(ties_, takes)};
    if (value < best_ && keeps_limits(takes)) {
      best_ = value;
      arcs_.clear();
      for (Index at = label; labels_[at].parent != kNoIndex; at = labels_[at].parent) {
        arcs_.push_back(labels_[at].arc);
      }
      std::reverse(arcs_.begin(), arcs_.end());
      for (Index f = labels_[label].frontier; by.arc[f] != kNoIndex;
           f = graph_.arcs[by.arc[f]].to) {
        arcs_.push_back(by.arc[f]);
      }
    }
  }

  void expand(Index label) {
    const Index frontier = labels_[label].frontier;
    for (Index a = graph_.first[frontier]; a < graph_.first[frontier + 1]; ++a) {
      const Arc& arc = graph_.arcs[a];
      add({labels_[label].takes + arc.takes, arc.to, label, a});
    }
  }

  PlanPath path() const {
    PlanPath path{{}, best_.first, best_.second, labels_.size(), best_.first, false};
    for (const Index a : arcs_) {
      if (graph_.arcs[a].runs) {
        path.steps.push_back(graph_.arcs[a].step);
      }
    }
    return path;
  }

  FrontierGraph graph_;
  Weights weights_, ties_;
  const std::vector<PlanLimit>& limits_;
  std::size_t most_labels_;
  Clock::time_point end_;
  std::vector<Completion> completions_;  // that bound the value
  std::vector<Completion> least_;        // by limit: of what it is about
  Completion tied_;
  std::vector<LimitedLabel> labels_;
  std::vector<std::vector<Figures>> known_;  // by frontier
  std::priority_queue<Open> open_;
  Value best_{kNever, 0};
  std::vector<Index> arcs_;  // of the best plan
};

// Where the graph is too large: the best of the plans on the convex front of latency and energy
// that keep the limits. The best plan without limits is a bound.
LimitedPlan coarse_path(const PlanProblem& problem, const Weights& weights, const Weights& ties,
                        const std::vector<PlanLimit>& limits) {
  LimitedPlan found;
  found.multipliers.assign(limits.size(), 0);
  const auto without = shortest_path(problem, weights);
  found.is_impossible = !without;
  if (!without) {
    return found;
  }
  if (problem.searches) {
    ++problem.searches->ended_early;
  }
  found.bound = without->bound;
  found.is_tie_open = true;
  for (const FrontPlan& corner : convex_front(problem)) {
    const Figures takes{corner.latency, corner.energy};
    const Value value{value_of(weights, takes), value_of(ties, takes)};
    const bool is_better = !found.path || value < Value{found.path->value, found.path->tie};
    if (is_better && std::all_of(limits.begin(), limits.end(),
                                 [&](const PlanLimit& limit) { return keeps(limit, takes); })) {
      found.path =
          PlanPath{corner.steps, value.first, value.second, without->labels, found.bound, true};
    }
  }
  return found;
}

}  // namespace

bool keeps(const PlanLimit& limit, double latency, double energy) {
  const double timed = limit.of.latency * latency;
  const double spent = limit.of.energy * energy;
  const double parts = std::abs(timed) + std::abs(spent) + std::abs(limit.most);
  return timed + spent <= limit.most + kLimitRounding * parts;
}

LimitedPlan limited_path(const PlanProblem& problem, const Weights& weights, const Weights& ties,
                         const std::vector<PlanLimit>& limits, std::size_t most_labels,
                         std::size_t most_arcs) {
  const Clock::time_point end = end_of(problem);
  auto graph = graph_of(problem, most_arcs);
  if (!graph) {
    return coarse_path(problem, weights, ties, limits);
  }
  constexpr std::size_t kLabelBytes =
      3 * (sizeof(LimitedLabel) + sizeof(Figures) + 3 * sizeof(double));
  if (problem.searches) {
    most_labels = std::min(most_labels, problem.searches->bytes / 2 / kLabelBytes);
  }
  LimitedPlan found =
      LimitedSearch{std::move(*graph), weights, ties, limits, most_labels, end}.run();
  if (problem.searches) {
    ++problem.searches->count;
    problem.searches->ended_early += found.is_tie_open ? 1 : 0;
  }
  return found;
}

std::optional<double> least_power(const PlanProblem& problem, std::size_t most_arcs) {
  const auto graph = graph_of(problem, most_arcs);
  if (!graph) {
    return std::nullopt;
  }
  Figures takes = completion_of(*graph, {0, 1, 0, {}}).takes.front();
  double power = 0;
  while (takes.latency > 0) {
    power = takes.energy / takes.latency;
    const Figures less = completion_of(*graph, {-power, 1, 0, {}}).takes.front();
    if (less.latency == 0 || less.energy / less.latency >= power) {
      break;
    }
    takes = less;
  }
  return power;
}

}  // namespace mapsim
