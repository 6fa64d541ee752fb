// SPDX-License-Identifier: Apache-2.0
// Compares search_chain() with brute force on tiny chains: fuzz_fusion FIRST COUNT.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "mapper/fusion/chain_search.hpp"
#include "tests/mapper/brute_chain.hpp"

int main(int argc, char** argv) {
  using namespace mapsim;
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100;
  std::int64_t trees = 0;
  int wrong = 0;
  int fused = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const TinyChain tiny = tiny_chain(seed);
    const double expected = least_energy_by_force(tiny.arch, tiny.chain, trees);
    const ChainResult found = search_chain(tiny.arch, tiny.chain, {}, {});
    const double energy = found.cost ? found.cost->energy.count() : HUGE_VAL;
    const ChainResult apart = search_chain(tiny.arch, tiny.chain, {1, true}, {});
    const bool pays = apart.cost && energy < apart.cost->energy.count() * (1 - 1e-9);
    fused += pays ? 1 : 0;
    if (pays && count <= 100) {
      fmt::print("seed {}: fusion pays; {} branches costed so far\n", seed, trees);
    }
    if (!(std::abs(energy - expected) <= 1e-9 * expected) && energy != expected) {
      ++wrong;
      fmt::print("seed {}: found {}, brute force {}\n{}{}", seed, energy, expected, describe(tiny),
                 found.best ? print_tree(tiny.arch, tiny.chain, *found.best) : "");
      std::fflush(stdout);
    }
  }
  fmt::print("{} chains, {} branches costed, fused best in {}, {} wrong\n", count, trees, fused,
             wrong);
  return wrong > 0 ? 1 : 0;
}
