// SPDX-License-Identifier: Apache-2.0
// A forger at work: every kind of certificate, every kind of lie that it can tell, sealed as if it
// were true.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "check/membership.hpp"
#include "check/point.hpp"
#include "core/diagnostic.hpp"
#include "mapper/front.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/mapspace/membership.hpp"
#include "proven.hpp"
#include "report/front.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim::forgery_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// So small that all mappings are soon enumerated; fast and frugal mappings differ.
Problem tiny_problem() {
  return {parse_arch(R"(name: tiny
nodes:
  - {storage: DRAM, capacity: unlimited, bandwidth: {shared: 8 B/cycle}, energy: {read: 16 pJ/b, write: 16 pJ/b}}
  - {storage: Buffer, capacity: 7 B, bandwidth: {shared: 2 B/cycle}, energy: {read: 1 pJ/b, write: 1 pJ/b}}
  - {fanout: PEs, x: 2}
  - {compute: MAC, energy: 1 pJ}
)",
                     "arch"),
          gemm("gemm", {4, 2, 2, {}, false}, {})};
}

// A window that moves by two: its tiles overlap, or leave gaps.
Problem window_problem() {
  return {tiny_problem().arch(),
          parse_workload("name: w\neinsum: {equation: \"O[k][p] += A[2*p+r] * W[k][r]\", dims: {k: "
                         "2, p: 3, r: 3}}\n",
                         "w")};
}

// Zeros that a format leaves out, and that skip or gate what meets them.
Problem sparse_problem(const std::string& format, const std::string& act) {
  const std::string zeros = "format: {input: " + format + ", weight: bitmask}, when_empty: [{" +
                            act + ": weight, on: input}]";
  return {parse_arch("name: tiny\nnodes:\n  - {storage: DRAM, word: 8 b, capacity: unlimited, "
                     "bandwidth: {shared: 8 B/cycle}, energy: {read: 16 pJ/b, write: 16 pJ/b}, " +
                         zeros +
                         "}\n  - {storage: Buffer, word: 8 b, capacity: 7 B, bandwidth: {shared: 2 "
                         "B/cycle}, energy: {read: 1 pJ/b, write: 1 pJ/b}, fits: 90 %, " +
                         zeros +
                         "}\n  - {fanout: PEs, x: 2}\n  - {compute: MAC, energy: 1 pJ, "
                         "when_zero: " +
                         act + "}\n",
                     "arch"),
          parse_workload("name: w\ngemm: {m: 4, n: 2, k: 4}\ndensity: {A: 0.25, B: 0.5}\n", "w")};
}

// What the certificates of a kind are about.
Problem problem_of(const std::string& kind) {
  return kind.find("window") != std::string::npos ? window_problem()
         : kind == "bitmask"                      ? sparse_problem("bitmask", "skip")
         : kind == "coordinates"                  ? sparse_problem("coordinates 3 b", "skip")
         : kind == "runs"                         ? sparse_problem("runs 2 b", "gate")
         : kind == "csr"                          ? sparse_problem("csr", "skip")
         : kind == "ideal"                        ? sparse_problem("ideal", "gate")
                                                  : tiny_problem();
}

constexpr const char* kRules = R"(mapspace:
  tiling: even
  keep: {Buffer: [A]}
  extents: {Buffer: {M: {max: 2}}}
  loops:
    Buffer: {order: [[M, K], N]}
)";

std::string value_proof(const Problem& problem, const Constraints& constraints,
                        const Objective& objective, const Budget& budget = {}) {
  const Mapspace space{problem, constraints};
  SearchOptions options;
  options.objective = objective;
  options.budget = budget;
  return certificate_file({"search", {}}, space, objective, search_exact(space, options));
}

std::string points_proof(const Problem& problem, const FrontSubject& subject, bool imperfect) {
  Constraints constraints;
  constraints.factors.imperfect = imperfect;
  const Mapspace space{problem, constraints};
  SearchOptions options;
  options.objective = subject.objective;
  const Front front = subject.capacity ? search_curve(space, options, *subject.capacity)
                                       : search_front(space, options);
  return front_certificate_file({"search", {}}, space, subject, front);
}

Objective tied() {
  Objective objective;
  objective.exact_ties = true;
  return objective;
}

Objective limited() {
  Objective objective;
  objective.max_latency = Cycles{10};
  return objective;
}

