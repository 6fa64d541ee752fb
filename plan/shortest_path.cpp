// SPDX-License-Identifier: Apache-2.0
#include "plan/shortest_path.hpp"

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <utility>

namespace mapsim {

namespace {

using Mask = std::uint32_t;  // engines
using Index = std::uint32_t;

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

struct Live {
  Index tensor = 0;
  Mask engines = 0;
  friend auto operator<=>(const Live&, const Live&) = default;
};

// Between what has run and what has not. All sorted.
struct Frontier {
  std::vector<Index> deferred;  // before the place of the label, not covered
  std::vector<Index> ahead;     // behind it, covered
  std::vector<Live> live;
  friend auto operator<=>(const Frontier&, const Frontier&) = default;
};

bool has(const std::vector<Index>& sorted, std::size_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), static_cast<Index>(value));
}
void insert(std::vector<Index>& sorted, std::size_t value) {
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), static_cast<Index>(value)),
                static_cast<Index>(value));
}
void erase(std::vector<Index>& sorted, std::size_t value) {
  std::erase(sorted, static_cast<Index>(value));
}

Live* find_live(std::vector<Live>& live, std::size_t tensor) {
  const auto at = std::lower_bound(live.begin(), live.end(), tensor,
                                   [](const Live& a, std::size_t t) { return a.tensor < t; });
  return at != live.end() && at->tensor == tensor ? &*at : nullptr;
}

// The cheapest way of a tensor to an engine from those that can read it.
struct Way {
  double value = std::numeric_limits<double>::infinity();
  std::size_t from = kNone;
};
Way cheapest(const PlanProblem& problem, const Weights& weights, std::size_t tensor, Mask engines,
             std::size_t to) {
  Way best;
  const auto& moves = problem.tensors[tensor].moves;
  for (std::size_t from = 0; from < problem.places && !moves.empty(); ++from) {
    const std::optional<Load>& move = moves[from * problem.places + to];
    if ((engines >> from & 1) != 0 && move && weights.of(*move) < best.value) {
      best = {weights.of(*move), from};
    }
  }
  return best;
}

struct Label {
  double value = 0;
  std::size_t parent = kNone;  // in the list of all labels
  std::size_t choice = kNone;  // kNone: nothing ran here
  std::size_t engine = 0;
};

class Search {
 public:
  Search(const PlanProblem& problem, const Weights& weights)
      : problem_{problem},
        weights_{weights},
        anchored_(problem.operations),
        contains_(problem.operations),
        last_anchor_(problem.operations, 0) {
    for (std::size_t c = 0; c < problem.choices.size(); ++c) {
      const PlanProblem::Choice& choice = problem.choices[c];
      anchored_[choice.anchor].push_back(c);
      for (const std::size_t i : choice.operations) {
        contains_[i].push_back(c);
        last_anchor_[i] = std::max(last_anchor_[i], choice.anchor);
      }
    }
  }

