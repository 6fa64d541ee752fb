// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/diagnostic.hpp"
#include "mapper/front.hpp"
#include "proven.hpp"
#include "report/front.hpp"
#include "tests/mapper/random_space.hpp"

namespace mapsim::front_proofs_test {
namespace {

using ::testing::HasSubstr;

SearchOptions options_of(const Objective& objective) {
  SearchOptions options;
  options.objective = objective;
  return options;
}

// What is wrong with the certificate of these points.
std::string faults_of_front(const Mapspace& space, const FrontSubject& subject,
                            const Front& front) {
  return faults_of(front_certificate_file({"search", {}}, space, subject, front));
}

// A point left out, or one that another is better than in its place, is found. Returns how many
// fronts had points enough.
int refuse_gaps(const Mapspace& space, const FrontSubject& subject, const Front& front,
                std::uint64_t seed) {
  for (std::size_t left_out = 0; left_out < front.points.size(); ++left_out) {
    Front less = front;
    less.points.erase(less.points.begin() + static_cast<std::ptrdiff_t>(left_out));
    EXPECT_THAT(faults_of_front(space, subject, less),
                HasSubstr("the points are not all: of the unrolling"))
        << "seed " << seed << " without " << left_out;
    Front other = front;
    other.points[left_out].measure += 1;
    EXPECT_THAT(faults_of_front(space, subject, other), HasSubstr("the mapping takes "));
  }
  return front.points.size() > 1 ? 1 : 0;
}

class ProofsOfFronts : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, ProofsOfFronts, testing::Range<std::uint64_t>(0, 4));

TEST_P(ProofsOfFronts, HoldForAllPointsOnly) {
  int long_ones = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t seed = 1'000 * GetParam() + i;
    const SearchCase random = (i % 2 == 0 ? random_space : random_ruled_space)(seed, 5'000);
    const Mapspace space{random.problem, random.constraints};
    FrontSubject subject{Objective::kEnergy, std::nullopt};
    subject.objective.mode = i % 4 < 2 ? LatencyMode::kSteady : LatencyMode::kRamped;
    const Front front = search_front(space, options_of(subject.objective));
    EXPECT_EQ(faults_of_front(space, subject, front), "") << "seed " << seed;
    long_ones += refuse_gaps(space, subject, front, seed);
  }
  EXPECT_GT(long_ones, 5);
}

TEST_P(ProofsOfFronts, HoldForAllStepsOfACurveOnly) {
  int long_ones = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t seed = 1'000 * GetParam() + 100 + i;
    const SearchCase random = random_space(seed, 5'000);
    const Mapspace space{random.problem, random.constraints};
    const auto level = static_cast<LevelId>(i % random.problem.arch().levels.size());
    const auto& partitions = random.problem.arch().levels[level].capacity.per_role;
    FrontSubject subject{i % 3 == 0 ? Objective::kEdp : Objective::kEnergy,
                         CurveCapacity{level, {}}};
    if (!partitions.empty()) {
      subject.capacity->role = partitions.begin()->first;
    }
    const Front curve = search_curve(space, options_of(subject.objective), *subject.capacity);
    EXPECT_EQ(faults_of_front(space, subject, curve), "") << "seed " << seed;
    long_ones += refuse_gaps(space, subject, curve, seed);
  }
  EXPECT_GT(long_ones, 5);
}

// A search that is stopped may have the least latency: then it says so where another may have it
// with less energy.
TEST_P(ProofsOfFronts, BudgetsLeaveNoTiesUnsaid) {
  int open = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t seed = 1'000 * GetParam() + 400 + i;
    const SearchCase random =
        i % 2 == 0 ? random_space(seed, 2'000) : random_imperfect_space(seed, 1'000);
    const Mapspace space{random.problem, random.constraints};
    SearchOptions options = options_of(Objective::kLatency);
    const SearchResult best = search_exact(space, options);
    options.budget.labels = 1;
    const SearchResult early = search_exact(space, options);
    if (early.cost && early.certificate.status == Proof::kOptimal) {
      open += early.certificate.bound_but_for_free_boundaries ? 1 : 0;
      EXPECT_EQ(early.cost->latency.steady, best.cost->latency.steady) << "seed " << seed;
      if (!early.certificate.bound_but_for_free_boundaries) {
        EXPECT_LE(early.cost->energy.total.count(), best.cost->energy.total.count() * (1 + 1e-9))
            << "seed " << seed;
      }
    }
  }
  EXPECT_GT(open, 0);
}

