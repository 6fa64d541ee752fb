// SPDX-License-Identifier: Apache-2.0
#include "design/certificate.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <regex>
#include <sstream>

#include "check/certificate.hpp"
#include "check/design_proof.hpp"
#include "core/diagnostic.hpp"
#include "core/document.hpp"
#include "core/substitute.hpp"
#include "tests/design/random_space.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::certificate_test {
namespace {

using ::testing::HasSubstr;

const std::string kCampaigns = source_path("configs/campaigns/");

// What is wrong with a certificate whose digest is right; empty: nothing.
std::string complaint(const std::string& text) {
  const std::string body = text.substr(0, text.rfind("digest: "));
  try {
    auto certificate = check::parse_design_certificate(body + check::seal(body), "proof");
    const check::DesignVerdict verdict = check::check_design(certificate, {});
    return verdict.problems.empty() ? "" : verdict.problems.front();
  } catch (const ConfigError& error) {
    return error.diagnostics().front().message;
  }
}

std::string replaced(const std::string& text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what << " in\n" << text;
  return std::string{text}.replace(at, what.size(), by);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all{text};
  for (std::string line; std::getline(all, line);) {
    lines.push_back(line + '\n');
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line;
  }
  return text;
}

// Two machines' sizes trade area against energy; some designs are too large.
Campaign small_space() {
  return parse_campaign(
      "name: c\narchitectures:\n  - file: ../arch/teaching.yaml\n    grid:\n"
      "      nodes.Buffer.capacity: [128 B, 1 KiB, 4 KiB, 16 KiB]\n"
      "      nodes.PEs.x: [2, 4, 8]\n      nodes.PEs.y: [2, 4, 8]\n"
      "workloads: [../workloads/teaching/gemm.yaml, ../workloads/teaching/conv.yaml]\n",
      kCampaigns + "c.yaml");
}

std::string proof_of(const Campaign& campaign, DesignOptions options) {
  options.certificate = true;
  const DesignAnswer answer = search_design(campaign, options);
  EXPECT_TRUE(answer.proven);
  return design_certificate(campaign, options, answer);
}

DesignOptions asked(const std::string& objective) {
  DesignOptions options;
  options.objective = std::get<DesignObjective>(parse_design_objective(objective));
  return options;
}

TEST(DesignProof, HoldsForRandomSpacesAndQuestions) {
  for (std::uint64_t seed = 1; seed <= tried_of(16U); ++seed) {
    EXPECT_EQ(compare_certificate(random_space(seed), seed), "") << "seed " << seed;
  }
}

// Or there is none, where limits chose among mappings.
TEST(DesignProof, HoldsWithinLimitsOfAnyKind) {
  const Campaign campaign = small_space();
  int proofs = 0;
  const auto try_it = [&](DesignOptions options) {
    options.certificate = true;
    const DesignAnswer answer = search_design(campaign, options);
    EXPECT_TRUE(answer.proven);
    const std::string text = design_certificate(campaign, options, answer);
    EXPECT_EQ(text.empty(), answer.evidence.is_by_choice);
    if (text.empty()) {
      EXPECT_THAT(why_no_certificate(options, answer), HasSubstr("chose among the mappings"));
    } else {
      EXPECT_EQ(complaint(text), "");
      ++proofs;
    }
  };
  DesignOptions options = asked("edp");
  const DesignAnswer best = search_design(campaign, options);
  options.limits.area = SquareMillimetres{best.best()->area.value_or(0) * 0.7};
  try_it(options);
  options.limits.latency = Seconds{best.best()->seconds() * 1.5};
  try_it(options);
  options.limits.power = Milliwatts{best.best()->energy / best.best()->seconds() * 1e-9 * 0.7};
  try_it(options);
  // Of the least latency the power limits the energy, too.
  DesignOptions fast = asked("latency");
  const DesignAnswer fastest = search_design(campaign, fast);
  fast.limits.power = Milliwatts{fastest.best()->energy / fastest.best()->seconds() * 1e-9 * 0.7};
  try_it(fast);
  // Of boxes whose least latency is too much.
  DesignOptions slow = asked("energy");
  slow.limits.latency = Seconds{fastest.best()->seconds() * 0.9};
  try_it(slow);
  EXPECT_THAT(proofs, testing::AllOf(testing::Gt(1), testing::Lt(5)));
}

// What an earlier version wrote of designs whose best mappings break a limit.
TEST(DesignProof, IsRefusedWhereOtherMappingsMayKeepALimit) {
  const std::string text = proof_of(small_space(), asked("energy"));
  EXPECT_THAT(
      complaint(replaced(text, "--- leaves 0", "--- beyond 0 0 0 0\nvalue: 1\n--- leaves 0")),
      HasSubstr("other ones may keep it"));
}

// Each box is needed: with any of them left out, or twice, designs have no box or two.
TEST(DesignProof, IsRefusedWithoutAnyOfItsBoxes) {
  DesignOptions options = asked("sum-edp");
  const double most = search_design(small_space(), options).best()->area.value_or(0);
  options.limits.area = SquareMillimetres{0.6 * most};  // or one box would do
  const std::vector<std::string> lines = lines_of(proof_of(small_space(), options));
  int tried = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (std::regex_search(lines[i], std::regex{"^(bound|area|limit)( \\d+-\\d+)+\n"})) {
      auto without = lines;
      without[i].clear();
      EXPECT_THAT(complaint(joined(without)), HasSubstr("do not have each of its designs once"));
      auto twice = lines;
      twice[i] += twice[i];
      EXPECT_THAT(complaint(joined(twice)), HasSubstr("do not have each of its designs once"));
      ++tried;
    }
  }
  EXPECT_GT(tried, 2);
}

