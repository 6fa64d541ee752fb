// SPDX-License-Identifier: Apache-2.0
// Certificates of chains by products and within limits, which follow from several least sums.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "check/chain_proof.hpp"
#include "report/certificate.hpp"
#include "tests/check/chain_proofs.hpp"
#include "tests/mapper/brute_chain.hpp"

namespace mapsim::chain_products_test {
namespace {

using chain_proofs::kEnergy;
using chain_proofs::proof_of;
using chain_proofs::refusal_of;
using chain_proofs::resealed;
using chain_proofs::verdict_of;
using ::testing::HasSubstr;

// A product follows from the least sums of a few weights, which no tree is below.
TEST(ChainProducts, Hold) {
  std::int64_t trees = 0;
  int sums = 0;
  for (const std::uint64_t seed : {2'000'002U, 2'000'008U, 2'000'012U, 3'000'012U, 2'000'020U}) {
    const TinyChain tiny = tiny_chain(seed);
    const std::vector<TreePoint> front = front_by_force(tiny.arch, tiny.chain, true, trees);
    for (const ObjectiveFunction& function :
         {ObjectiveFunction::product(1, 1), ObjectiveFunction::product(1, 2),
          ObjectiveFunction::product(2, 1), ObjectiveFunction::product(2, 0)}) {
      const std::string proof = proof_of(tiny, {}, Objective{function});
      const check::ChainClaim claim = check::parse_chain_claim(proof, "proof");
      const check::ChainVerdict verdict = verdict_of(proof);
      EXPECT_THAT(verdict.problems, ::testing::IsEmpty()) << "seed " << seed << "\n" << proof;
      double least = HUGE_VAL;
      for (const TreePoint& point : front) {
        least = std::min(least, function.value(point.energy, static_cast<double>(point.cycles)));
      }
      EXPECT_NEAR(claim.value, least, 1e-9 * least) << seed;
      EXPECT_NEAR(claim.lower_bound, least, 1e-8 * least) << seed;
      sums += static_cast<int>(claim.sums.size());
    }
  }
  EXPECT_GT(sums, 40);  // of 20 proofs
}

TEST(ChainProducts, AreRefusedWhereTheyAreForged) {
  const Objective edp = Objective::kEdp;
  SearchOptions options;
  options.objective = edp;
  int worse = 0;
  for (const std::uint64_t seed : {2'000'002U, 2'000'008U, 2'000'012U, 3'000'012U}) {
    const TinyChain tiny = tiny_chain(seed);
    const std::string proof = proof_of(tiny, {}, edp);
    const check::ChainClaim claim = check::parse_chain_claim(proof, "proof");
    const auto problems = [&](const std::string& from, const std::string& to) {
      return verdict_of(resealed(proof, from, to)).problems;
    };
    ASSERT_GE(claim.sums.size(), 2U);
    for (const check::ProvenSum& sum : claim.sums) {
      const std::string entry =
          fmt::format("  - {{objective: {}, least: ", to_string(sum.function));
      const std::string number = fmt::format("{}{}", entry, sum.least);
      EXPECT_THAT(problems(number, fmt::format("{}{}", entry, sum.least * 1.01 + 1)),
                  ::testing::Contains(HasSubstr("some mapping trees may need")));
      // Less is true, but does not suffice; nor do the others alone.
      EXPECT_THAT(problems(number, fmt::format("{}{}", entry, sum.least * 0.5)),
                  ::testing::ElementsAre(HasSubstr("the least sums leave")));
      const std::size_t begin = proof.find(entry);
      EXPECT_THAT(problems(proof.substr(begin, proof.find('\n', begin) + 1 - begin), ""),
                  ::testing::ElementsAre(HasSubstr("the least sums leave")));
    }
    const ChainResult apart = search_chain(tiny.arch, tiny.chain, {1, 0, false}, options);
    ChainResult forged = search_chain(tiny.arch, tiny.chain, {}, options);
    if (value_of(edp, *forged.cost) < value_of(edp, *apart.cost)) {
      ++worse;
      for (HullLine& line : forged.lines) {
        line.least *= value_of(edp, *apart.cost) / value_of(edp, *forged.cost);
      }
      forged.best = apart.best;
      forged.cost = apart.cost;
      const std::string lie =
          chain_certificate_file({"search", {}}, tiny.arch, tiny.chain, {}, edp, forged);
      EXPECT_THAT(verdict_of(lie).problems,
                  ::testing::Contains(HasSubstr("some mapping trees may need")));
    }
  }
  EXPECT_GT(worse, 1);
}

// Within a limit the least sums leave a gap, which the file states; or they say that nothing fits.
TEST(ChainProducts, WithinLimitsHold) {
  std::int64_t trees = 0;
  int exact = 0;
  int limited = 0;
  for (const std::uint64_t seed : {2'000'002U, 2'000'008U, 2'000'012U, 3'000'012U, 2'000'020U}) {
    const TinyChain tiny = tiny_chain(seed);
    const std::vector<TreePoint> front = front_by_force(tiny.arch, tiny.chain, true, trees);
    std::int64_t most = front.front().cycles + 1;
    for (const TreePoint& point : front) {
      for (const std::int64_t cycles : {point.cycles, most - 1}) {
        Objective objective = kEnergy;
        objective.max_latency = Cycles{cycles};
        const std::string proof = proof_of(tiny, {}, objective);
        const check::ChainClaim claim = check::parse_chain_claim(proof, "proof");
        EXPECT_THAT(verdict_of(proof).problems, ::testing::IsEmpty()) << seed << "\n" << proof;
        EXPECT_NEAR(claim.value, point.energy, 1e-9 * point.energy) << seed;
        exact += claim.lower_bound == claim.value ? 1 : 0;
        ++limited;
        const auto limit = [](std::int64_t is) {
          return fmt::format("max_latency: {} cycles", is);
        };
        EXPECT_THAT(verdict_of(resealed(proof, limit(cycles), limit(point.cycles - 1))).problems,
                    ::testing::Contains(HasSubstr("beyond the limits")));
        EXPECT_THAT(refusal_of(resealed(proof, limit(cycles), "max_area: 1 cycles")),
                    HasSubstr("max_area"));
      }
      most = point.cycles;
    }
    std::int64_t fewest = front.front().cycles;
    for (const TreePoint& point : front) {
      fewest = std::min(fewest, point.cycles);
    }
    Objective impossible = kEnergy;
    impossible.max_latency = Cycles{fewest - 1};
    const std::string proof = proof_of(tiny, {}, impossible);
    EXPECT_THAT(proof, HasSubstr("value: nothing fits"));
    EXPECT_THAT(verdict_of(proof).problems, ::testing::IsEmpty()) << seed << "\n" << proof;
  }
  EXPECT_GT(exact, 8);
  EXPECT_GT(limited, exact);
}

}  // namespace
}  // namespace mapsim::chain_products_test