  std::optional<PlanPath> run() {
    labels_.push_back({});
    std::map<Frontier, std::size_t> now{{Frontier{}, 0}};
    for (std::size_t i = 0; i < problem_.operations; ++i) {
      next_.clear();
      for (const auto& [frontier, label] : now) {
        expand(i, frontier, label);
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
  void expand(std::size_t i, const Frontier& frontier, std::size_t label) {
    if (has(frontier.ahead, i)) {
      Frontier after = frontier;
      erase(after.ahead, i);
      keep(i, std::move(after), {labels_[label].value, label, kNone, 0});
      return;
    }
    for (const std::size_t c : anchored_[i]) {
      if (fits(problem_.choices[c], i, frontier)) {
        for (std::size_t engine = 0; engine < problem_.places; ++engine) {
          run_on(i, c, engine, frontier, label);
        }
      }
    }
    const bool may_wait = std::any_of(contains_[i].begin(), contains_[i].end(), [&](std::size_t c) {
      const PlanProblem::Choice& choice = problem_.choices[c];
      return choice.anchor > i && are_deferred(choice, i, frontier);
    });
    if (may_wait) {
      Frontier after = frontier;
      insert(after.deferred, i);
      keep(i, std::move(after), {labels_[label].value, label, kNone, 0});
    }
  }

  static bool are_deferred(const PlanProblem::Choice& choice, std::size_t before,
                           const Frontier& frontier) {
    return std::all_of(choice.operations.begin(), choice.operations.end(),
                       [&](std::size_t j) { return j >= before || has(frontier.deferred, j); });
  }
  static bool fits(const PlanProblem::Choice& choice, std::size_t i, const Frontier& frontier) {
    return are_deferred(choice, i, frontier) &&
           std::all_of(choice.operations.begin(), choice.operations.end(),
                       [&](std::size_t j) { return j <= i || !has(frontier.ahead, j); });
  }

  void run_on(std::size_t i, std::size_t c, std::size_t engine, const Frontier& frontier,
              std::size_t label) {
    const PlanProblem::Choice& choice = problem_.choices[c];
    if (!choice.on[engine]) {
      return;
    }
    Frontier after = frontier;
    double value = labels_[label].value + weights_.of(*choice.on[engine]);
    for (const std::size_t tensor : choice.reads) {
      Live* live = find_live(after.live, tensor);
      if (live == nullptr) {
        return;  // not made yet: its producer waits for another group
      }
      if ((live->engines >> engine & 1) == 0) {
        value += cheapest(problem_, weights_, tensor, live->engines, engine).value;
        live->engines |= Mask{1} << engine;
      }
    }
    if (value == std::numeric_limits<double>::infinity()) {
      return;
    }
    if (problem_.most_alive && alive(after, choice, engine) > *problem_.most_alive) {
      return;
    }
    for (const std::size_t j : choice.operations) {
      if (j < i) {
        erase(after.deferred, j);
      } else if (j > i) {
        insert(after.ahead, j);
      }
    }
    for (const std::size_t tensor : choice.writes) {
      after.live.push_back({static_cast<Index>(tensor), Mask{1} << engine});
    }
    std::sort(after.live.begin(), after.live.end());
    keep(i, std::move(after), {value, label, c, engine});
  }

  // Bytes of all tensors while a group runs.
  double alive(const Frontier& frontier, const PlanProblem::Choice& choice,
               std::size_t place) const {
    double bytes = 0;
    for (const Live& live : frontier.live) {
      Mask counted = 0;
      for (std::size_t p = 0; p < problem_.places; ++p) {
        const Mask storage = Mask{1} << problem_.storage[p];
        if ((live.engines >> p & 1) != 0 && (counted & storage) == 0) {
          counted |= storage;
          bytes += problem_.tensors[live.tensor].bytes[p];
        }
      }
    }
    for (const std::size_t tensor : choice.writes) {
      bytes += problem_.tensors[tensor].bytes[place];
    }
    return bytes;
  }

  // A frontier behind operation i, if nothing cheaper has come to it.
  void keep(std::size_t i, Frontier&& after, const Label& label) {
    for (const Index j : after.deferred) {
      if (last_anchor_[j] <= i) {
        return;  // no group is left that it could wait for
      }
    }
    std::erase_if(after.live, [&](const Live& live) {
      const auto& readers = problem_.tensors[live.tensor].readers;
      return std::all_of(readers.begin(), readers.end(), [&](std::size_t reader) {
        return reader <= i ? !has(after.deferred, reader) : has(after.ahead, reader);
      });
    });
    const auto [at, is_new] = next_.try_emplace(std::move(after), labels_.size());
    if (is_new) {
      labels_.push_back(label);
    } else if (label.value < labels_[at->second].value) {
      labels_[at->second] = label;
    }
  }

  // The most that a plan can pay more from one frontier on than from another that differs only in
  // where tensors can be read: moves to where the other has them, and what moves elsewhere cost
  // more from here. What the plan itself moves meanwhile, both have.
  double lacking(const Frontier& from, const Frontier& to) const {
    double value = 0;
    for (std::size_t k = 0; k < from.live.size(); ++k) {
      const Live& here = from.live[k];
      const Live& there = to.live[k];
      for (std::size_t e = 0; e < problem_.places; ++e) {
        if ((here.engines >> e & 1) != 0) {
          continue;
        }
        const double mine = cheapest(problem_, weights_, here.tensor, here.engines, e).value;
        const double other =
            (there.engines >> e & 1) != 0
                ? 0
                : cheapest(problem_, weights_, here.tensor, there.engines, e).value;
        value += mine > other ? mine - other : 0;
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
    path.value = labels_[label].value;
    for (; label != kNone; label = labels_[label].parent) {
      if (labels_[label].choice != kNone) {
        path.steps.push_back({labels_[label].choice, labels_[label].engine});
      }
    }
    std::reverse(path.steps.begin(), path.steps.end());
    walk(problem_, weights_, path.steps);
    return path;
  }

  const PlanProblem& problem_;
  const Weights& weights_;
  std::vector<std::vector<std::size_t>> anchored_;  // choices, by operation
  std::vector<std::vector<std::size_t>> contains_;
  std::vector<std::size_t> last_anchor_;
  std::vector<Label> labels_;
  std::map<Frontier, std::size_t> next_;
};

}  // namespace

std::optional<PlanPath> shortest_path(const PlanProblem& problem, const Weights& weights) {
  return Search{problem, weights}.run();
}

std::optional<double> walk(const PlanProblem& problem, const Weights& weights,
                           std::vector<PlanStep>& steps) {
  double value = 0;
  std::vector<Mask> engines(problem.tensors.size(), 0);
  for (PlanStep& step : steps) {
    const PlanProblem::Choice& choice = problem.choices[step.choice];
    if (!choice.on[step.engine]) {
      return std::nullopt;
    }
    step.moves.clear();
    value += weights.of(*choice.on[step.engine]);
    for (const std::size_t tensor : choice.reads) {
      if ((engines[tensor] >> step.engine & 1) != 0) {
        continue;
      }
      const Way way = cheapest(problem, weights, tensor, engines[tensor], step.engine);
      if (way.from == kNone) {
        return std::nullopt;
      }
      value += way.value;
      step.moves.push_back({tensor, way.from, step.engine});
      engines[tensor] |= Mask{1} << step.engine;
    }
    for (const std::size_t tensor : choice.writes) {
      engines[tensor] = Mask{1} << step.engine;
    }
  }
  return value;
}

}  // namespace mapsim
