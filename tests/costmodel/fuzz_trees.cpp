// SPDX-License-Identifier: Apache-2.0
// fuzz_trees --trees N --seed S: compares the closed form of mapping trees with the simulator, and
// outputs with plain loops, on fresh random cases; stops at the first mismatch and exits with 1.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tests/costmodel/random_tree.hpp"

namespace {

int fuzz(std::uint64_t trees, std::uint64_t seed) {
  std::uint64_t nested = 0, parallel = 0, shared = 0, recomputed = 0, retained = 0, whole = 0,
                spilled = 0, graphs = 0;
  for (std::uint64_t i = 0; i < trees; ++i) {
    const mapsim::RandomTree random = mapsim::random_tree(seed + i);
    const std::string mismatch = mapsim::tree_mismatch(random);
    if (!mismatch.empty()) {
      fmt::print("seed {}: {}\n{}", seed + i, mismatch, mapsim::describe(random));
      return 1;
    }
    const mapsim::TreeTraits traits = mapsim::traits_of(random);
    nested += traits.nested ? 1 : 0;
    parallel += traits.parallel ? 1 : 0;
    shared += traits.shared ? 1 : 0;
    recomputed += traits.recomputed ? 1 : 0;
    retained += traits.retained ? 1 : 0;
    whole += traits.whole ? 1 : 0;
    spilled += traits.spilled ? 1 : 0;
    graphs += traits.graph ? 1 : 0;
  }
  fmt::print(
      "{} trees from seed {}, no mismatch: {} nested, {} over instances, {} with shared loops, {} "
      "recompute, {} "
      "retain "
      "points, {} hold an intermediate whole, {} spill, {} with several readers\n",
      trees, seed, nested, parallel, shared, recomputed, retained, whole, spilled, graphs);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Compares count_tree() with simulate_tree() on random cases"};
  std::uint64_t trees = 20'000;
  std::uint64_t seed = 1'000'000;
  app.add_option("--trees", trees, "how many cases");
  app.add_option("--seed", seed, "the first case's seed");
  CLI11_PARSE(app, argc, argv);
  return fuzz(trees, seed);
}
