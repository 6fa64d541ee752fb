// SPDX-License-Identifier: Apache-2.0
// Bounds by phases (mapper/bounds/phases.hpp).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "core/rng.hpp"
#include "costmodel/evaluate.hpp"
#include "exact_check.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/unrolling.hpp"
#include "random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::phases_test {
namespace {

// Per class of unrollings the least value of all mappings.
std::vector<double> optima_of(const Mapspace& space, const Objective& objective) {
  std::vector<double> best(space.unrolling_classes().size(), exact::kInfinity);
  space.enumerate([&](const Mapping& mapping) {
    const Evaluation evaluation = evaluate(space.problem(), mapping);
    if (const Cost* cost = std::get_if<Cost>(&evaluation)) {
      const auto used = used_instances(space.problem(), mapping);
      for (std::size_t g = 0; g < best.size(); ++g) {
        if (space.unrolling_classes()[g].factors == used) {
          best[g] = std::min(best[g], objective_value(objective, *cost));
        }
      }
    }
    return true;
  });
  return best;
}

// Holds the bounds of all classes to all mappings. Returns how many are at least a thousandth above
// the bound without phases.
int closer_bounds(const Mapspace& space, const Objective& objective, const std::string& name) {
  const exact::UnrollingTasks classes{space, objective};
  const std::vector<double> best = optima_of(space, objective);
  std::vector<double> bounds;
  int closer = 0;
  for (std::size_t g = 0; g < classes.size(); ++g) {
    const double bound = classes.bound_by_phases(g, exact::kInfinity).first;
    bounds.push_back(bound);
    EXPECT_GE(bound, classes.bound(g).first * (1 - 3 * kRounding)) << name;
    closer += bound > classes.bound(g).first * 1.001 ? 1 : 0;
    const double enough = 0.9 * bound;
    EXPECT_GE(classes.bound_by_phases(g, enough).first, enough * (1 - kRounding)) << name;
  }
  for (std::size_t g = 0; g < classes.size(); ++g) {
    double least = bounds[g];  // of the classes from which the mappings cannot be told
    for (std::size_t h = 0; h < classes.size(); ++h) {
      least = classes.unrolling(h).factors == classes.unrolling(g).factors
                  ? std::min(least, bounds[h])
                  : least;
    }
    EXPECT_LE(least, best[g] * (1 + kRounding)) << name << ", class " << g;
  }
  return closer;
}

// Whatever the tiles and loops, with windows, partial tiles and idle instances.
TEST(Phases, AreNoMoreThanAnyMappingOfTheirClassCosts) {
  int closer = 0;
  constexpr std::uint64_t kFirst = 90'000;
  for (std::uint64_t seed = kFirst; seed < kFirst + tried_of(200U); ++seed) {
    const SearchCase random = random_imperfect_space(seed, 1'500);
    for (const Objective& objective : {Objective::kEnergy, Objective::kEdp}) {
      closer += closer_bounds(Mapspace{random.problem, random.constraints}, objective,
                              "seed " + std::to_string(seed));
    }
  }
  EXPECT_GT(closer, 5);
}

// Weights go straight to the compute units' level, inputs and sums stop at a buffer that they
// share.
TEST(Phases, AreNoMoreThanMappingsOfSmallArraysCost) {
  const std::string arch = R"(name: g
nodes:
  - {{storage: DRAM, capacity: unlimited, energy: {{read: 50 pJ/b, write: 40 pJ/b}}}}
  - storage: GLB
    capacity: {} B
    keep: [input, output]
    bypass: [weight]
    energy: {{read: 6 pJ/b, write: 5 pJ/b}}
  - {{fanout: PEs, x: {{size: 3, dims: [{}]}}, multicast: [input, weight], spatial_reduction: {}}}
  - storage: spad
    capacity: {{input: {} B, weight: {} B, output: {} B}}
    keep: [input, weight, output]
    energy: {{read: 1 pJ/b, write: 2 pJ/b}}
  - {{compute: MAC, energy: 1 pJ}}
)";
  struct Layer {
    const char* equation;
    const char* dims;
    std::vector<const char*> along;
  };
  const std::vector<Layer> layers = {
      {"Z[M][N] += A[M][K] * B[K][N]", "{M: 2, N: 5, K: 2}", {"M", "N", "K"}},
      {"Z[M][N] += A[M][K] * B[K][N]", "{M: 3, N: 1, K: 4}", {"M", "K"}},
      {"Z[k][p] += A[p+r] * B[k][r]", "{k: 2, p: 3, r: 2}", {"k", "p", "r"}},
      {"Z[k][p] += A[2*p+r] * B[k][r]", "{k: 3, p: 2, r: 2}", {"k", "p"}},
  };
  Rng rng{7};
  int closer = 0;
  for (int i = 0; i < tried_of(24); ++i) {
    const Layer& layer = layers[static_cast<std::size_t>(i) % layers.size()];
    const std::string wide = i % 3 == 0 ? "32 b" : "8 b";
    const auto draw = [&rng](int least, int most) {
      return least + static_cast<int>(rng.below(static_cast<std::uint64_t>(most - least + 1)));
    };
    const int sum = i % 3 == 0 ? 4 : 1;
    const std::string text =
        fmt::format(fmt::runtime(arch), draw(3, 14) + 2 * sum,
                    layer.along[static_cast<std::size_t>(draw(0, 100)) % layer.along.size()],
                    i % 2 == 0 ? "true" : "false", draw(1, 3), draw(1, 6), sum * draw(1, 3));
    const Problem problem{
        parse_arch(text, "arch"),
        parse_workload(fmt::format("name: w\neinsum:\n  equation: {}\n  dims: {}\n"
                                   "  roles: {{A: input, B: weight}}\n"
                                   "precision: {{A: 8 b, B: 8 b, Z: 8 b, partial: {}}}\n",
                                   layer.equation, layer.dims, wide),
                       "layer")};
    Constraints constraints;
    constraints.factors.imperfect = true;
    const Mapspace space{problem, constraints};
    closer += closer_bounds(space, Objective::kEnergy, text);
  }
  EXPECT_GT(closer, tried_of(24) / 4);
}

// DRAM, an array of three with the dims, and two levels in it with these capacities.
SearchCase case_of(const std::string& dims, const std::string& outer, const std::string& inner,
                   const std::string& layer) {
  const std::string arch = fmt::format(R"(name: g
nodes:
  - {{storage: DRAM, capacity: unlimited, energy: {{read: 50 pJ/b, write: 50 pJ/b}}}}
  - {{fanout: PEs, x: {{size: 3, dims: [{}]}}, multicast: true, spatial_reduction: true}}
  - storage: L1
    capacity: {{{}}}
    keep: [input, weight, output]
    energy: {{read: 0.001 pJ/b, write: 0.001 pJ/b}}
  - storage: spad
    capacity: {{{}}}
    keep: [input, weight, output]
    energy: {{read: 0.0001 pJ/b, write: 0.0001 pJ/b}}
  - {{compute: MAC, energy: 1 pJ}}
)",
                                       dims, outer, inner);
  SearchCase at{{parse_arch(arch, "arch"), parse_workload(layer, "layer")}, {}};
  at.constraints.factors.imperfect = true;
  return at;
}

