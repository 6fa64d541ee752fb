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

struct PathLabel {
  Value value{};
  std::size_t parent = kNone;  // in the list of the labels of the positions before
  std::optional<std::size_t> choice{};
  std::size_t place = 0;
};

// Frontiers at one position, each with the cheapest label that leads there.
using Reached = std::map<Frontier, PathLabel>;

// By estimate: a node of the map, and its lists.
std::size_t bytes_of(const Frontier& frontier) {
  constexpr std::size_t kBlock = 24;  // of the allocator, with what it rounds up
  constexpr std::size_t kNode = 32 + sizeof(Reached::value_type) + 4 * kBlock;
  return kNode + sizeof(Frontier::Index) * (frontier.deferred.size() + frontier.ahead.size()) +
         sizeof(Frontier::Live) * frontier.live.size();
}

// What covers each operation takes at least, shared among the operations that it covers.
class Rest {
 public:
  Rest(const PlanProblem& problem, const Aim& aim)
      : least_(problem.operations, kInfinity), from_(problem.operations + 1, 0) {
    for (const PlanProblem::Choice& choice : problem.choices) {
      for (const std::optional<Load>& load : choice.on) {
        for (const std::size_t i : choice.operations) {
          const double share = load ? aim.weights.of(*load) : kInfinity;
          least_[i] = std::min(least_[i], share / static_cast<double>(choice.operations.size()));
        }
      }
    }
    for (std::size_t i = problem.operations; i-- > 0;) {
      least_[i] = least_[i] == kInfinity ? 0 : least_[i];
      from_[i] = from_[i + 1] + least_[i];
    }
  }

  // The least value of a plan through a frontier behind operation i.
  double bound(const PathLabel& label, const Frontier& frontier, std::size_t i) const {
    double rest = from_[i + 1];
    for (const Frontier::Index j : frontier.deferred) {
      rest += least_[j];
    }
    for (const Frontier::Index j : frontier.ahead) {
      rest -= least_[j];
    }
    return label.value.first + std::max(0.0, rest - kRounding * from_[0]);
  }

 private:
  static constexpr double kRounding = 1e-12;  // of sums
  std::vector<double> least_;                 // by operation
  std::vector<double> from_;                  // of all from this operation on
};

class Search {
 public:
  Search(const PlanProblem& problem, const Aim& aim)
      : problem_{problem}, aim_{aim}, frontiers_{problem}, end_{end_of(problem)} {}

  std::optional<PlanPath> run() {
    Reached now{{Frontier{}, PathLabel{}}};
    std::size_t now_bytes = 0;
    for (std::size_t i = 0; i < problem_.operations; ++i) {
      settle(now);
      next_.clear();
      next_bytes_ = 0;
      std::size_t label = labels_.size() - now.size();
      for (const auto& [frontier, at] : now) {
        for (FrontierStep& step : frontiers_.steps(i, frontier)) {
          keep(std::move(step), label);
        }
        ++label;
        look_at_limits(now_bytes, i);
      }
      if (!problem_.most_alive &&
          !problem_.most_least) {  // else what is cheaper may need more memory
        drop_dominated();
      }
      now.swap(next_);
      now_bytes = next_bytes_;
      drop_labels(now, i);
    }
    const auto end = now.find(Frontier{});
    note(dropped_ < kInfinity && (end == now.end() || dropped_ <= end->second.value.first));
    if (end != now.end()) {
      return path_to(end->second);
    }
    if (dropped_ < kInfinity) {
      throw NoPlanInBudget{};
    }
    return std::nullopt;
  }

 private:
  std::size_t most_bytes() const {
    return problem_.searches ? problem_.searches->bytes : std::numeric_limits<std::size_t>::max();
  }

  // Labels of a position become parents: they stand at the end of the list, in the order of the
  // map.
  void settle(const Reached& now) {
    for (const auto& [frontier, label] : now) {
      labels_.push_back(label);
    }
  }

  // Frontiers of two positions may take three quarters of the memory, labels the rest. Once time is
  // over, a few of the best frontiers lead to the end.
  void look_at_limits(std::size_t now_bytes, std::size_t i) {
    if (!problem_.searches) {
      return;
    }
    problem_.searches->check_stop();
    const std::size_t labels = labels_.capacity() * sizeof(PathLabel);
    peak_ = std::max(peak_, now_bytes + next_bytes_ + labels);
    while (next_bytes_ > most_bytes() / 8 * 3 && next_.size() > 1) {
      drop_half(next_, i);
    }
    constexpr std::size_t kFew = 8;
    while (next_.size() > kFew && PlanSearches::Clock::now() >= end_) {
      drop_half(next_, i);
    }
  }

