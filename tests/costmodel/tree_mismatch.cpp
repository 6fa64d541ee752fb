// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "costmodel/fusion/evaluate_tree.hpp"
#include "costmodel/reference/simulate_tree.hpp"
#include "tests/costmodel/random_tree.hpp"
#include "validate/agreement.hpp"

namespace mapsim {

namespace {

std::string differences(const RandomTree& random, const TreeCounts& closed,
                        const TreeCounts& walked) {
  std::string text;
  for (std::size_t e = 0; e < random.chain.einsums.size(); ++e) {
    const Workload& workload = random.chain.einsums[e];
    const Agreement agreement =
        compare_counts(random.arch, workload, closed.einsums[e], walked.einsums[e]);
    for (const CountDifference& difference : agreement.differences) {
      text += fmt::format("{} {}: {}, simulated {}\n", workload.name, difference.name,
                          difference.model, difference.simulated);
    }
  }
  for (std::size_t i = 0; i < random.chain.intermediates.size(); ++i) {
    const IntermediateCounts& a = closed.intermediates[i];
    const IntermediateCounts& b = walked.intermediates[i];
    if (a != b) {
      text += fmt::format("{}: made {} live {} carried {}, simulated {} {} {}\n",
                          random.chain.intermediates[i].name, a.made, a.held.live, a.held.carried,
                          b.made, b.held.live, b.held.carried);
    }
  }
  return text.empty() && closed != walked ? "counts differ\n" : text;
}

}  // namespace

std::string tree_mismatch(const RandomTree& random) {
  const auto& [arch, chain, tree, tries] = random;
  const std::vector<PerTensor<DenseTensor>> operands = random_operands(chain, 1);
  constexpr std::int64_t kMostSteps = 10'000'000;
  try {
    const TreeSimulation simulation = simulate_tree(arch, chain, tree, operands, kMostSteps);
    std::string text = differences(random, count_tree(arch, chain, tree), simulation.counts);
    const std::vector<DenseTensor> expected = plain_loops(chain, operands);
    for (std::size_t e = 0; e < chain.einsums.size(); ++e) {
      if (!chain.intermediate_of({e, chain.einsums[e].output()}) &&
          count_wrong(expected[e], simulation.outputs[e]) != 0) {
        text += fmt::format("the output of {} is wrong\n", chain.einsums[e].name);
      }
    }
    const std::string printed = print_tree(arch, chain, tree);
    if (parse_tree(printed, "printed", arch, chain) != tree) {
      text += "the tree is not read back as it was printed\n";
    }
    return text;
  } catch (const std::exception& fault) {
    return fault.what();
  }
}

std::string describe(const RandomTree& random) {
  std::string text;
  for (const Workload& workload : random.chain.einsums) {
    text += fmt::format("{}: {};", workload.name, workload.equation());
    for (const Dim& dim : workload.dims) {
      text += fmt::format(" {} {}", dim.name, dim.bound);
    }
    text += '\n';
  }
  for (const Intermediate& t : random.chain.intermediates) {
    text += fmt::format("{} from e{} to", t.name, t.producer);
    for (const ChainTensor& use : t.readers) {
      text += fmt::format(" e{}", use.einsum);
    }
    text += '\n';
  }
  for (const Storage& level : random.arch.levels) {
    text += fmt::format("{}{} ", level.name, level.sliding ? " slides" : "");
  }
  return text + '\n' + print_tree(random.arch, random.chain, random.tree);
}

}  // namespace mapsim
