// SPDX-License-Identifier: Apache-2.0
#include "plan/needs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mapsim {

namespace {

// Whether a tensor is a part, perhaps of a part, of another one in the list.
bool is_inside(const PlanProblem& problem, std::size_t tensor,
               const std::vector<std::size_t>& list) {
  for (auto whole = problem.tensors[tensor].whole; whole; whole = problem.tensors[*whole].whole) {
    if (std::find(list.begin(), list.end(), *whole) != list.end()) {
      return true;
    }
  }
  return false;
}

// Parts that would take more than their whole, if sizes did not add up, count as nothing; false:
// there were none.
bool drop_too_large(PlanProblem& problem) {
  std::vector<double> parts(problem.tensors.size(), 0);
  for (const PlanProblem::Tensor& tensor : problem.tensors) {
    if (tensor.whole) {
      parts[*tensor.whole] += tensor.least;
    }
  }
  bool dropped = false;
  for (PlanProblem::Tensor& tensor : problem.tensors) {
    if (tensor.whole && tensor.least > 0 &&
        parts[*tensor.whole] > problem.tensors[*tensor.whole].least) {
      tensor.least = 0;
      dropped = true;
    }
  }
  return dropped;
}

}  // namespace

double least_of(const PlanProblem& problem, const std::vector<std::size_t>& alive) {
  double bytes = 0;
  for (const std::size_t tensor : alive) {
    bytes += is_inside(problem, tensor, alive) ? 0 : problem.tensors[tensor].least;
  }
  return bytes;
}

void set_copies(PlanProblem& problem) {
  constexpr std::size_t kMostReads = 8;
  for (PlanProblem::Tensor& tensor : problem.tensors) {
    tensor.is_copied.assign(problem.places, true);
    for (std::size_t m = 0; m < tensor.moves.size(); ++m) {
      const std::size_t from = m / problem.places, to = m % problem.places;
      if (from != to && tensor.moves[m] && !tensor.moves[m]->engine) {
        tensor.is_copied[to] = false;
      }
    }
  }
  for (const PlanProblem::Choice& choice : problem.choices) {
    for (const std::size_t tensor : choice.reads) {
      if (choice.reads.size() > kMostReads) {
        problem.tensors[tensor].is_copied.assign(problem.places, false);
      }
    }
  }
}

void set_least(const std::vector<Place>& places, const Versions& versions, const Groups& groups,
               PlanProblem& problem) {
  for (const Group& group : groups.all) {
    for (const std::size_t tensor : group.reads) {
      if (group.elided && !group.writes.empty()) {
        problem.tensors[tensor].whole = group.writes.front();
      }
    }
  }
  for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
    PlanProblem::Tensor& tensor = problem.tensors[t];
    tensor.least = std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < places.size(); ++p) {
      const double bytes = bytes_of(versions.operations[p], t);
      tensor.least = std::min(tensor.least, tensor.whole ? bytes : tensor.bytes[p]);
    }
    tensor.least = std::round(tensor.least * kBitsPerByte) / kBitsPerByte;  // sums are exact
  }
  while (drop_too_large(problem)) {
  }
  set_copies(problem);
}

}  // namespace mapsim
