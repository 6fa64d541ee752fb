// SPDX-License-Identifier: Apache-2.0
// Searches, proves, checks, evaluates again: usage: consumer ARCH.yaml
#include <cstdio>
#include <mapsim/mapsim.hpp>
#include <type_traits>

// A problem must outlive what refers to it: a temporary one does not compile.
using mapsim::Constraints, mapsim::Evaluator, mapsim::Mapspace, mapsim::Problem;
static_assert(std::is_constructible_v<Mapspace, const Problem&, Constraints>);
static_assert(!std::is_constructible_v<Mapspace, Problem, Constraints>);
static_assert(std::is_constructible_v<Evaluator, const Problem&>);
static_assert(!std::is_constructible_v<Evaluator, Problem>);

int main(int, char** arguments) {
  const mapsim::Arch arch = mapsim::load_arch(arguments[1]);
  const mapsim::Workload layer = mapsim::gemm("layer", {.m = 64, .n = 64, .k = 128});
  const mapsim::Solution best = mapsim::search(arch, layer);
  const mapsim::Verified proof = mapsim::verify(mapsim::proof_yaml(best));
  const auto again = mapsim::evaluate(arch, layer, mapsim::mapping_yaml(best));
  const bool holds = proof.verdict.problems.empty() && mapsim::simulate(again).has_value();
  std::printf("%.0f pJ, %s\n", best.result.cost->energy.total.count(), holds ? "proven" : "?");
}
