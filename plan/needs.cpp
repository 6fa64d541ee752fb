// SPDX-License-Identifier: Apache-2.0
#include "plan/needs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

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

namespace {

double whole_bits(double bytes) { return std::round(bytes * kBitsPerByte) / kBitsPerByte; }

// Inputs of the network that one operation alone reads.
void set_inputs(const std::vector<Place>& places, const Versions& versions, PlanProblem& problem) {
  const Operations& operations = versions.operations.front();
  const GraphLinks links = links_of(*operations.graph);
  std::vector<std::set<std::size_t>> readers(operations.graph->tensors.size());
  for (std::size_t i = 0; i < operations.all.size(); ++i) {
    for (const GraphUse& use : operations.node(i).in) {
      readers[source_of(*operations.graph, links, use.tensor)].insert(i);
    }
  }
  for (PlanProblem::Choice& choice : problem.choices) {
    choice.inputs.assign(places.size(), 0);
    for (std::size_t t = 0; t < readers.size(); ++t) {
      const bool is_input =
          readers[t].size() == 1 && !links.producer[t] && !operations.graph->tensors[t].constant;
      if (!is_input || std::find(choice.operations.begin(), choice.operations.end(),
                                 *readers[t].begin()) == choice.operations.end()) {
        continue;
      }
      for (std::size_t p = 0; p < places.size(); ++p) {
        const GraphTensor& tensor = versions.operations[p].graph->tensors[t];
        choice.inputs[p] +=
            whole_bits(bytes_of(versions.operations[p], t) * padding_of(tensor, places[p].format));
      }
    }
  }
}

}  // namespace

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
  for (PlanProblem::Tensor& tensor : problem.tensors) {  // copies of both may be one buffer
    if (tensor.whole) {
      tensor.is_copied.assign(problem.places, false);
      problem.tensors[*tensor.whole].is_copied.assign(problem.places, false);
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
    tensor.least = whole_bits(tensor.least);  // sums are exact
  }
  while (drop_too_large(problem)) {
  }
  set_copies(problem);
  set_inputs(places, versions, problem);
}

}  // namespace mapsim
