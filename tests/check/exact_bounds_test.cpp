// SPDX-License-Identifier: Apache-2.0
// With perfect factors the checker decides every unrolling: what trying all mappings finds is
// proven, and a little more is refused.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "check/boxes.hpp"
#include "core/diagnostic.hpp"
#include "mapper/supported.hpp"
#include "optima.hpp"
#include "proven.hpp"
#include "tests/mapper/random_space.hpp"
#include "tests/mapper/random_sparse.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

constexpr std::array kObjectives{Objective::kEnergy, Objective::kLatency, Objective::kEdp};

// Instances per fanout and dim, over both axes.
Instances over_axes(const Problem& problem, const Instances& instances) {
  const std::size_t dims = problem.workload().dims.size();
  Instances both(instances.size() / 2, 1);
  for (std::size_t i = 0; i < instances.size(); ++i) {
    both[i / (2 * dims) * dims + i % dims] *= instances[i];
  }
  return both;
}

// Rules may tell the axes apart; without them an unrolling stands for all ways to share them out.
Instances key_of(const check::Unrolling& unrolling) {
  if (!unrolling.axes.empty()) {
    return instances_of(unrolling);
  }
  Instances flat;
  for (const PerDim<std::int64_t>& along : unrolling.factors) {
    flat.insert(flat.end(), along.begin(), along.end());
  }
  return flat;
}

// Returns how many unrollings there are of which a mapping fits.
std::size_t compare_bounds(const Problem& problem, const Constraints& constraints,
                           const Objective& objective) {
  std::map<Instances, double> least = optima(Mapspace{problem, constraints}, objective);
  const std::map<Instances, double> of_axes = least;
  for (const auto& [instances, value] : of_axes) {
    double& best = least.emplace(over_axes(problem, instances), HUGE_VAL).first->second;
    best = std::min(best, value);
  }
  check::Certificate certificate =
      check::parse_certificate(proof_of(problem, constraints, objective), "proof");
  certificate.lower_bound = 0;
  std::size_t fitting = 0;
  const auto refused = [&](double share) {
    certificate.claims.clear();
    fitting = 0;
    check::visit_open(
        certificate.problem, certificate.rules, [](const check::ChoiceRanges&) { return false; },
        [&](const check::Unrolling& unrolling) {
          const auto optimum = least.find(key_of(unrolling));
          fitting += optimum == least.end() ? 0 : 1;
          const double bound = optimum == least.end() ? HUGE_VAL : optimum->second * share;
          certificate.claims.push_back({unrolling, {}, bound, 0, false});
        });
    return check::check_certificate(certificate, {}).problems;
  };
  EXPECT_EQ(refused(1 - 1e-9), std::vector<std::string>{});
  EXPECT_EQ(refused(1 + 1e-6).size(), fitting);
  return fitting;
}

TEST(ExactBounds, AreTheOptimaOfEveryUnrolling) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 120'000; seed < 120'090; ++seed) {
    SCOPED_TRACE(seed);
    const SearchCase random = seed % 3 == 0   ? random_tall_space(seed, 3'000)
                              : seed % 3 == 1 ? random_ruled_space(seed, 3'000)
                                              : random_space(seed, 3'000);
    compared += compare_bounds(random.problem, random.constraints, kObjectives[seed / 3 % 3]);
  }
  EXPECT_GT(compared, 200U);
}

// Formats and conditions of every kind.
TEST(ExactBounds, OfLayersWithZerosAreOptima) {
  std::size_t compared = 0;
  int layers = 0;
  for (std::uint64_t seed = 121'000; seed < 121'030; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng{seed};
    const bool deep = rng.below(4) == 0;
    const std::string machine = random_sparse_machine(rng, deep);
    const std::string layer = random_sparse_layer(rng, deep);
    try {
      const Problem problem(parse_arch(machine, "m.yaml"), parse_workload(layer, "w.yaml"));
      check_supported(problem, {}, "exact");
      compared += compare_bounds(problem, {}, kObjectives[seed % 3]);
      ++layers;
    } catch (const ConfigError&) {  // a format that does not go with the layer
    } catch (const UnsupportedSearch&) {
    }
  }
  EXPECT_GT(layers, 15);
  EXPECT_GT(compared, 40U);
}

}  // namespace
}  // namespace mapsim