Constraints imperfect() {
  Constraints constraints;
  constraints.factors.imperfect = true;
  return constraints;
}

Budget gap() {
  Budget budget;
  budget.gap = 0.5;
  return budget;
}

const std::vector<std::string> kKinds{"energy",
                                      "latency",
                                      "ties",
                                      "limits",
                                      "gap",
                                      "rules",
                                      "imperfect",
                                      "front",
                                      "curve",
                                      "imperfect_front",
                                      "window",
                                      "window_latency",
                                      "imperfect_window",
                                      "bitmask",
                                      "coordinates",
                                      "runs",
                                      "csr",
                                      "ideal"};

std::string true_proof(const std::string& kind) {
  const Problem problem = problem_of(kind);
  const CurveCapacity buffer{*problem.arch().find_level("Buffer"), {}};
  const FrontSubject curve{Objective::kEnergy, buffer};
  const FrontSubject front{Objective::kEnergy, {}};
  return kind.ends_with("latency") ? value_proof(problem, {}, Objective::kLatency)
         : kind == "ties"          ? value_proof(problem, {}, tied())
         : kind == "limits"        ? value_proof(problem, {}, limited())
         : kind == "gap"           ? value_proof(problem, {}, Objective::kEdp, gap())
         : kind == "rules"
             ? value_proof(problem, parse_constraints(kRules, "rules", problem), Objective::kEnergy)
         : kind == "imperfect_front"     ? points_proof(problem, front, true)
         : kind.starts_with("imperfect") ? value_proof(problem, imperfect(), Objective::kEnergy)
         : kind == "front"               ? points_proof(problem, front, false)
         : kind == "curve"               ? points_proof(problem, curve, false)
                                         : value_proof(problem, {}, Objective::kEnergy);
}

class Forgery : public ::testing::TestWithParam<std::string> {
 protected:
  std::string proof_ = true_proof(GetParam());
  check::Certificate claimed_ = check::parse_certificate(proof_, "proof");
};

// The first thing that is wrong; empty: nothing.
std::string verdict_of(const check::Certificate& forged) {
  const check::Verdict verdict = check::check_certificate(forged, {});
  return verdict.problems.empty() ? std::string{} : verdict.problems[0];
}

// Every mapping of the space that a certificate speaks of, by enumeration, the best ones first.
struct Priced {
  Mapping mapping;
  check::Figures figures;
};
std::vector<Priced> all_mappings(const check::Certificate& claimed) {
  Constraints free;
  free.even = claimed.rules.even;
  free.factors.imperfect = claimed.rules.imperfect;
  std::vector<Priced> all;
  Mapspace{claimed.problem, free}.enumerate([&](const Mapping& mapping) {
    const Evaluation evaluation = evaluate(claimed.problem, mapping);
    const Cost* cost = std::get_if<Cost>(&evaluation);
    if (cost != nullptr && check::why_outside(claimed.problem, claimed.rules, mapping).empty()) {
      all.push_back({mapping, check::figures_of(claimed.problem, claimed.goal, *cost)});
    }
    return true;
  });
  std::stable_sort(all.begin(), all.end(), [](const Priced& a, const Priced& b) {
    return a.figures.first < b.figures.first;
  });
  return all;
}

// Is no mapping better than what is claimed, by more than a gap that is stated?
bool is_true(const check::Certificate& claimed) {
  using check::exceeds;
  const std::vector<Priced> all = all_mappings(claimed);
  if (claimed.is_front()) {
    return std::all_of(all.begin(), all.end(), [&](const Priced& other) {
      return !(other.figures.first < check::kInfinity) ||
             std::any_of(claimed.points.begin(), claimed.points.end(), [&](const auto& point) {
               return !exceeds(point.figures.first, other.figures.first * (1 + claimed.gap)) &&
                      !exceeds(point.figures.second, other.figures.second * (1 + claimed.gap));
             });
    });
  }
  const bool ties = claimed.goal.kind == check::Goal::Kind::kTies;
  return std::none_of(all.begin(), all.end(), [&](const Priced& other) {
    return exceeds(claimed.lower_bound, other.figures.first) ||
           (ties && !exceeds(other.figures.first, claimed.value) &&
            exceeds(claimed.points.at(0).figures.second, other.figures.second));
  });
}

