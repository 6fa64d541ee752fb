// SPDX-License-Identifier: Apache-2.0
// Certificates of chains: those of searches hold, and every lie in one is refused.
#include "check/chain_proof.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/sealed_file.hpp"
#include "core/diagnostic.hpp"
#include "report/certificate.hpp"
#include "tests/mapper/brute_chain.hpp"

namespace mapsim {
namespace {

using ::testing::HasSubstr;

std::string proof_of(const TinyChain& tiny, const FusionLimits& limits) {
  const ChainResult result = search_chain(tiny.arch, tiny.chain, limits, {});
  return chain_certificate_file({"search", {}}, tiny.arch, tiny.chain, limits, result);
}

check::ChainVerdict verdict_of(const std::string& proof) {
  return check::check_chain(check::parse_chain_claim(proof, "proof"), 1'000'000);
}

std::string resealed(const std::string& proof, const std::string& from, const std::string& to) {
  std::string text = proof.substr(0, proof.find("\ndigest: ") + 1);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << "\n" << text;
  text.replace(at, from.size(), to);
  return text + check::seal(text);
}

std::string value_in(const std::string& proof, const std::string& key) {
  const std::size_t begin = proof.find("\n" + key) + 1 + key.size();
  return proof.substr(begin, proof.find(" pJ", begin) - begin);
}

// With halos and on arrays, fused and not.
TEST(ChainProof, OfASearchHolds) {
  for (const std::uint64_t seed : {2U, 8U, 12U, 20U, 1'000'002U, 1'000'012U}) {
    for (const FusionLimits& limits : {FusionLimits{}, FusionLimits{1, 0, false}}) {
      const std::string proof = proof_of(tiny_chain(seed), limits);
      const check::ChainVerdict verdict = verdict_of(proof);
      EXPECT_THAT(verdict.problems, ::testing::IsEmpty()) << "seed " << seed << "\n" << proof;
      EXPECT_TRUE(verdict.walked);
    }
  }
}

// A space in which a better tree exists than the one that is called the best.
TEST(ChainProof, OfAWorseTreeDoesNot) {
  const TinyChain tiny = tiny_chain(2);
  const FusionLimits apart{1, 0, false};
  const ChainResult best = search_chain(tiny.arch, tiny.chain, {}, {});
  const ChainResult worse = search_chain(tiny.arch, tiny.chain, apart, {});
  ASSERT_LT(best.cost->energy, worse.cost->energy);
  const std::string forged =
      chain_certificate_file({"search", {}}, tiny.arch, tiny.chain, {}, worse);
  EXPECT_THAT(verdict_of(forged).problems,
              ::testing::ElementsAre(HasSubstr("some mapping trees may need")));
  // And one from outside of a smaller space.
  const std::string outside =
      chain_certificate_file({"search", {}}, tiny.arch, tiny.chain, apart, best);
  EXPECT_THAT(verdict_of(outside).problems, ::testing::Contains(HasSubstr("outside of the space")));
}

TEST(ChainProof, OfOtherFiguresDoesNot) {
  const std::string proof = proof_of(tiny_chain(2), {});
  const std::string value = value_in(proof, "value: ");
  ASSERT_EQ(value, value_in(proof, "lower_bound: "));
  const double pj = std::stod(value);
  const auto problems = [&](const std::string& key, double is) {
    return verdict_of(resealed(proof, fmt::format("\n{}: {} pJ", key, value),
                               fmt::format("\n{}: {} pJ", key, is)))
        .problems;
  };
  EXPECT_THAT(problems("value", pj * 1.01), ::testing::ElementsAre(HasSubstr("has a value of")));
  EXPECT_THAT(problems("value", pj * 0.99), ::testing::Contains(HasSubstr("has a value of")));
  EXPECT_THAT(problems("lower_bound", pj * 1.01),
              ::testing::Contains(HasSubstr("the lower bound is above the value")));
  EXPECT_THAT(problems("lower_bound", pj * 0.99), ::testing::IsEmpty());  // true, if less
}

TEST(ChainProof, IsRefusedWhereItIsDamaged) {
  const std::string proof = proof_of(tiny_chain(2), {});
  std::size_t refused = 0;
  for (std::size_t at = 0; at < proof.size(); at += 7) {
    std::string changed = proof;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    try {
      check::parse_chain_claim(changed, "proof");
      ADD_FAILURE() << "byte " << at;
    } catch (const ConfigError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 50U);
  const auto refusal = [&](const std::string& from, const std::string& to) -> std::string {
    try {
      check::parse_chain_claim(resealed(proof, from, to), "proof");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("objective: energy", "objective: edp"), HasSubstr("objective"));
  EXPECT_THAT(refusal("hold: true", "hold: 1"), HasSubstr("hold"));
  EXPECT_THAT(refusal("\nspace: ", "\nspaces: "), HasSubstr("space"));
  EXPECT_THAT(refusal("value: " + value_in(proof, "value: ") + " pJ", "value: nothing fits"),
              HasSubstr("something fits"));
}

}  // namespace
}  // namespace mapsim
