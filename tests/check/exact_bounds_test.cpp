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
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::exact_bounds_test {
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
  for (std::uint64_t seed = 120'000; seed < 120'000 + tried_of(90U); ++seed) {
    SCOPED_TRACE(seed);
    const SearchCase random = seed % 3 == 0   ? random_tall_space(seed, 3'000)
                              : seed % 3 == 1 ? random_ruled_space(seed, 3'000)
                                              : random_space(seed, 3'000);
    compared += compare_bounds(random.problem, random.constraints, kObjectives[seed / 3 % 3]);
  }
  EXPECT_GT(compared, tried_of(200U));
}

// Formats and conditions of every kind.
TEST(ExactBounds, OfLayersWithZerosAreOptima) {
  std::size_t compared = 0;
  int layers = 0;
  for (std::uint64_t seed = 121'000; seed < 121'000 + tried_of(30U); ++seed) {
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
  EXPECT_GT(layers, tried_of(15));
  EXPECT_GT(compared, tried_of(40U));
}

// The same with imperfect factors, where each unrolling has a claim of its own: no bound above the
// optimum passes; nearly all at the optimum do, and the rest are open for want of a proof.
struct ImperfectClaims {
  std::size_t fitting = 0, proven = 0;
};
ImperfectClaims compare_imperfect(const Problem& problem, const Constraints& constraints,
                                  const Objective& objective) {
  const std::map<Instances, double> least = optima(Mapspace{problem, constraints}, objective);
  const check::Certificate written =
      check::parse_certificate(proof_of(problem, constraints, objective), "proof");
  check::Certificate one = written;
  one.lower_bound = 0;
  ImperfectClaims count;
  for (const check::Claim& claim : written.claims) {
    const auto optimum = least.find(instances_of(claim.unrolling));
    const double value = optimum == least.end() ? HUGE_VAL : optimum->second;
    const auto is_refused = [&](double bound) {
      one.claims = written.claims;
      for (check::Claim& other : one.claims) {
        other.bound = 0;
      }
      one.claims[static_cast<std::size_t>(&claim - written.claims.data())].bound = bound;
      return !check::check_certificate(one, {}).problems.empty();
    };
    if (optimum != least.end()) {
      EXPECT_TRUE(is_refused(value * (1 + 1e-6)));
      ++count.fitting;
      count.proven += is_refused(value * (1 - 1e-9)) ? 0 : 1;
    }
  }
  return count;
}

// No hops, and no window of sums: those are bounded only.
bool is_decided(const Problem& problem) {
  for (const Fanout& fanout : problem.arch().fanouts) {
    if (fanout.energy_per_hop) {
      return false;
    }
  }
  for (const Rank& rank : problem.workload().tensors[problem.workload().output()].ranks) {
    if (rank.terms.size() > 1) {
      return false;
    }
  }
  return true;
}

TEST(ExactBounds, OfImperfectFactorsAreOptima) {
  std::size_t fitting = 0;
  std::size_t decided = 0;
  std::size_t proven = 0;
  for (std::uint64_t seed = 122'000; seed < 122'150; ++seed) {
    SCOPED_TRACE(seed);
    const SearchCase random =
        seed % 4 == 3 ? random_ruled_imperfect_space(seed, 600) : random_imperfect_space(seed, 600);
    const ImperfectClaims count =
        compare_imperfect(random.problem, random.constraints, kObjectives[seed % 3]);
    fitting += count.fitting;
    if (is_decided(random.problem)) {
      decided += count.fitting;
      proven += count.proven;
    }
  }
  EXPECT_GT(fitting, 200U);
  EXPECT_GE(proven, decided / 10 * 9);
}

}  // namespace
}  // namespace mapsim::exact_bounds_test
