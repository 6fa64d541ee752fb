// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "costmodel/gpu/kernel.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// Widths of elements [b], shown at the head of every result, because energies, times and capacities
// depend on them.
// "operands 8 b, outputs 8 b, sums 32 b"; "I 8 b, W 4 b, outputs ..." where operands differ.
struct Widths {
  std::map<std::string, std::int64_t> operands;  // bits, by tensor
  std::int64_t outputs = 0;                      // finished
  std::int64_t sums = 0;                         // partial
};
Widths widths_of(const Workload& workload);
// The widths of a kernel on a GPU, which follow from its precision alone.
Widths widths_of(const GemmProblem& problem);

// The widths [b] of several layers, each once.
struct WidthSets {
  std::set<std::int64_t> operands;
  std::set<std::int64_t> outputs;  // as the next layer reads them
  std::set<std::int64_t> sums;     // while they are summed up

  void add(const Widths& widths);
};

std::string widths_text(const Widths& widths);  // the texts quoted above
// The texts of several layers in one line, each once and the most frequent first: "... (20 layers);
// ... (1 layer)".
std::string counted_widths(const std::vector<std::string>& of_layers);

}  // namespace mapsim