// Bounds that were raised are refuted, each by itself where a box needs it, and all together.
TEST(DesignProof, IsRefusedWithRaisedBounds) {
  const std::size_t kTried = tried_of(6U);  // by themselves: each is a whole check
  const std::vector<std::string> lines = lines_of(proof_of(small_space(), asked("edp")));
  std::vector<std::string> raised = lines;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch parts;
    if (std::regex_match(lines[i], parts, std::regex{"(\\d+) (\\S+)(( \\d+-\\d+)+ : .*\n)"})) {
      raised[i] =
          fmt::format("{} {}{}", parts[1].str(), std::stod(parts[2]) * 1.01, parts[3].str());
      places.push_back(i);
    }
  }
  EXPECT_THAT(complaint(joined(raised)), HasSubstr("a bound of"));
  int refused = 0;
  for (std::size_t t = 0; t < kTried; ++t) {
    auto one = lines;
    const std::size_t i = places[t * places.size() / kTried];
    one[i] = raised[i];
    refused += complaint(joined(one)).find("a bound of") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(refused, 1);
}

// Boxes of designs that are none: beyond an axis, the wrong way round, of another number of axes.
TEST(DesignProof, IsRefusedWithABoxOutsideOfItsSpace) {
  DesignOptions options = asked("sum-edp");
  const double most = search_design(small_space(), options).best()->area.value_or(0);
  options.limits.area = SquareMillimetres{0.6 * most};  // or one box would do
  const std::vector<std::string> lines = lines_of(proof_of(small_space(), options));
  const std::regex box{"^(bound|area|limit|\\d+ [0-9.e+]+) (\\d+)-(\\d+)"};
  int leaves = 0;
  int proofs = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch found;
    if (!std::regex_search(lines[i], found, box)) {
      continue;
    }
    (std::isdigit(lines[i][0]) != 0 ? proofs : leaves) += 1;
    const std::string kind = found[1].str() + ' ';
    for (const std::string& interval :
         {kind + "0-9", kind + "9-9", kind + "1-0", kind + "0-0 0-0"}) {
      auto forged = lines;
      forged[i] = interval + found.suffix().str();
      EXPECT_EQ(complaint(joined(forged)), "a box or a design is outside the grid") << forged[i];
    }
    if (leaves > 3 && proofs > 3) {
      break;
    }
  }
  EXPECT_GT(leaves, 2);
  EXPECT_GT(proofs, 2);
}

