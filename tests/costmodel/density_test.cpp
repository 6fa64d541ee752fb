// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/evaluate.hpp"
#include "costmodel/roofline.hpp"
#include "tests/costmodel/random_case.hpp"

namespace mapsim::density_test {
namespace {

// A random case with energies, ports, hops and densities.
RandomCase sparse_case(std::uint64_t seed) {
  RandomCase random = random_case(seed);
  for (Storage& level : random.arch.levels) {
    level.energy = {PicojoulesPerBit{3}, PicojoulesPerBit{5}, PicojoulesPerBit{7}};
    level.bandwidth.shared = BitsPerCycle{11};
  }
  for (Fanout& fanout : random.arch.fanouts) {
    fanout.reduction_energy = Picojoules{2};
  }
  random.arch.compute.energy = Picojoules{13};
  for (const TensorId t : random.workload.tensors.ids()) {
    random.workload.tensors[t].density = 1 / std::exp2(static_cast<double>(index_of(t)));
  }
  return random;
}

Workload dense(Workload workload) {
  for (Tensor& tensor : workload.tensors) {
    tensor.density = 1;
  }
  return workload;
}

// Counts are dense; every part of the energy is its dense part times what is not zero.
TEST(Density, ScalesWhatMovesAndMultiplies) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RandomCase random = sparse_case(seed);
    const Problem sparse{random.arch, random.workload};
    const Problem whole{random.arch, dense(random.workload)};
    const Counts counts = count(sparse, random.mapping);
    ASSERT_EQ(counts, count(whole, random.mapping));
    const Energy energy = mapsim::energy(sparse, counts);
    const Energy reference = mapsim::energy(whole, counts);
    double macs = 1;
    for (const TensorId t : random.workload.tensors.ids()) {
      const double density = random.workload.tensors[t].density;
      macs *= t == random.workload.output() ? 1 : density;
      for (const LevelId l : random.arch.levels.ids()) {
        EXPECT_DOUBLE_EQ(energy.levels[l][t].total.count(),
                         reference.levels[l][t].total.count() * density);
      }
      for (const FanoutId f : random.arch.fanouts.ids()) {
        EXPECT_DOUBLE_EQ(energy.hops[f][t].count(), reference.hops[f][t].count() * density);
      }
    }
    EXPECT_DOUBLE_EQ(energy.compute.count(), reference.compute.count() * macs);
  }
}

// Steps are not skipped; ports move what is not zero.
TEST(Density, ShortensPortsButNotTheComputation) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RandomCase random = sparse_case(seed);
    const Problem sparse{random.arch, random.workload};
    const Counts counts = count(sparse, random.mapping);
    const Latency latency = mapsim::latency(sparse, random.mapping, counts);
    EXPECT_EQ(latency.resources.front().time.count(), counts.steps);
    for (std::size_t i = 1; i < latency.resources.size(); ++i) {
      double bits = 0;
      for (const TensorId t : random.workload.tensors.ids()) {
        const TensorCounts& at = counts.levels[latency.resources[i].level][t];
        bits += static_cast<double>(at.read_bits.count() + at.write_bits.count()) *
                random.workload.tensors[t].density;
      }
      EXPECT_EQ(static_cast<double>(latency.resources[i].time.count()), std::ceil(bits / 11));
    }
  }
}

TEST(Density, LeavesTheRooflineABound) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RandomCase random = sparse_case(seed);
    const Problem sparse{random.arch, random.workload};
    const Roofline bounds = roofline(random.arch, random.workload);
    const Counts counts = count(sparse, random.mapping);
    EXPECT_LE(bounds.least_energy.count(), energy(sparse, counts).total.count() * (1 + 1e-12));
    EXPECT_LE(bounds.least_cycles, latency(sparse, random.mapping, counts).steady);
  }
}

}  // namespace
}  // namespace mapsim::density_test