// A text with each of its numbers, but those of its digest and of the hashes of inputs, replaced:
// one after the other, by turns by twice as much and by half.
std::vector<std::string> with_other_numbers(const std::string& text) {
  static const std::regex number{R"(\b\d+(\.\d+)?\b)"};
  std::vector<std::string> forged;
  for (std::sregex_iterator at{text.begin(), text.end(), number}, end; at != end; ++at) {
    const auto place = static_cast<std::size_t>(at->position());
    const std::string line = text.substr(text.rfind('\n', place) + 1, 10);
    if (line.starts_with("digest") || line.starts_with("  - {role")) {
      continue;
    }
    const double value = std::stod(at->str());
    const bool twice = forged.size() % 2 == 0;
    const double other = value == 0 ? 1 : twice ? 2 * value : std::floor(value / 2);
    std::string changed = text;
    changed.replace(place, at->str().size(), fmt::format("{:.17g}", other));
    forged.push_back(sealed(changed));
  }
  return forged;
}

// Whatever number is another one, in the machine, the layer, the rules or what is claimed of them:
// the certificate is refused, or says what enumeration finds.
TEST_P(Forgery, OfANumberIsRefusedUnlessItIsTrue) {
  EXPECT_EQ(complaint(proof_), "");
  EXPECT_TRUE(is_true(claimed_));
  int refused = 0;
  for (const std::string& forged : with_other_numbers(proof_)) {
    if (!complaint(forged).empty()) {
      ++refused;
    } else {
      EXPECT_TRUE(is_true(check::parse_certificate(forged, "proof"))) << forged;
    }
  }
  EXPECT_GT(refused, 10);
}

// The best mapping, or a point, is another one of the space: with the figures of the best, or with
// its own and a bound that says that none is better.
TEST_P(Forgery, OfAMappingIsRefused) {
  constexpr int kForgeries = 8;
  int forgeries = 0;
  for (const Priced& other : all_mappings(claimed_)) {
    const double first = other.figures.first;
    if (first <= claimed_.points.at(0).figures.first * 1.001 || ++forgeries > kForgeries) {
      continue;
    }
    check::Certificate forged = claimed_;
    forged.points[0].mapping = other.mapping;
    EXPECT_THAT(verdict_of(forged), ContainsRegex("the mapping (has a value of|exceeds)"));
    if (!claimed_.is_front() && first < check::kInfinity) {
      forged.points[0].figures = other.figures;
      forged.value = forged.lower_bound = first;
      for (check::Claim& claim : forged.claims) {
        claim.bound = std::max(claim.bound, first);
      }
      EXPECT_THAT(verdict_of(forged), ContainsRegex("where there is a mapping of|follows"));
    }
  }
  EXPECT_GE(forgeries, kForgeries);
}

// Bounds that contradict each other, or are of something else, are refused before any is looked at.
TEST_P(Forgery, OfBoundsIsRefused) {
  if (claimed_.is_front()) {
    GTEST_SKIP() << "it has points in their place";
  }
  check::Certificate raised = claimed_;
  raised.lower_bound = 1.01 * raised.value;
  for (check::Claim& claim : raised.claims) {
    claim.bound = std::max(claim.bound, raised.lower_bound);
  }
  EXPECT_EQ(verdict_of(raised), "the lower bound exceeds the value of the mapping");
  int refused = 0;
  for (std::size_t c = 0; c < claimed_.claims.size(); ++c) {
    check::Certificate forged = claimed_;
    double& bound = forged.claims[c].bound;
    bound = 0.99 * forged.lower_bound;
    EXPECT_THAT(verdict_of(forged), HasSubstr("is less than the lower bound of the whole"));
    bound = 50 * forged.value;
    const std::string verdict = verdict_of(forged);
    if (!verdict.empty()) {  // else nothing fits there within the limits
      ++refused;
      EXPECT_THAT(verdict, ContainsRegex("where there is a mapping of|follows|with less, by"));
    }
    bound = claimed_.claims[c].bound;
    forged.claims.push_back(forged.claims[c]);
    EXPECT_THAT(verdict_of(forged), HasSubstr("a second bound of "));
  }
  EXPECT_GT(refused, 0);
  check::Certificate bare = claimed_;
  bare.claims.clear();
  EXPECT_THAT(verdict_of(bare), HasSubstr("no bound of the unrolling "));
}