// Points of a front that are larger than another one and worse, or as large and worse.
TEST(DesignProof, OfAFrontIsRefusedWithAWorsePoint) {
  const auto problems = [](const std::string& text) {
    const std::string body = text.substr(0, text.rfind("digest: "));
    auto certificate = check::parse_design_certificate(body + check::seal(body), "proof");
    return check::check_design(certificate, {}).problems;
  };
  for (const char* axis : {"nodes.Buffer.capacity: [1 KiB, 4 KiB]", "clock: [1 GHz, 500 MHz]"}) {
    const Campaign campaign = parse_campaign(
        fmt::format("name: c\narchitectures:\n  - file: ../arch/teaching.yaml\n    grid:\n"
                    "      {}\nworkloads: [../workloads/teaching/conv.yaml]\n",
                    axis),
        kCampaigns + "c.yaml");
    for (const char* objective : {"latency", "edp"}) {
      DesignOptions options = asked(objective);
      options.top = 2;
      const std::string all = proof_of(campaign, options);
      ASSERT_THAT(problems(all), testing::IsEmpty());
      EXPECT_THAT(problems(replaced(all, "wanted: best\ntop: 2", "wanted: front\ntop: 1")),
                  testing::Contains(HasSubstr("one that is no worse in either")))
          << axis << ", " << objective;
    }
  }
}

// A machine of just the area allowed may be used.
TEST(DesignProof, IsRefusedWhereAMachineOfTheAreaAllowedIsLeftOut) {
  const Campaign campaign = parse_campaign(
      "name: c\narchitectures:\n  - file: ../arch/teaching.yaml\n    grid:\n"
      "      nodes.Buffer.capacity: [1 KiB, 4 KiB]\n"
      "workloads: [../workloads/teaching/conv.yaml]\n",
      kCampaigns + "c.yaml");
  DesignOptions options = asked("energy");
  const double area = search_design(campaign, options).best()->area.value_or(0);
  const auto limit = [](double allowed) { return fmt::format("max_area_mm2: {}\n", allowed); };
  const double less = area * (1 - 1e-6);
  options.limits.area = SquareMillimetres{less};
  const std::string text = proof_of(campaign, options);
  ASSERT_EQ(complaint(text), "");
  EXPECT_EQ(complaint(replaced(text, limit(less), limit(area * (1 - 1e-12)))), "");
  EXPECT_THAT(complaint(replaced(text, limit(less), limit(area))),
              HasSubstr("is not beyond the area allowed"));
}

TEST(DesignProof, IsRefusedWithALayerThatIsNotThere) {
  const std::string text = proof_of(small_space(), asked("edp"));
  for (const char* layer : {"--- layer\n", "--- layer 2\n", "--- layer 123456789\n"}) {
    EXPECT_THAT(complaint(replaced(text, "--- layer 0\n", layer)),
                HasSubstr("is about something that is not there"));
  }
}

TEST(DesignProof, IsRefusedWithALowerValue) {
  const std::string text = proof_of(small_space(), asked("edp"));
  std::smatch value;
  ASSERT_TRUE(std::regex_search(text, value, std::regex{"\nvalue: (\\S+)\n"}));
  for (const double share : {0.999, 1.001}) {
    const std::string other = fmt::format("\nvalue: {}\n", std::stod(value[1]) * share);
    EXPECT_THAT(complaint(replaced(text, value[0], other)), HasSubstr("its mappings come to"));
  }
}

// The best machine of another one's limits, another space, other work.
// By time the best folds of a systolic array may leave a remainder, of which no certificate is.
TEST(DesignProof, IsNotAboutTimesOfArraysWhoseFoldsLeaveRemainders) {
  const Campaign campaign = parse_campaign(
      "name: c\narchitectures:\n  - file: ../arch/systolic_32x32.yaml\n    grid: "
      "{nodes.Array.x.size: [12, 32]}\nworkloads: [../workloads/teaching/gemm.yaml]\n",
      kCampaigns + "c.yaml");
  EXPECT_EQ(why_no_certificate(campaign, asked("energy")), "");
  EXPECT_THAT(why_no_certificate(campaign, asked("latency")), HasSubstr("remainder"));
  const std::string by_energy = proof_of(campaign, asked("energy"));
  EXPECT_EQ(complaint(by_energy), "");
  EXPECT_THAT(complaint(replaced(by_energy, "counts:", "max_energy_pj: 1e12\ncounts:")),
              HasSubstr("remainder"));
  DesignOptions by_time = asked("latency");
  by_time.certificate = true;
  EXPECT_NE(complaint(design_certificate(campaign, by_time, search_design(campaign, by_time))), "");
}