  // Those of the frontiers from which a plan takes least stay.
  void drop_half(Reached& reached, std::size_t i) {
    rest_ = rest_ ? std::move(rest_) : std::optional{Rest{problem_, aim_}};
    std::vector<double> bounds;
    for (const auto& [frontier, label] : reached) {
      bounds.push_back(rest_->bound(label, frontier, i));
    }
    std::vector<double> sorted = bounds;
    const std::size_t kept = sorted.size() / 2;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(kept),
                     sorted.end());
    const double most = sorted[kept];
    std::size_t less = static_cast<std::size_t>(
        std::count_if(bounds.begin(), bounds.end(), [most](double each) { return each < most; }));
    auto bound = bounds.begin();
    for (auto at = reached.begin(); at != reached.end(); ++bound) {
      const bool stays = *bound < most || (*bound == most && less < kept && ++less > 0);
      if (stays) {
        ++at;
        continue;
      }
      dropped_ = std::min(dropped_, *bound);
      next_bytes_ -= &reached == &next_ ? bytes_of(at->first) : 0;
      at = reached.erase(at);
    }
  }

  // Labels that no frontier comes from any more go; if that is not enough, frontiers do.
  void drop_labels(Reached& now, std::size_t i) {
    const std::size_t most =
        most_bytes() / 4 / sizeof(PathLabel) / 2;  // lists grow to twice as much
    while (labels_.size() + now.size() > most) {
      std::vector<std::size_t> moved(labels_.size(), kNone);
      for (const auto& [frontier, label] : now) {
        for (std::size_t at = label.parent; at != kNone && moved[at] == kNone;
             at = labels_[at].parent) {
          moved[at] = at;
        }
      }
      std::size_t count = 0;
      for (std::size_t at = 0; at < labels_.size(); ++at) {
        if (moved[at] != kNone) {
          PathLabel label = labels_[at];
          label.parent = label.parent == kNone ? kNone : moved[label.parent];
          moved[at] = count;
          labels_[count++] = label;
        }
      }
      labels_.resize(count);
      for (auto& [frontier, label] : now) {
        label.parent = label.parent == kNone ? kNone : moved[label.parent];
      }
      if (now.size() == 1 || labels_.size() + now.size() <= most / 2) {
        return;
      }
      drop_half(now, i);
    }
  }

  void note(bool is_short) const {
    if (problem_.searches) {
      ++problem_.searches->count;
      problem_.searches->ended_early += is_short ? 1 : 0;
      problem_.searches->take(peak_);
    }
  }

  // The frontier behind a step, if nothing cheaper has come to it.
  void keep(FrontierStep&& step, std::size_t from) {
    PathLabel label{labels_[from].value, from, step.choice, step.place};
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
    const auto [at, is_new] = next_.try_emplace(std::move(step.after), label);
    if (is_new) {
      ++examined_;
      next_bytes_ += bytes_of(at->first);
    } else if (label.value < at->second.value) {
      at->second = label;
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
        best = end->second.value < best->second.value ? end : best;
      }
      for (auto at = begin; at != end;) {
        const bool worse =
            at != best && best->second.value + lacking(best->first, at->first) <= at->second.value;
        next_bytes_ -= worse ? bytes_of(at->first) : 0;
        at = worse ? next_.erase(at) : std::next(at);
      }
      begin = end;
    }
  }

  PlanPath path_to(const PathLabel& end) const {
    PlanPath path;
    path.labels = examined_;
    path.value = end.value.first;
    path.tie = end.value.second;
    path.bound = std::min(path.value, dropped_);
    path.is_tie_open = dropped_ <= path.value;
    for (const PathLabel* label = &end; label->parent != kNone; label = &labels_[label->parent]) {
      if (label->choice) {
        path.steps.push_back({*label->choice, label->place});
      }
    }
    std::reverse(path.steps.begin(), path.steps.end());
    walk(problem_, aim_.weights, path.steps, aim_.ties);
    return path;
  }

  const PlanProblem& problem_;
  Aim aim_;
  Frontiers frontiers_;
  PlanSearches::Clock::time_point end_;
  std::optional<Rest> rest_{};
  std::vector<PathLabel> labels_;  // of all positions before the next one
  Reached next_;
  std::size_t next_bytes_ = 0;
  std::size_t examined_ = 1;
  double dropped_ = kInfinity;  // the least bound of what was dropped
  std::size_t peak_ = 0;        // [B]
};

}  // namespace

std::optional<PlanPath> shortest_path(const PlanProblem& problem, const Weights& weights,
                                      const Weights& ties) {
  return Search{problem, {weights, ties}}.run();
}

std::optional<PlanPath> path_or_none(const PlanProblem& problem, const Weights& weights) {
  try {
    return shortest_path(problem, weights);
  } catch (const NoPlanInBudget&) {
    return std::nullopt;
  }
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
