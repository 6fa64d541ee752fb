// SPDX-License-Identifier: Apache-2.0
#include "phase_cases.hpp"

#include <fmt/format.h>

#include <vector>

#include "arch/load.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

struct Layer {
  const char* equation;
  const char* dims;
  std::vector<const char*> along;
};

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

}  // namespace

SearchCase small_array_case(Rng& rng, int i) {
  static const std::string arch = R"(name: g
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
  static const std::vector<Layer> layers = {
      {"Z[M][N] += A[M][K] * B[K][N]", "{M: 2, N: 5, K: 2}", {"M", "N", "K"}},
      {"Z[M][N] += A[M][K] * B[K][N]", "{M: 3, N: 1, K: 4}", {"M", "K"}},
      {"Z[k][p] += A[p+r] * B[k][r]", "{k: 2, p: 3, r: 2}", {"k", "p", "r"}},
      {"Z[k][p] += A[2*p+r] * B[k][r]", "{k: 3, p: 2, r: 2}", {"k", "p"}},
  };
  const Layer& layer = layers[static_cast<std::size_t>(i) % layers.size()];
  const std::string wide = i % 3 == 0 ? "32 b" : "8 b";
  const auto draw = [&rng](int least, int most) {
    return least + static_cast<int>(rng.below(static_cast<std::uint64_t>(most - least + 1)));
  };
  const int sum = i % 3 == 0 ? 4 : 1;
  const int buffer = draw(3, 14) + 2 * sum;
  const char* along = layer.along[static_cast<std::size_t>(draw(0, 100)) % layer.along.size()];
  const int input = draw(1, 3);
  const int weight = draw(1, 6);
  const std::string text =
      fmt::format(fmt::runtime(arch), buffer, along, i % 2 == 0 ? "true" : "false", input, weight,
                  sum * draw(1, 3));
  SearchCase at{{parse_arch(text, "arch"),
                 parse_workload(fmt::format("name: w\neinsum:\n  equation: {}\n  dims: {}\n"
                                            "  roles: {{A: input, B: weight}}\n"
                                            "precision: {{A: 8 b, B: 8 b, Z: 8 b, partial: {}}}\n",
                                            layer.equation, layer.dims, wide),
                                "layer")},
                {}};
  at.constraints.factors.imperfect = true;
  return at;
}

SearchCase case_of_blocks_apart() {
  return case_of("r", "input: 8 B, weight: 6 B, output: 1 b",
                 "input: 2 B, weight: 2 B, output: 1 b", R"(name: w
einsum:
  equation: Z[k][p] += A[3*p+r] * B[k][r]
  dims: {k: 3, p: 11, r: 8}
  roles: {A: input, B: weight}
precision: {A: 16 b, B: 16 b, Z: 1 b, partial: 1 b}
)");
}

SearchCase case_of_extents_together() {
  SearchCase at = case_of("H, M, N, K", "input: 3 B, weight: 1 B, output: 2 B",
                          "input: 1 B, weight: 1 B, output: 1 B", R"(name: w
einsum:
  equation: Z[H][M][N] += A[H][M][K] * B[K][N]
  dims: {H: 7, M: 13, N: 5, K: 3}
  roles: {A: input, B: weight}
precision: {A: 8 b, B: 8 b, Z: 8 b, partial: 8 b}
)");
  at.constraints.factors.pieces = 2;
  return at;
}

}  // namespace mapsim