// The size of the mapspace; that nothing fits, where something does.
TEST_P(Forgery, OfASpaceIsRefused) {
  for (const char* size : {"1", "9999999999999999999999"}) {
    check::Certificate forged = claimed_;
    forged.size = size;
    EXPECT_THAT(verdict_of(forged), ContainsRegex("the mapspace has [0-9]+ mappings, not"));
  }
  check::Certificate forged = claimed_;
  forged.points.clear();
  EXPECT_NE(verdict_of(forged), "");
  forged.value = forged.lower_bound = check::kInfinity;
  for (check::Claim& claim : forged.claims) {
    claim.bound = check::kInfinity;
  }
  EXPECT_THAT(verdict_of(forged), ContainsRegex("where there is a mapping of|follows|not all"));
}

// A point left out, or with figures of its own.
TEST_P(Forgery, OfPointsIsRefused) {
  if (!claimed_.is_front()) {
    GTEST_SKIP() << "it has bounds in their place";
  }
  ASSERT_GT(claimed_.points.size(), 1U);
  for (std::size_t p = 0; p < claimed_.points.size(); ++p) {
    check::Certificate forged = claimed_;
    forged.points.erase(forged.points.begin() + static_cast<std::ptrdiff_t>(p));
    EXPECT_THAT(verdict_of(forged), HasSubstr("the points are not all: of the unrolling"));
    for (const double by : {0.9, 1.1}) {
      forged = claimed_;
      forged.points[p].figures.first *= by;
      EXPECT_THAT(verdict_of(forged), HasSubstr("the mapping has a value of"));
      forged = claimed_;
      forged.points[p].figures.second *= by;
      forged.points[p].figures.second += by - 1;
      EXPECT_THAT(verdict_of(forged), HasSubstr("the mapping takes "));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Forgery, testing::ValuesIn(kKinds),
                         [](const auto& each) { return each.param; });

// A mapping that costs what is claimed, but keeps what the rules forbid, or does not keep what they
// demand: under every such rule, every mapping that breaks it.
TEST(ForgedMapping, ThatBreaksARuleIsRefused) {
  const Problem problem = tiny_problem();
  for (const auto& [rule, says] : std::vector<std::pair<std::string, std::string>>{
           {"keep: {Buffer: [A]}", "A must be kept at Buffer"},
           {"bypass: {Buffer: [B]}", "B must bypass Buffer"},
           {"keep: {Buffer: [Z]}", "Z must be kept at Buffer"},
           {"bypass: {Buffer: [Z]}", "Z must bypass Buffer"},
           {"tiling: even", "stand"},
           {"unroll: {PEs: {X: {dims: [M]}}}", "that the rules do not allow"},
           {"spatial: {PEs: {X: {M: 2}}}", "not the given unrolling"},
           {"extents: {Buffer: {M: {max: 2}}}", "are not allowed"},
           {"tiling: even, loops: {Buffer: {order: [M, N, K]}}", "that the rules "}}) {
    const Constraints constraints =
        parse_constraints("mapspace: {" + rule + "}\n", "rules", problem);
    const Mapspace narrow{problem, constraints};
    const check::Certificate claimed =
        check::parse_certificate(proof_of(problem, constraints, Objective::kEnergy), "proof");
    ASSERT_TRUE(check::check_certificate(claimed, {}).problems.empty()) << rule;
    int broken = 0;
    int said = 0;
    Mapspace{problem, {}}.enumerate([&](const Mapping& mapping) {
      const std::string why = check::why_outside(claimed.problem, claimed.rules, mapping);
      const bool is_outside = !first_breach(narrow, mapping).empty();
      EXPECT_EQ(is_outside, !why.empty()) << rule << ": " << why;
      if (is_outside && ++broken == 1) {
        check::Certificate forged = claimed;
        forged.points[0].mapping = mapping;
        EXPECT_THAT(check::check_certificate(forged, {}).problems,
                    testing::Contains("the mapping is not in the declared mapspace: " + why));
      }
      said += why.find(says) != std::string::npos ? 1 : 0;
      return true;
    });
    EXPECT_GT(broken, 0) << rule;
    EXPECT_GT(said, 0) << rule;
  }
}

}  // namespace
}  // namespace mapsim::forgery_test