TEST(DesignProof, IsRefusedOfAnotherQuestion) {
  DesignOptions options = asked("edp");
  const double most = search_design(small_space(), options).best()->area.value_or(0);
  options.limits.area = SquareMillimetres{0.6 * most};
  const std::string text = proof_of(small_space(), options);
  const std::string limit = fmt::format("max_area_mm2: {}", 0.6 * most);
  EXPECT_THAT(complaint(replaced(text, limit, "max_area_mm2: 100")),
              HasSubstr("is not beyond the area allowed"));
  EXPECT_THAT(complaint(replaced(text, limit, "max_area_mm2: 1e-9")),
              HasSubstr("is beyond the limits"));
  EXPECT_NE(complaint(replaced(text, limit + "\n", "")), "");
  EXPECT_NE(complaint(replaced(text, "{read: 1 pJ/word", "{read: 2 pJ/word")), "");
  EXPECT_NE(complaint(replaced(text, ", [[\"nodes.PEs.x\", 8]]", "")), "");
  EXPECT_NE(complaint(replaced(text, "objective: \"edp\"", "objective: \"sum-edp\"")), "");
  EXPECT_NE(complaint(replaced(text, "counts: [1, 1]", "counts: [1, 2]")), "");
  EXPECT_THAT(complaint(replaced(text, "counts: [1, 1]", "counts: [0, 1]")),
              HasSubstr("occurs more than 0 times"));
  EXPECT_NE(complaint(replaced(text, "wanted: best\ntop: 1", "wanted: best\ntop: 2")), "");
}

TEST(DesignProof, IsOfOneSpaceAndItsLayers) {
  const std::string text = proof_of(small_space(), asked("edp"));
  const auto differences_after = [&text](const auto& change) {
    Campaign space = small_space();
    change(space);
    const std::vector<std::string> found =
        differences(check::parse_design_certificate(text, "proof"), space);
    return found.empty() ? "" : found.front();
  };
  EXPECT_EQ(differences_after([](Campaign&) {}), "");
  EXPECT_THAT(differences_after([](Campaign& space) { space.layers[0].count = 3; }),
              HasSubstr("other layers than those of"));
  EXPECT_THAT(differences_after([](Campaign& space) { space.layers.pop_back(); }),
              HasSubstr("other layers than those of"));
  EXPECT_THAT(
      differences_after([](Campaign& space) { space.machines[0].grid[0].second.pop_back(); }),
      HasSubstr("it has other values of nodes."));
  EXPECT_THAT(differences_after([](Campaign& space) { space.machines[0].grid.pop_back(); }),
              HasSubstr(" axes, not "));
  EXPECT_THAT(differences_after([](Campaign& space) {
                space.questions[0].objective.mode = LatencyMode::kRamped;
              }),
              HasSubstr("the proof is about another latency than"));
  EXPECT_THAT(
      differences_after([](Campaign& space) { space.questions[0].constraints_file = "r.yaml"; }),
      HasSubstr("certificates of designs are about all mappings"));
  EXPECT_THAT(differences_after([](Campaign& space) { space.machines.clear(); }),
              HasSubstr("the proof is about 1 architectures, "));
  EXPECT_THAT(differences_after([](Campaign& space) {
                substitute(space.machines[0].document.root, "clock",
                           parse_yaml("500 MHz", "c").root);
              }),
              HasSubstr("it has another architecture"));
}

