// SPDX-License-Identifier: Apache-2.0
#include "plan/frontier.hpp"

#include <algorithm>
#include <utility>

#include "plan/needs.hpp"

namespace mapsim {

namespace {

using Index = Frontier::Index;

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

Frontier::Live* find_live(std::vector<Frontier::Live>& live, std::size_t tensor) {
  const auto at =
      std::lower_bound(live.begin(), live.end(), tensor,
                       [](const Frontier::Live& a, std::size_t t) { return a.tensor < t; });
  return at != live.end() && at->tensor == tensor ? &*at : nullptr;
}

bool are_deferred(const PlanProblem::Choice& choice, std::size_t before, const Frontier& frontier) {
  return std::all_of(choice.operations.begin(), choice.operations.end(),
                     [&](std::size_t j) { return j >= before || has(frontier.deferred, j); });
}

bool fits(const PlanProblem::Choice& choice, std::size_t i, const Frontier& frontier) {
  return are_deferred(choice, i, frontier) &&
         std::all_of(choice.operations.begin(), choice.operations.end(),
                     [&](std::size_t j) { return j <= i || !has(frontier.ahead, j); });
}

}  // namespace

Frontiers::Frontiers(const PlanProblem& problem)
    : problem_{problem},
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

std::vector<FrontierStep> Frontiers::steps(std::size_t i, const Frontier& frontier) const {
  std::vector<FrontierStep> found;
  if (has(frontier.ahead, i)) {
    FrontierStep step{frontier};
    erase(step.after.ahead, i);
    keep(i, std::move(step), found);
    return found;
  }
  for (const std::size_t c : anchored_[i]) {
    if (fits(problem_.choices[c], i, frontier)) {
      for (std::size_t place = 0; place < problem_.places; ++place) {
        run(i, c, place, frontier, found);
      }
    }
  }
  const bool may_wait = std::any_of(contains_[i].begin(), contains_[i].end(), [&](std::size_t c) {
    const PlanProblem::Choice& choice = problem_.choices[c];
    return choice.anchor > i && are_deferred(choice, i, frontier);
  });
  if (may_wait) {
    FrontierStep step{frontier};
    insert(step.after.deferred, i);
    keep(i, std::move(step), found);
  }
  return found;
}

void Frontiers::run(std::size_t i, std::size_t c, std::size_t place, const Frontier& frontier,
                    std::vector<FrontierStep>& steps) const {
  const PlanProblem::Choice& choice = problem_.choices[c];
  if (!choice.on[place]) {
    return;
  }
  FrontierStep step{frontier, c, place};
  for (const std::size_t tensor : choice.reads) {
    Frontier::Live* live = find_live(step.after.live, tensor);
    if (live == nullptr) {
      return;  // not made yet: its producer waits for another group
    }
    if ((live->places >> place & 1) == 0) {
      step.fetched.push_back({tensor, live->places});
      live->places |= PlaceMask{1} << place;
    }
  }
  if ((problem_.most_least && least(step) > *problem_.most_least) ||
      (problem_.most_alive && alive(step.after, choice, place) > *problem_.most_alive)) {
    return;
  }
  for (const std::size_t j : choice.operations) {
    if (j < i) {
      erase(step.after.deferred, j);
    } else if (j > i) {
      insert(step.after.ahead, j);
    }
  }
  for (const std::size_t tensor : choice.writes) {
    step.after.live.push_back({static_cast<Index>(tensor), PlaceMask{1} << place});
  }
  std::sort(step.after.live.begin(), step.after.live.end());
  keep(i, std::move(step), steps);
}

double Frontiers::least(const FrontierStep& step) const {
  std::vector<std::size_t> alive = problem_.choices[*step.choice].writes;
  for (const Frontier::Live& live : step.after.live) {
    alive.push_back(live.tensor);
  }
  const std::vector<double>& inputs = problem_.choices[*step.choice].inputs;
  double bytes = least_of(problem_, alive) + (inputs.empty() ? 0 : inputs[step.place]);
  for (const FrontierStep::Fetch& fetch : step.fetched) {
    const PlanProblem::Tensor& tensor = problem_.tensors[fetch.tensor];
    bytes += !tensor.is_copied.empty() && tensor.is_copied[step.place] ? tensor.least : 0;
  }
  return bytes;
}

// Bytes of all tensors while a group runs.
double Frontiers::alive(const Frontier& frontier, const PlanProblem::Choice& choice,
                        std::size_t place) const {
  double bytes = choice.inputs.empty() ? 0 : choice.inputs[place];
  for (const Frontier::Live& live : frontier.live) {
    PlaceMask counted = 0;
    for (std::size_t p = 0; p < problem_.places; ++p) {
      const PlaceMask storage = PlaceMask{1} << problem_.storage[p];
      if ((live.places >> p & 1) != 0 && (counted & storage) == 0) {
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

// A step behind operation i, unless what it defers has no group left; without tensors that are read
// no more.
void Frontiers::keep(std::size_t i, FrontierStep&& step, std::vector<FrontierStep>& steps) const {
  for (const Index j : step.after.deferred) {
    if (last_anchor_[j] <= i) {
      return;
    }
  }
  std::erase_if(step.after.live, [&](const Frontier::Live& live) {
    const auto& readers = problem_.tensors[live.tensor].readers;
    return std::all_of(readers.begin(), readers.end(), [&](std::size_t reader) {
      return reader <= i ? !has(step.after.deferred, reader) : has(step.after.ahead, reader);
    });
  });
  steps.push_back(std::move(step));
}

}  // namespace mapsim