double least_energy(const SearchCase& at) {
  const SearchResult result = search_exact(Mapspace{at.problem, at.constraints}, {});
  EXPECT_EQ(result.certificate.status, Proof::kOptimal);
  return result.cost ? result.cost->energy.total.count() : 0;
}

// While a loop over r inside the instances moves, r of the instances are apart: each has a block.
// A[3p + r] with such r shares more than with neighbours.
TEST(Phases, KnowThatInstancesMayWorkOnIndicesThatAreNoNeighbours) {
  const SearchCase at = case_of("r", "input: 8 B, weight: 6 B, output: 1 b",
                                "input: 2 B, weight: 2 B, output: 1 b", R"(name: w
einsum:
  equation: Z[k][p] += A[3*p+r] * B[k][r]
  dims: {k: 3, p: 11, r: 8}
  roles: {A: input, B: weight}
precision: {A: 16 b, B: 16 b, Z: 1 b, partial: 1 b}
)");
  EXPECT_NEAR(least_energy(at), 58'123.5, 0.1);
}

// Of 13, tiles of 13, 7 and 1 in three instances: together they may work on two or three.
TEST(Phases, KnowThatInstancesTogetherHaveOtherExtentsThanTiles) {
  SearchCase at = case_of("H, M, N, K", "input: 3 B, weight: 1 B, output: 2 B",
                          "input: 1 B, weight: 1 B, output: 1 B", R"(name: w
einsum:
  equation: Z[H][M][N] += A[H][M][K] * B[K][N]
  dims: {H: 7, M: 13, N: 5, K: 3}
  roles: {A: input, B: weight}
precision: {A: 8 b, B: 8 b, Z: 8 b, partial: 8 b}
)");
  at.constraints.factors.pieces = 2;
  EXPECT_NEAR(least_energy(at), 586'613.8, 0.1);
}

}  // namespace
}  // namespace mapsim::phases_test
