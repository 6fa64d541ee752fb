// SPDX-License-Identifier: Apache-2.0
#include "random_sparse.hpp"

#include <fmt/format.h>

#include <vector>

namespace mapsim {

namespace {

std::string pick(Rng& rng, const std::vector<std::string>& choices) {
  return choices[rng.below(choices.size())];
}

std::string random_format(Rng& rng) {
  return pick(rng, {"dense", "ideal", "bitmask", "coordinates 3 b", "coordinates", "runs 1 b",
                    "runs 2 b", "csr", "csc", "[bitmask, dense]", "[dense, coordinates]"});
}

std::string formats(Rng& rng) {
  return fmt::format("    format: {{input: {}, weight: {}, output: {}}}\n", random_format(rng),
                     random_format(rng), pick(rng, {"dense", "bitmask", "coordinates"}));
}

// Conditions that every level states; or none. Of a layer of two inputs, both lead.
std::string conditions(Rng& rng, bool skip) {
  std::string list;
  for (const std::string& each :
       {std::string{"weight, on: input"}, std::string{"input, on: weight"},
        pick(rng, {"output, on: weight", "output, on: input"})}) {
    if (rng.below(2) == 0) {
      list += fmt::format("{}{{{}: {}}}", list.empty() ? "" : ", ",
                          skip && rng.below(4) != 0 ? "skip" : "gate", each);
    }
  }
  return list.empty() || rng.below(4) == 0 ? "" : "    when_empty: [" + list + "]\n";
}

}  // namespace

std::string random_sparse_machine(Rng& rng, bool deep) {
  const bool skip = rng.below(2) == 0;
  const std::string when_empty = conditions(rng, skip);
  // Levels further in may state more.
  const std::string outermost = rng.below(4) == 0 ? "" : when_empty;
  const std::string fanout =
      rng.below(2) == 0
          ? ""
          : fmt::format(
                "  - fanout: PEs\n    x: 2\n    multicast: {}\n"
                "    spatial_reduction: {}\n",
                pick(rng, {"true", "false", "[input]"}), pick(rng, {"true", "false"}));
  const std::string reuse = pick(rng, {"", "    register_reuse: [weight]\n"});
  const std::string registers =
      !deep ? ""
            : fmt::format(
                  "  - storage: Registers\n    word: 8 b\n    capacity: {} b\n"
                  "    energy: {{read: 0.3 pJ/word, write: 0.4 pJ/word}}\n{}{}",
                  20 + rng.below(100), formats(rng), when_empty);
  return fmt::format(
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {{read: 20 pJ/word, write: 30 pJ/word, gated: 1 pJ/word, skipped: 0.5 "
      "pJ/word}}\n"
      "    bandwidth: {{shared: {} b/cycle}}\n    format: {{input: {}, weight: bitmask}}\n{}{}"
      "  - storage: Buffer\n    word: 8 b\n    capacity: {} b\n"
      "    energy: {{read: 2 pJ/word, write: 3 pJ/word}}\n    fits: {}\n{}{}{}"
      "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {}\n    gated_energy: 0.1 pJ\n{}",
      4 + rng.below(60), random_format(rng), outermost, fanout, 60 + rng.below(400),
      pick(rng, {"worst", "expected", "90 %"}), formats(rng), when_empty, registers,
      skip ? "skip" : "gate", reuse);
}

std::string random_sparse_layer(Rng& rng, bool deep) {
  if (!deep && rng.below(3) == 0) {
    return fmt::format(
        "name: w\neinsum:\n  equation: 'Z[M][N] += A[M][K] * B[K][L] * C[L][N]'\n"
        "  dims: {}\n  roles: {{A: input, B: weight, C: input}}\n"
        "density: {{A: {}, B: {}, C: {}}}\n",
        pick(rng,
             {"{M: 2, K: 2, L: 2, N: 2}", "{M: 1, K: 4, L: 3, N: 1}", "{M: 4, K: 1, L: 2, N: 2}"}),
        pick(rng, {"0.2", "0.5"}), pick(rng, {"0.3", "0.7", "1"}), pick(rng, {"0.3", "0.6"}));
  }
  const std::string bounds =
      deep ? pick(rng, {"{m: 2, n: 2, k: 2}", "{m: 2, n: 1, k: 4}", "{m: 4, n: 2, k: 1}"})
           : pick(rng, {"{m: 4, n: 2, k: 4}", "{m: 2, n: 4, k: 4}", "{m: 6, n: 2, k: 2}"});
  return fmt::format("name: w\ngemm: {}\ndensity: {{A: {}, B: {}}}\nprecision: {{partial: {} b}}\n",
                     bounds, pick(rng, {"0.2", "0.5", "0.9"}), pick(rng, {"0.3", "0.7", "1"}),
                     pick(rng, {"8", "16"}));
}

}  // namespace mapsim
