// SPDX-License-Identifier: Apache-2.0
#include "plan/blocks.hpp"

#include <algorithm>

namespace mapsim {

namespace {

// By position p, in front of operation p: does a group have operations on both sides?
std::vector<bool> covered_positions(const PlanProblem& problem) {
  std::vector<bool> covered(problem.operations + 1, false);
  for (const PlanProblem::Choice& choice : problem.choices) {
    const auto [first, last] =
        std::minmax_element(choice.operations.begin(), choice.operations.end());
    for (std::size_t p = *first + 1; p <= *last; ++p) {
      covered[p] = true;
    }
  }
  return covered;
}

// By position, the tensor that alone is alive there; nullopt: none or several are.
std::vector<std::optional<std::size_t>> lone_tensors(
    const PlanProblem& problem, const std::vector<std::optional<std::size_t>>& producers) {
  std::vector<std::optional<std::size_t>> lone(problem.operations + 1);
  std::vector<std::size_t> alive(problem.operations + 1, 0);
  for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
    const auto& readers = problem.tensors[t].readers;
    if (!producers[t] || readers.empty()) {
      continue;
    }
    const std::size_t last = *std::max_element(readers.begin(), readers.end());
    for (std::size_t p = *producers[t] + 1; p <= last; ++p) {
      ++alive[p];
      lone[p] = t;
    }
  }
  for (std::size_t p = 0; p <= problem.operations; ++p) {
    if (alive[p] != 1) {
      lone[p] = std::nullopt;
    }
  }
  return lone;
}

}  // namespace

std::vector<std::optional<std::size_t>> producers_of(const PlanProblem& problem) {
  std::vector<std::optional<std::size_t>> producers(problem.tensors.size());
  for (const PlanProblem::Choice& choice : problem.choices) {
    if (choice.operations.size() == 1) {
      for (const std::size_t tensor : choice.writes) {
        producers[tensor] = choice.operations.front();
      }
    }
  }
  return producers;
}

std::vector<PlanBlock> blocks_of(const PlanProblem& problem) {
  const auto producers = producers_of(problem);
  const std::vector<bool> covered = covered_positions(problem);
  const auto lone = lone_tensors(problem, producers);
  std::vector<bool> is_read(problem.operations, false);  // an operation's results
  std::vector<bool> is_fed(problem.operations, false);   // it reads what another one makes
  for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
    for (const std::size_t reader : problem.tensors[t].readers) {
      is_fed[reader] = is_fed[reader] || producers[t].has_value();
      if (producers[t]) {
        is_read[*producers[t]] = true;
      }
    }
  }
  // Operations from here on that nothing feeds could run earlier.
  std::vector<bool> fed_from(problem.operations + 1, true);
  for (std::size_t p = problem.operations; p-- > 0;) {
    fed_from[p] = fed_from[p + 1] && is_fed[p];
  }
  std::vector<PlanBlock> blocks;
  std::size_t begin = 0;
  std::optional<std::size_t> in;
  for (std::size_t p = 1; p < problem.operations && is_read[p - 1]; ++p) {
    if (covered[p] || !lone[p] || !fed_from[p]) {
      continue;
    }
    blocks.push_back({begin, p, in, lone[p]});
    begin = p;
    in = lone[p];
  }
  blocks.push_back({begin, problem.operations, in, std::nullopt});
  return blocks;
}

}  // namespace mapsim
