// SPDX-License-Identifier: Apache-2.0
// A mapping in time: what its ports move is what the closed form counts, and takes as long.
#include "costmodel/timeline/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tests/costmodel/case_text.hpp"
#include "tests/costmodel/random_case.hpp"

namespace mapsim::timeline_test {
namespace {

// With ports of finite rate everywhere, of all kinds, and second buffers in some levels.
RandomCase timed_case(std::uint64_t seed) {
  RandomCase random = random_case(seed);
  std::uint64_t kind = seed;
  for (Storage& level : random.arch.levels) {
    const BitsPerCycle rate{static_cast<double>(8 + 24 * (kind % 5))};
    level.bandwidth = {};
    if (kind % 2 == 0) {
      level.bandwidth.shared = rate;
    } else {
      level.bandwidth.read = rate;
      level.bandwidth.write = rate;
    }
    if (kind % 3 == 0) {
      level.bandwidth.link = rate;
    }
    level.double_buffered = kind % 7 < 3;
    ++kind;
  }
  return random;
}

struct Timed {
  Problem problem;
  Cost cost;
  TimelineSummary summary;
  std::map<std::size_t, std::vector<Slice>> slices;  // by track
};

Timed timed(const RandomCase& random, const TimelineOptions& options = {1'000'000}) {
  Timed result{{random.arch, random.workload}, {}, {}, {}};
  result.cost.counts = count(result.problem, random.mapping);
  result.cost.latency = latency(result.problem, random.mapping, result.cost.counts);
  result.summary =
      timeline(result.problem, random.mapping, result.cost, options,
               [&](const Slice& slice) { result.slices[slice.track].push_back(slice); });
  return result;
}

bool has_windowed_output(const RandomCase& random) {
  const Problem problem{random.arch, random.workload};
  return !problem.shape(problem.workload().output()).window_dims.empty();
}

void expect_apart(std::vector<Slice> slices) {
  std::sort(slices.begin(), slices.end(),
            [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
  for (std::size_t i = 0; i < slices.size(); ++i) {
    EXPECT_LE(slices[i].begin, slices[i].end);
    if (i > 0) {
      EXPECT_LE(slices[i - 1].end, slices[i].begin + 1e-6);
    }
  }
}

class TimelineOracle : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(TimelineOracle, MovesWhatTheClosedFormCounts) {
  constexpr std::uint64_t kCases = 100;
  for (std::uint64_t seed = GetParam() * kCases; seed < (GetParam() + 1) * kCases; ++seed) {
    const RandomCase random = timed_case(seed);
    if (has_windowed_output(random)) {
      EXPECT_THROW(timed(random), std::invalid_argument);
      continue;
    }
    const Timed result = timed(random);
    const Counts& counts = result.cost.counts;
    ASSERT_TRUE(result.summary.complete);
    EXPECT_EQ(result.summary.steps, counts.steps);
    EXPECT_EQ(result.summary.walked, result.summary.tile_steps);
    for (const LevelId l : counts.levels.ids()) {
      for (const TensorId t : counts.levels[l].ids()) {
        ASSERT_EQ(result.summary.moved[l][t], counts.levels[l][t].busiest)
            << "seed " << seed << '\n'
            << describe(random);
      }
    }
  }
}

TEST_P(TimelineOracle, KeepsEveryPortBusyAsLongAsTheCostModelSays) {
  constexpr std::uint64_t kCases = 50;
  for (std::uint64_t seed = GetParam() * kCases; seed < (GetParam() + 1) * kCases; ++seed) {
    const RandomCase random = timed_case(seed);
    if (has_windowed_output(random)) {
      continue;
    }
    const Timed result = timed(random);
    for (const PortSum& port : result.summary.ports) {
      EXPECT_DOUBLE_EQ(port.bits, port.model_bits);
      EXPECT_NEAR(port.cycles, port.model_cycles, 1e-9 * port.model_cycles);
      double busy = 0;
      for (const Slice& slice : result.slices.count(port.track) > 0 ? result.slices.at(port.track)
                                                                    : std::vector<Slice>{}) {
        busy += slice.end - slice.begin;
      }
      EXPECT_NEAR(busy, port.model_cycles, 1e-6 * (1 + port.model_cycles)) << "seed " << seed;
    }
    double computed = 0;
    for (const Slice& slice : result.slices.at(0)) {
      computed += slice.kind == Slice::Kind::kSteps ? slice.end - slice.begin : 0;
    }
    EXPECT_NEAR(computed, static_cast<double>(result.cost.latency.compute.total().count()),
                1e-6 * computed);
    EXPECT_GE(result.summary.end * (1 + 1e-9),
              static_cast<double>(result.cost.latency.steady.count()));
    for (const auto& [track, slices] : result.slices) {
      expect_apart(slices);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, TimelineOracle,
                         testing::Range(std::uint64_t{0}, std::uint64_t{8}));

// A stretch of a walk that begins in the middle moves what the whole walk moves there.
TEST(Timeline, SamplesAreStretchesOfTheWholeWalk) {
  std::int64_t compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const RandomCase random = timed_case(seed);
    if (has_windowed_output(random)) {
      continue;
    }
    const Problem problem{random.arch, random.workload};
    const PerLevel<bool> all(problem.arch().levels.size(), true);
    TileWalk whole{problem, random.mapping, all};
    TileWalk sample{problem, random.mapping, all};
    const std::int64_t middle = whole.tile_steps() / 2;
    std::int64_t steps = 0;
    for (std::int64_t i = 0; i < middle && whole.advance(); ++i) {
      steps += whole.inner_steps();
    }
    if (middle == 0) {
      continue;
    }
    const std::int64_t before = sample.seek(middle - 1);
    EXPECT_EQ(before + sample.inner_steps(), steps);
    for (bool more = true; more;) {
      more = whole.advance();
      ASSERT_EQ(sample.advance(), more);
      ASSERT_EQ(sample.exchanges().size(), whole.exchanges().size());
      for (std::size_t i = 0; i < whole.exchanges().size(); ++i) {
        EXPECT_EQ(sample.exchanges()[i].enters.parent, whole.exchanges()[i].enters.parent);
        EXPECT_EQ(sample.exchanges()[i].leaves.child, whole.exchanges()[i].leaves.child);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 1'000);
}

TEST(Timeline, LeavesOutTheMiddleOfALongWalkAndSaysSo) {
  std::int64_t seen = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomCase random = timed_case(seed);
    if (has_windowed_output(random)) {
      continue;
    }
    const Timed result = timed(random, {.first = 40, .samples = 4});
    if (result.summary.complete) {
      EXPECT_LE(result.summary.tile_steps, 80);
      continue;
    }
    ++seen;
    EXPECT_EQ(result.summary.walked, 80);
    EXPECT_EQ(result.summary.samples, 4);
    std::int64_t steps = 0;
    for (const Slice& slice : result.slices.at(0)) {
      steps += slice.kind == Slice::Kind::kWait ? 0 : slice.amount;
    }
    EXPECT_EQ(steps, result.cost.counts.steps) << "seed " << seed;  // walked or left out
    for (const PortSum& port : result.summary.ports) {
      EXPECT_LE(port.bits, port.model_bits);
    }
  }
  EXPECT_GT(seen, 10);
}

TEST(Timeline, StopsWhenItsFlagIsSet) {
  const RandomCase random = timed_case(7);
  std::atomic<bool> stop{false};
  TimelineOptions options;
  options.stop = &stop;
  EXPECT_FALSE(timed(random, options).summary.stopped);
  stop = true;
  const Timed result = timed(random, options);
  EXPECT_TRUE(result.summary.stopped);
  EXPECT_EQ(result.summary.walked, 0);
}

}  // namespace
}  // namespace mapsim::timeline_test
