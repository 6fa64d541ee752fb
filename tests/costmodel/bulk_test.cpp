// SPDX-License-Identifier: Apache-2.0
#include "costmodel/bulk.hpp"

#include <gtest/gtest.h>

#include <map>

#include "core/rng.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/nest.hpp"
#include "tests/costmodel/random_case.hpp"

namespace mapsim {
namespace {

constexpr std::size_t kMappings = 40;  // more than are evaluated side by side, and no multiple

std::vector<std::int64_t> primes_of(std::int64_t n) {
  std::vector<std::int64_t> primes;
  for (std::int64_t p = 2; n > 1; ++p) {
    for (; n % p == 0; n /= p) {
      primes.push_back(p);
    }
  }
  return primes;
}

// Bounds > 1 for the loops of a nest that multiply to those of the dims; drawn for each mapping.
std::vector<double> draw_bounds(const Workload& workload, const Nest& nest, Rng& rng) {
  std::vector<double> bounds(nest.loops.size() * kMappings, 1);
  for (const DimId d : workload.dims.ids()) {
    std::vector<std::size_t> loops;
    for (std::size_t i = 0; i < nest.loops.size(); ++i) {
      if (nest.loops[i].dim == d) {
        loops.push_back(i);
      }
    }
    for (std::size_t k = 0; k < kMappings; ++k) {
      std::vector<std::int64_t> primes = primes_of(workload.dims[d].bound);
      for (std::size_t i = 0; i < primes.size(); ++i) {
        std::swap(primes[i], primes[i + rng.below(primes.size() - i)]);
        const std::size_t loop = i < loops.size() ? i : rng.below(loops.size());
        bounds[loops[loop] * kMappings + k] *= static_cast<double>(primes[i]);
      }
    }
  }
  return bounds;
}

// Energies, ports, rooms and leakage, none of them round numbers only.
void give_figures(Arch& arch, Rng& rng) {
  const auto draw = [&rng] { return 0.1 + rng.uniform(); };
  const auto port = [&rng]() -> std::optional<BitsPerCycle> {
    constexpr double kRates[]{0.7, 3, 8, 64, 100.5};
    return rng.below(2) == 0 ? std::nullopt : std::optional{BitsPerCycle{kRates[rng.below(5)]}};
  };
  for (const LevelId l : arch.levels.ids()) {
    Storage& level = arch.levels[l];
    level.energy = {PicojoulesPerBit{draw()}, PicojoulesPerBit{draw()}, PicojoulesPerBit{draw()}};
    level.bandwidth = rng.below(2) == 0 ? Bandwidth{port(), port(), {}} : Bandwidth{{}, {}, port()};
    if (index_of(l) > 0) {
      level.bandwidth.link = port();
    }
    level.double_buffered = rng.below(2) == 0;
    level.streamed = !level.double_buffered && rng.below(3) == 0;
    if (index_of(l) > 0 && level.capacity.unlimited() && rng.below(3) > 0) {
      level.capacity.shared = Bits{static_cast<std::int64_t>(100 + rng.below(4000))};
    }
  }
  for (Fanout& fanout : arch.fanouts) {
    fanout.reduction_energy = Picojoules{draw()};
    if (rng.below(8) > 0) {
      fanout.energy_per_hop.reset();
    }
  }
  arch.compute.energy = Picojoules{draw()};
  arch.compute.issue_interval = 1 + static_cast<std::int64_t>(rng.below(3));
  if (!arch.fanouts.empty() && rng.below(8) == 0) {
    arch.compute.timing = SystolicTiming{arch.fanouts.last()};
  }
  if (rng.below(2) == 0) {
    arch.compute.physical.leakage = Milliwatts{draw()};
  }
}

TEST(Bulk, IsTheEvaluatorToTheLastBit) {
  int structures = 0;
  int fitting = 0;
  int misfits = 0;
  int windows = 0;
  for (std::uint64_t seed = 0; seed < 30'000; ++seed) {
    RandomCase random = random_case(seed);
    random.mapping = canonical(random.workload, random.mapping);
    const Nest nest = make_nest(random.workload, random.mapping);
    if (!nest.perfect) {
      continue;
    }
    Rng rng{seed};
    give_figures(random.arch, rng);
    const Problem problem(random.arch, random.workload);
    const std::vector<double> bounds = draw_bounds(random.workload, nest, rng);
    BulkEvaluator bulk{problem, random.mapping};
    const BulkFigures& figures = bulk.evaluate(bounds, kMappings);
    ++structures;
    for (const Tensor& tensor : random.workload.tensors) {
      windows += tensor.dims().size() > std::ssize(tensor.ranks) ? 1 : 0;
    }
    for (std::size_t k = 0; k < kMappings; ++k) {
      const Mapping mapping = bulk.mapping(bounds, kMappings, k);
      const Evaluation evaluation = evaluate(problem, mapping);
      const Cost* cost = std::get_if<Cost>(&evaluation);
      ASSERT_EQ(cost != nullptr, figures.energy_pj[k] < std::numeric_limits<double>::infinity());
      misfits += cost == nullptr ? 1 : 0;
      if (cost != nullptr) {
        ++fitting;
        const std::string text = print_mapping(random.arch, random.workload, mapping);
        ASSERT_EQ(cost->energy.total.count(), figures.energy_pj[k]) << seed << '\n' << text;
        ASSERT_EQ(cost->latency.steady.count(), figures.steady[k]) << seed << '\n' << text;
        ASSERT_EQ(cost->latency.ramped.count(), figures.ramped[k]) << seed << '\n' << text;
      }
    }
  }
  EXPECT_GT(structures, 12'000);
  EXPECT_GT(fitting, 150'000);
  EXPECT_GT(misfits, 30'000);
  EXPECT_GT(windows, 5'000);
}

}  // namespace
}  // namespace mapsim