// What one item of a list leaves to the file another one may set: spaces of the same list and the
// same first design can differ.
TEST(DesignProof, IsOfOneList) {
  const auto with_list = [](const std::string& more) {
    return parse_campaign(
        "name: c\narchitectures:\n  - file: ../arch/teaching.yaml\n    list:\n"
        "      - {nodes.Buffer.capacity: 1 KiB, clock: 1 GHz}\n" +
            more + "workloads: [../workloads/teaching/gemm.yaml]\n",
        kCampaigns + "c.yaml");
  };
  const std::string second = "      - {nodes.Buffer.capacity: 4 KiB}\n";
  const std::string text = proof_of(with_list(second), asked("edp"));
  const auto first_difference = [&text](const Campaign& space) {
    const auto found = differences(check::parse_design_certificate(text, "proof"), space);
    return found.empty() ? "" : found.front();
  };
  EXPECT_EQ(first_difference(with_list(second)), "");
  Campaign slower = with_list(second);
  substitute(slower.machines[0].document.root, "clock", parse_yaml("500 MHz", "c").root);
  EXPECT_THAT(first_difference(slower), HasSubstr("it has another architecture"));
  EXPECT_THAT(first_difference(with_list("      - {nodes.Buffer.capacity: 8 KiB}\n")),
              HasSubstr("it has other values of list"));
  EXPECT_THAT(first_difference(with_list("")), HasSubstr("it has other values of list"));
}

TEST(DesignProof, IsRefusedWithoutALayer) {
  const std::string text = proof_of(small_space(), asked("edp"));
  const std::size_t begin = text.find("--- layer 1");
  const std::size_t end = text.find("---", begin + 4);
  EXPECT_THAT(complaint(text.substr(0, begin) + text.substr(end)),
              HasSubstr("not a bound of a layer"));
  // That it only moves data is a claim about other work, which the mapping and the bounds refute.
  EXPECT_NE(complaint(text.substr(0, begin) + "--- moves 1 8 8\n" + text.substr(end)), "");
}

TEST(DesignProof, IsRefusedWithOtherSecondBest) {
  DesignOptions options = asked("sum-edp");
  options.top = 3;
  const std::string text = proof_of(small_space(), options);
  EXPECT_EQ(complaint(text), "");
  const std::size_t first = text.find("--- answer");
  const std::size_t second = text.find("--- answer", first + 1);
  const std::size_t third = text.find("--- answer", second + 1);
  EXPECT_NE(complaint(text.substr(0, second) + text.substr(third)), "");
  EXPECT_THAT(
      complaint(text.substr(0, second) + text.substr(first, second - first) + text.substr(third)),
      HasSubstr("is named twice"));
  EXPECT_THAT(complaint(replaced(text, "top: 3", "top: 2")),
              HasSubstr("names 3 designs as the best 2"));
}

// Claims of two machines by hand whose boxes have both values of an axis.
std::string claimed_of_all(const std::string& objective, const std::string& axes,
                           const std::string& arch, const std::string& density, double value,
                           const std::string& mapping, const std::string& proof) {
  const bool is_one_axis = axes.find("other") == std::string::npos;
  return fmt::format(
      "design_certificate: 1\ntool: mapsim 0.1.0\nobjective: \"{0}\"\nlatency: steady\n"
      "wanted: best\ntop: 1\ngap: 0\ncounts: [1]\nspaces:\n  - name: \"s\"\n    axes:\n{1}"
      "--- architecture\n{2}\n--- layer 0\nname: conv\neinsum:\n"
      "  equation: O[N][K][P][Q] += I[N][C][P+R][Q+S] * W[K][C][R][S]\n"
      "  dims: {{N: 1, K: 8, C: 4, P: 8, Q: 8, R: 3, S: 3}}\n  roles: {{I: input, W: weight}}\n"
      "precision: {{I: 8 b, W: 8 b, O: 8 b, partial: 32 b}}\n{3}"
      "--- answer 0 0{4}\nvalue: {5}\n--- mapping 0\nmapping:\n  - keep DRAM: [I, W, O]\n{6}"
      "--- leaves 0\nbound 0-1{7}\n--- proofs 0\n0 {8}\n",
      objective, axes, arch, density, is_one_axis ? "" : " 0", value, mapping,
      is_one_axis ? "" : " 0-1", proof);
}

