// SPDX-License-Identifier: Apache-2.0
#include "plan/block_parts.hpp"

#include <algorithm>

namespace mapsim {

BlockParts::BlockParts(const PlanProblem& problem, const PlanBlock& block)
    : begin{block.begin},
      operations{block.end - block.begin},
      local(problem.tensors.size(), kNone),
      reads(operations),
      containing(operations) {
  const auto inside = [&](std::size_t i) { return block.begin <= i && i < block.end; };
  for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
    const auto& readers = problem.tensors[t].readers;
    if (std::none_of(readers.begin(), readers.end(), inside)) {
      continue;
    }
    local[t] = tensors.size();
    for (const std::size_t reader : readers) {
      if (inside(reader)) {
        reads[reader - begin].push_back(tensors.size());
      }
    }
    tensors.push_back(t);
  }
  for (std::size_t c = 0; c < problem.choices.size(); ++c) {
    const PlanProblem::Choice& choice = problem.choices[c];
    if (!inside(choice.operations.front())) {
      continue;
    }
    Set set = 0;
    for (const std::size_t i : choice.operations) {
      set |= operations <= kMostOperations ? Set{1} << (i - begin) : 0;
      containing[i - begin].push_back(choices.size());
    }
    choices.push_back(c);
    sets.push_back(set);
  }
  const auto producers = producers_of(problem);
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    if (producers[tensors[k]] && inside(*producers[tensors[k]])) {
      made_in_order.push_back(k);
    }
  }
  std::sort(made_in_order.begin(), made_in_order.end(), [&](std::size_t a, std::size_t b) {
    return *producers[tensors[a]] < *producers[tensors[b]];
  });
}

}  // namespace mapsim
