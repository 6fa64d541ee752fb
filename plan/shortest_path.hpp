// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/load.hpp"
#include "plan/plan_searches.hpp"

namespace mapsim {

// What a plan is chosen from, in numbers: groups that cover the operations of a network, each at a
// place (an engine with a width and a layout of tensors), one after the other.
struct PlanProblem {
  struct Tensor {
    std::vector<std::size_t> readers{};  // operations
    // By from * places + to: what it takes until place `to` can read it where `from` can; nullopt:
    // there is no way. Empty: no ways at all.
    std::vector<std::optional<Load>> moves{};
    std::vector<double> bytes{};  // by place; empty: not known
    double least = 0;             // [B] wherever it lies
    // What an elided concat makes of it and others, where they lie. No cycles, and parts together
    // have no more `least` than their whole.
    std::optional<std::size_t> whole{};
    // By place: whether it only comes there as a copy of its own, beside the one that is converted.
    // Empty: not known, as if nowhere.
    std::vector<bool> is_copied{};
  };
  struct Choice {
    std::vector<std::size_t> operations;
    std::size_t anchor = 0;                  // where it stands in the order: plan/groups.hpp
    std::vector<std::size_t> reads, writes;  // tensors
    std::vector<std::optional<Load>> on;     // by place; nullopt: it does not run there
    // By place [B]: inputs of the network that only this group reads, which lie as it reads them.
    // Empty: none.
    std::vector<double> inputs{};
  };
  std::size_t operations = 0;
  std::size_t engines = 0;  // that loads may name
  std::size_t places = 0;   // at most 32
  // What tensors that are alive at once take at least (plan/needs.hpp) is to be no more. No plan
  // that fits is lost. Empty: there is no limit.
  std::optional<double> most_least{};
  // Tensors that are alive at once may take no more, if all copies live as long as the tensor.
  // Places of one storage share the bytes of a tensor. This loses plans that free a copy early, and
  // those that elide a concat. Empty: there is no limit.
  std::optional<double> most_alive{};
  std::vector<std::size_t> storage{};  // by place
  std::vector<Tensor> tensors;
  std::vector<Choice> choices;
  std::shared_ptr<PlanSearches> searches{};  // of this problem; none: nothing limits them
};

// When a search for plans that begins now should end.
inline PlanSearches::Clock::time_point end_of(const PlanProblem& problem) {
  return problem.searches ? problem.searches->end() : PlanSearches::Clock::time_point::max();
}

struct PlanMove {
  std::size_t tensor = 0, from = 0, to = 0;
  friend bool operator==(const PlanMove&, const PlanMove&) = default;
};
struct PlanStep {
  std::size_t choice = 0;
  std::size_t engine = 0;         // the place
  std::vector<PlanMove> moves{};  // before it
  friend bool operator==(const PlanStep&, const PlanStep&) = default;
};
struct PlanPath {
  std::vector<PlanStep> steps;  // by their anchors
  double value = 0;             // by the weights
  double tie = 0;               // by those for ties
  std::size_t labels = 0;       // partial plans that were examined
  double bound = 0;             // no plan has less; the value, unless the search ended early
  bool is_tie_open = false;     // another one may have less, or as little
};

// The plan of least value, of all that cover every operation once, and of those of one value the
// one that has least by `ties`; nullopt: there is none. A tensor is moved to an engine at most
// once, from the engine that has it and is cheapest. A label is the frontier between what has run
// and what has not: operations deferred to a group that stands later, those covered ahead, and for
// each tensor still to be read the engines that can read it. Of equal frontiers the cheaper one
// stays; and one is dropped that is dearer than another by more than what that one's tensors can
// ever cost more to move. Where memory or time does not suffice, the dearer half of the frontiers
// at a position is dropped, by what a plan through them takes at least; the least of that is a
// bound. If none of the others leads to the end, NoPlanInBudget is thrown.
std::optional<PlanPath> shortest_path(const PlanProblem& problem, const Weights& weights,
                                      const Weights& ties = {});

// The same; nullopt, too, where memory or time does not suffice.
std::optional<PlanPath> path_or_none(const PlanProblem& problem, const Weights& weights);

// The moves that steps need, filled in, and their value; nullopt: a tensor has no way to where it
// is read. Steps in the order of their anchors.
std::optional<double> walk(const PlanProblem& problem, const Weights& weights,
                           std::vector<PlanStep>& steps, const Weights& ties = {});

}  // namespace mapsim