// Of the mappings that need the least energy, one that is slower is refused if there is one; of the
// fastest, one that needs more energy.
TEST_P(ProofsOfFronts, HoldForTheBestOfTiesOnly) {
  int ties = 0;
  for (std::uint64_t i = 0; i < 80; ++i) {
    const std::uint64_t seed = 1'000 * GetParam() + 200 + i;
    const SearchCase random = random_space(seed, 2'000);
    const Mapspace space{random.problem, random.constraints};
    const bool by_energy = i % 4 > 1;
    Objective tied = by_energy ? Objective::kLatency : Objective::kEnergy;
    tied.exact_ties = true;
    tied.mode = i % 2 == 0 ? LatencyMode::kSteady : LatencyMode::kRamped;
    SearchResult result = search_exact(space, options_of(tied));
    const std::string proof = certificate_file({"search", {}}, space, tied, result);
    EXPECT_EQ(faults_of(proof), "") << "seed " << seed;
    EXPECT_EQ(proof.find(by_energy ? "ties: energy" : "ties: latency") != std::string::npos,
              result.cost.has_value());
    if (!result.cost) {
      continue;
    }
    const Cost best = *result.cost;
    const auto is_worse = [&](const Cost& cost) {
      const Cycles cycles = latency_of(tied.mode, cost.latency);
      const Cycles least = latency_of(tied.mode, best.latency);
      return by_energy ? cycles == least &&
                             cost.energy.total.count() > best.energy.total.count() * (1 + 1e-9)
                       : cost.energy.total == best.energy.total && cycles > least;
    };
    bool slower = false;
    space.enumerate([&](const Mapping& mapping) {
      const Evaluation evaluation = evaluate(random.problem, mapping);
      const Cost* cost = std::get_if<Cost>(&evaluation);
      slower = cost != nullptr && is_worse(*cost);
      if (slower) {
        result.best = mapping;
        result.cost = *cost;
      }
      return !slower;
    });
    if (slower) {
      EXPECT_THAT(faults_of(certificate_file({"search", {}}, space, tied, result)),
                  HasSubstr("where there is a mapping of"))
          << "seed " << seed;
      ++ties;
    }
  }
  EXPECT_GT(ties, 5);
}

TEST(FrontProof, IsDamagedByAnyFlippedBit) {
  const SearchCase random = random_space(1, 5'000);
  const Mapspace space{random.problem, random.constraints};
  const FrontSubject subject{Objective::kEnergy, std::nullopt};
  const Front front = search_front(space, options_of(subject.objective));
  const std::string proof = front_certificate_file({"search", {}}, space, subject, front);
  for (std::size_t byte = 0; byte < proof.size(); byte += 3) {
    std::string flipped = proof;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << (byte % 7)));
    EXPECT_THROW(check::parse_certificate(flipped, "proof"), ConfigError) << byte;
  }
}

TEST(FrontProof, HasPointsInsteadOfBounds) {
  const SearchCase random = random_space(1, 5'000);
  const Mapspace space{random.problem, random.constraints};
  const std::string one = proof_of(random.problem, random.constraints, Objective::kEnergy);
  const std::string key = "function: energy";
  const auto with = [&](const std::string& more) {
    std::string text = one;
    return sealed(text.replace(text.find(key), key.size(), key + more));
  };
  const auto complaint = [](const std::string& text) {
    try {
      return faults_of(text);
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
  };
  EXPECT_THAT(complaint(with(", front: latency")), HasSubstr("missing key 'points'"));
  EXPECT_THAT(complaint(with(", front: latency")),
              HasSubstr("'bounds' is not allowed with this objective"));
  EXPECT_THAT(complaint(with(", ties: latency")), HasSubstr("missing key 'tie'"));
  EXPECT_THAT(complaint(with(", curve: {level: L1, role: moon}")),
              HasSubstr("unknown role 'moon'"));
  EXPECT_THAT(complaint(with(", front: area")), HasSubstr("unknown figure 'area'"));
}

}  // namespace
}  // namespace mapsim::front_proofs_test