// Axes of the clock that only together change the machine, and an axis of what zeros save.
TEST(DesignProof, IsRefusedWhereMoreThanNodesDiffers) {
  const std::string nodes =
      "nodes: [{storage: DRAM, word: 8 b, capacity: unlimited, bandwidth: {shared: 8 B/cycle}, "
      "energy: {read: 1 pJ/word, write: 1 pJ/word}}, {fanout: PEs, x: 8, y: 8}, {storage: "
      "Registers, word: 8 b, capacity: 64 B, energy: {read: 1 pJ/word, write: 1 pJ/word}, area: 4 "
      "um2/b}, ";
  const std::string clocks =
      "      - name: \"clock\"\n        values: [[[\"clock\", 1 GHz]], [[\"clock\", 10 GHz]]]\n"
      "      - name: \"other\"\n        values: [[[\"clock\", 1 GHz]], []]\n";
  EXPECT_THAT(
      complaint(claimed_of_all(
          "latency", clocks,
          "{name: s, clock: 1 GHz, " + nodes + "{compute: MAC, energy: 1 pJ, area: 0.001 mm2}]}",
          "", 2.404e-6,
          "  - parallel Q: 1 over X of PEs\n  - parallel P: 1 over Y of PEs\n"
          "  - keep Registers: [O]\n  - for C: 1\n  - for S: 1\n  - for R: 1\n  - for K: 1\n",
          "2404 0-1 0-1 : latency")),
      HasSubstr("its nodes depend on each other"));
  const std::string gated =
      "      - name: \"nodes.MAC.gated_energy\"\n        values: [[[\"nodes.MAC.gated_energy\", 9 "
      "pJ]], [[\"nodes.MAC.gated_energy\", 1 pJ]]]\n";
  EXPECT_THAT(complaint(claimed_of_all(
                  "energy", gated,
                  "{name: s, clock: 1 GHz, " + nodes +
                      "{compute: MAC, energy: 10 pJ, when_zero: gate, gated_energy: 9 pJ, area: "
                      "0.001 mm2}]}",
                  "density: {I: 0.5, W: 0.5}\n", 320512,
                  "  - for P: 1\n  - for S: 1\n  - for R: 1\n  - for C: 1\n"
                  "  - parallel Q: 1 over X of PEs\n  - parallel K: 1 over Y of PEs\n",
                  "320512 0-1 : energy")),
              HasSubstr("its machines differ in what no bound covers"));
}

TEST(DesignProof, IsRefusedWhereItWasDamaged) {
  const std::string text = proof_of(small_space(), asked("latency"));
  const auto parsed = [](const std::string& damaged) {
    return check::parse_design_certificate(damaged, "proof");
  };
  EXPECT_THROW(parsed(replaced(text, "gap: 0", "gap: 9")), ConfigError);
  EXPECT_THROW(parsed(text.substr(0, text.size() / 2)), ConfigError);
  EXPECT_THROW(parsed(""), ConfigError);
  EXPECT_NO_THROW(parsed(text));
}

// What was proven when a search was stopped holds with the gap that is left.
TEST(DesignProof, HoldsWithTheGapOfAStoppedSearch) {
  std::atomic<bool> stop{false};
  DesignOptions options = asked("edp");
  options.certificate = true;
  options.stop = &stop;
  options.progress = [&](const DesignProgress& progress) { stop = progress.boxes >= 4; };
  const Campaign campaign = small_space();
  options.limits.area = SquareMillimetres{
      0.6 *
      search_design(campaign, asked("edp")).best()->area.value_or(0)};  // or the first box would do
  const DesignAnswer answer = search_design(campaign, options);
  ASSERT_TRUE(answer.interrupted);
  const std::string text = design_certificate(campaign, options, answer);
  ASSERT_NE(text, "");
  EXPECT_EQ(complaint(text), "");
  EXPECT_THAT(complaint(std::regex_replace(text, std::regex{"\ngap: \\S+\n"}, "\ngap: 0\n")),
              HasSubstr("may be better"));
}

}  // namespace
}  // namespace mapsim::certificate_test
