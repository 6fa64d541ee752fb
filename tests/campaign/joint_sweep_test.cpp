// SPDX-License-Identifier: Apache-2.0
// The EDP of networks in campaigns: mappings of all layers chosen jointly.
#include "campaign/joint_sweep.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <iterator>
#include <map>

#include "campaign/network.hpp"
#include "campaign/report.hpp"
#include "campaign/results.hpp"
#include "costmodel/mapping_text.hpp"
#include "design/search.hpp"
#include "sweeps.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::joint_sweep_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A machine with narrow ports, on which time and energy are worth different mappings; a network of
// three layers, one of them twice under two names, and an operator that only moves data.
class JointSweeps : public Sweeps {
 protected:
  JointSweeps() {
    write("tiny.yaml",
          "name: tiny\nclock: 500 MHz\nnodes:\n"
          "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
          "    bandwidth: {shared: 8 B/cycle}\n    energy: {read: 1 pJ/B, write: 20 pJ/B}\n"
          "  - storage: Buffer\n    word: 8 b\n    capacity: 16 B\n"
          "    bandwidth: {read: 4 B/cycle, write: 2 B/cycle}\n"
          "    energy: {read: 3 pJ/B, write: 3 pJ/B}\n"
          "  - fanout: PEs\n    x: 4\n    y: 2\n    spatial_reduction: true\n"
          "  - storage: Registers\n    word: 8 b\n    capacity: 8 B\n"
          "    energy: {read: 4 pJ/B, write: 1 pJ/B}\n"
          "  - compute: MAC\n    energy: 1 pJ\n");
    write("g0.yaml", "name: g0\ngemm: {m: 3, n: 11, k: 7}\n");
    write("g1.yaml", "name: g1\ngemm: {m: 12, n: 2, k: 9}\n");
    write("g2.yaml", "name: g2\ngemm: {m: 5, n: 5, k: 12}\n");
    write("net.yaml",
          "name: net\nlayers: [{workload: g0.yaml}, {workload: g1.yaml}, {workload: g2.yaml, "
          "count: 3}, {name: again, workload: g0.yaml}]\n"
          "streams: [{name: pool, kind: MaxPool, in: 800 b, out: 400 b, count: 2}]\n");
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{path(name)} << text;
  }
  // Of eight designs; on some the joint choice is better, on others it is the layers' own.
  Campaign designs(const std::string& rest = "objectives: [edp]\n") const {
    return parse_campaign(
        "name: joint\narchitectures:\n  - file: tiny.yaml\n    grid:\n"
        "      nodes.Buffer.capacity: [16 B, 64 B]\n"
        "      nodes.DRAM.bandwidth.shared: [1 B/cycle, 8 B/cycle]\n"
        "      nodes.DRAM.energy.read: [1 pJ/B, 8 pJ/B]\nnetworks: [net.yaml]\n" +
            rest,
        path("joint.yaml"));
  }
  // Rows of a view, these columns.
  std::vector<Record> rows(const std::string& name, const std::string& view,
                           const std::vector<std::string>& columns) const {
    std::vector<Record> rows;
    Store{path(name), Store::Open::kExisting}.read(
        {view, "", columns}, [&rows](const Record& row) { rows.push_back(row); });
    return rows;
  }
  // All results but for their seconds, whoever asked for them.
  std::vector<std::string> results(const std::string& name) const {
    Database database{path(name)};
    Statement all{database,
                  "SELECT design || workload || question || status || energy_pj || latency_cycles"
                  " || coalesce(lower_bound, '') || coalesce(mapping, '') FROM results ORDER BY 1"};
    std::vector<std::string> texts;
    while (all.step()) {
      texts.push_back(all.text(0));
    }
    return texts;
  }
  std::size_t result_count(const std::string& name) const {
    return fs::exists(path(name)) ? results(name).size() : 0;
  }
  std::string text_of(const std::string& name, ResultsFormat format = ResultsFormat::kText) const {
    return results_table({"results", {}}, {path(name), "", true, format});
  }
  std::string report_of(const std::string& name) const {
    ReportInput input;
    input.results.studies = read_studies(path(name), "");
    return page_html(report_page(input));
  }
};

// Design by design the same mappings, the same figures and the same bound.
TEST_F(JointSweeps, FindWhatNetworkAndDesignFind) {
  const Campaign asked = designs();
  const SweepSummary summary = run(asked, "a.sqlite");
  EXPECT_EQ(summary.progress.networks_chosen, 8);
  const auto found =
      rows("a.sqlite", "networks",
           {"edp_pj_s", "edp_lower_bound_pj_s", "chosen", "proven", "energy_pj", "latency_cycles"});
  const auto mappings = rows("a.sqlite", "chosen_answers", {"layer", "mapping"});
  const auto own = rows("a.sqlite", "answers", {"count", "energy_pj", "latency_cycles"});
  ASSERT_EQ(found.size(), 8);
  ASSERT_EQ(mappings.size(), 40);
  DesignOptions options;
  options.objective = network_objective(ObjectiveFunction::product(1, 1));
  options.top = 8;
  std::map<std::size_t, double> by_design;
  for (const BestDesign& one : search_design(asked, options).designs) {
    by_design[one.number] = one.value;
  }
  const Network network = load_network(path("net.yaml"));
  NetworkOptions search;
  search.search.objective = Objective::kEdp;
  search.search.partial_folds = true;
  int better = 0;
  for (std::size_t d = 0; d < found.size(); ++d) {
    const Arch arch = *load(design(asked, d)).arch;
    const NetworkResult alone = search_network(arch, network, search);
    const NetworkTotals sums = totals(arch, network, alone, LatencyMode::kSteady);
    const double edp = alone.joint->edp / arch.clock.count();
    EXPECT_NEAR(std::get<double>(found[d][0]), edp, 1e-11 * edp) << d;
    EXPECT_NEAR(std::get<double>(found[d][1]), alone.joint->lower_bound / arch.clock.count(),
                1e-11 * edp);
    EXPECT_EQ(found[d][2], Cell{"jointly"});
    EXPECT_EQ(found[d][3], Cell{std::int64_t{1}});
    EXPECT_NEAR(std::get<double>(found[d][4]), sums.energy.count(), 1e-11 * sums.energy.count());
    EXPECT_EQ(found[d][5], Cell{sums.latency.count()});
    EXPECT_NEAR(by_design.at(d) * 1e12, edp * 1e12, 1e-9 * edp * 1e12) << d;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
      EXPECT_EQ(mappings[5 * d + l][1],
                Cell{print_mapping(arch, network.layers[l].workload, *alone.layers[l].best)});
    }
    double energy = 0;
    std::int64_t cycles = 0;
    for (std::size_t l = 0; l < 5; ++l) {
      const auto count = std::get<std::int64_t>(own[5 * d + l][0]);
      energy += static_cast<double>(count) * std::get<double>(own[5 * d + l][1]);
      cycles += count * std::get<std::int64_t>(own[5 * d + l][2]);
    }
    EXPECT_NEAR(alone.joint->by_layer, energy * static_cast<double>(cycles),
                1e-9 * alone.joint->by_layer);
    better += alone.joint->edp < alone.joint->by_layer * (1 - 1e-9) ? 1 : 0;
  }
  EXPECT_GT(better, 0);
  EXPECT_LT(better, 8);
}

// Stopped after each few searches it goes on where it was, searches nothing twice, and ends with
// the same rows.
TEST_F(JointSweeps, GoOnWhereTheyWereStopped) {
  const Campaign asked = designs();
  const std::size_t whole = run(asked, "whole.sqlite", 1).progress.searches;
  std::size_t searches = 0;
  std::size_t stops = 0;
  for (bool done = false; !done; ++stops) {
    ASSERT_LT(stops, whole + 2);
    std::atomic<bool> stop{false};
    SweepOptions options;
    options.database = path("parts.sqlite");
    options.stop = &stop;
    options.progress = [&stop](const SweepProgress& progress) {
      stop = stop || progress.searches >= 5;
    };
    const std::size_t before = result_count("parts.sqlite");
    const SweepSummary summary = sweep(asked, options);
    EXPECT_GE(result_count("parts.sqlite"), before + summary.progress.searches);
    searches += summary.progress.searches;
    done = !summary.interrupted;
  }
  EXPECT_GT(stops, 5);
  EXPECT_EQ(searches, whole);
  EXPECT_EQ(results("parts.sqlite"), results("whole.sqlite"));
  EXPECT_EQ(text_of("parts.sqlite", ResultsFormat::kCsv),
            text_of("whole.sqlite", ResultsFormat::kCsv));
  const SweepProgress again = run(asked, "whole.sqlite").progress;
  EXPECT_EQ(again.networks_known, 8);
  EXPECT_EQ(again.networks_planned, 0);
  EXPECT_EQ(again.searches, 0);
}

// Shards need layers of each other, and merge into what one sweep finds.
TEST_F(JointSweeps, DivideIntoShards) {
  const Campaign asked = designs();
  run(asked, "whole.sqlite", 3);
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = fmt::format("{}.sqlite", i);
    chosen += run(asked, name, 2, {i, 3}).progress.networks_chosen;
    Store{path("merged.sqlite"), Store::Open::kOrNew}.merge(path(name));
  }
  EXPECT_EQ(chosen, 8);
  EXPECT_EQ(results("merged.sqlite"), results("whole.sqlite"));
  EXPECT_EQ(text_of("merged.sqlite", ResultsFormat::kCsv),
            text_of("whole.sqlite", ResultsFormat::kCsv));
}

// Another objective, a strategy that proves nothing, a layer in no network, a GPU: nothing more is
// searched than points.
TEST_F(JointSweeps, CostOthersNothing) {
  const auto networks = [this](const Campaign& asked, const std::string& name) {
    const SweepProgress progress = run(asked, name).progress;
    EXPECT_EQ(progress.searches, 0);
    return progress.networks_known + progress.networks_planned;
  };
  EXPECT_EQ(networks(designs("objectives: [energy, energy^2*latency]\n"), "a.sqlite"), 0);
  EXPECT_THAT(text_of("a.sqlite"), Not(HasSubstr("edp:")));
  EXPECT_EQ(networks(designs("objectives: [edp]\nstrategy: random\nevaluations: 50\n"), "b.sqlite"),
            0);
  EXPECT_THAT(text_of("b.sqlite"), HasSubstr("edp: each layer has the mapping with the least EDP"));
  EXPECT_EQ(networks(campaign("", "objectives: [edp]\n"), "c.sqlite"), 0);
}

// Where searches end early, it is said how much less another choice could have; where a layer has
// no mapping there is no choice.
TEST_F(JointSweeps, SayWhatIsNotProven) {
  run(designs("objectives: [edp]\nbudget_labels: 1\n"), "cut.sqlite");
  bool any_open = false;
  for (const Record& row :
       rows("cut.sqlite", "networks", {"edp_pj_s", "edp_lower_bound_pj_s", "proven", "chosen"})) {
    const bool is_proven = std::get<double>(row[0]) <= std::get<double>(row[1]) * (1 + kRounding);
    EXPECT_EQ(row[2], Cell{std::int64_t{is_proven ? 1 : 0}});
    EXPECT_EQ(row[3], Cell{"jointly"});
    any_open = any_open || !is_proven;
  }
  EXPECT_TRUE(any_open);
  EXPECT_THAT(text_of("cut.sqlite"), HasSubstr("chosen jointly; no choice has less by more than "));
  EXPECT_THAT(report_of("cut.sqlite"),
              HasSubstr("for the least EDP of the network: no choice has less by more than "));
  const Campaign narrow = designs("objectives: [{minimize: edp, max_latency: 1 cycles}]\n");
  const SweepSummary summary = run(narrow, "none.sqlite");
  EXPECT_EQ(summary.progress.networks_open, 8);
  EXPECT_THAT(summary_text(narrow, summary), HasSubstr(", 8 not, because a layer has no mapping"));
  for (const Record& row : rows("none.sqlite", "networks", {"edp_pj_s", "chosen", "proven"})) {
    EXPECT_THAT(row, ElementsAre(Cell{}, Cell{}, Cell{std::int64_t{0}}));
  }
}

// A search whose design could not even be read, and a design that is another one by now: the choice
// is left to the next sweep.
TEST_F(JointSweeps, GiveUpWhatHasNoAnswer) {
  const Campaign asked = designs();
  std::vector<std::string> ids;
  std::vector<std::size_t> missing;
  for (std::size_t d = 0; d < asked.designs(); ++d) {
    ids.push_back(load(design(asked, d)).content.id);
    missing.push_back(d);
  }
  for (const bool is_other : {false, true}) {
    ids.back() = is_other ? "another" : ids.back();
    Store store{path(is_other ? "b.sqlite" : "a.sqlite"), Store::Open::kOrNew};
    JointSearches choices{asked, store, missing, ids, std::chrono::seconds{5}};
    PointQueue queue;
    SweepProgress progress;
    int tasks = 0;
    for (int turn = 0; turn < 100 && !choices.is_done(); ++turn) {
      choices.feed(queue, false, progress);
      while (const auto task = queue.take_now()) {
        choices.take({*task, {}, {}, "unreadable"});
        ++tasks;
      }
    }
    EXPECT_TRUE(choices.is_done());
    EXPECT_EQ(progress.networks_given_up, 8);
    EXPECT_EQ(tasks, is_other ? 7 : 8);
  }
}

// A choice that names no rows is none: the sums are those of the layers' own answers.
TEST_F(JointSweeps, CountOnlyWithTheirRows) {
  run(designs(), "a.sqlite");
  Database{path("a.sqlite")}.execute(
      "UPDATE results SET mapping = '{}' WHERE workload IN (SELECT workload FROM joint_networks)");
  int by_layer = 0;
  for (const Record& row :
       rows("a.sqlite", "networks", {"chosen", "proven", "edp_lower_bound_pj_s"})) {
    if (row[0] == Cell{"by layer"}) {
      EXPECT_THAT(row, ElementsAre(Cell{"by layer"}, Cell{std::int64_t{0}}, Cell{}));
      ++by_layer;
    }
  }
  EXPECT_GT(by_layer, 0);
}

TEST(LeastChoice, IsSaidAsFarAsItIsProven) {
  EXPECT_EQ(least_choice_text(0), "no choice has less");
  EXPECT_EQ(least_choice_text(0.013), "no choice has less by more than 1.3 %");
  EXPECT_EQ(least_choice_text(kNoMapping), "no bound is known");
}

// The best design, the figures and the mappings of a report are of the joint choice.
TEST_F(JointSweeps, AreWhatReportsRankBy) {
  run(designs(), "a.sqlite");
  const Study study = read_studies(path("a.sqlite"), "").at(0);
  const auto found = rows("a.sqlite", "networks", {"edp_pj_s"});
  double least = std::get<double>(found[0][0]);
  for (std::size_t d = 0; d < found.size(); ++d) {
    const double edp = std::get<double>(found[d][0]);
    EXPECT_NEAR(study.designs[d].value(study.goal().function), edp, 1e-11 * edp);
    EXPECT_FALSE(study.designs[d].edp_gap());
    least = std::min(least, edp);
  }
  EXPECT_NEAR(study.best()->value(study.goal().function), least, 1e-11 * least);
  EXPECT_THAT(text_of("a.sqlite"),
              AllOf(HasSubstr("edp: the mappings of all layers are chosen jointly; no choice has "
                              "less\n"),
                    HasSubstr(" J s"), Not(HasSubstr("by layer"))));
  EXPECT_THAT(
      report_of("a.sqlite"),
      AllOf(HasSubstr("chosen jointly for the least EDP of the network: no choice has "
                      "less."),
            Not(HasSubstr("Each layer has the mapping with the least EDP of that layer alone"))));
}

// Written before there were joint choices: its figures are called what they are. A sweep makes the
// choices.
TEST_F(JointSweeps, AddToOlderDatabases) {
  std::ifstream file{source_path("tests/campaign/data/schema_5.sql")};
  Database{path("old.sqlite")}.execute(std::string{std::istreambuf_iterator<char>{file}, {}});
  EXPECT_THAT(text_of("old.sqlite"),
              HasSubstr("edp: each layer has the mapping with the least EDP"));
  EXPECT_THAT(text_of("old.sqlite", ResultsFormat::kJson), HasSubstr("\"proven\": 0"));
  EXPECT_THAT(report_of("old.sqlite"),
              HasSubstr("Each layer has the mapping with the least EDP of that layer alone."));
  write("first.yaml", "name: first\ngemm: {m: 8, n: 12, k: 5}\n");
  write("second.yaml", "name: second\ngemm: {m: 2, n: 30, k: 4}\n");
  write("net.yaml",
        "name: net\nlayers: [{workload: first.yaml, count: 3}, {workload: second.yaml}]\n");
  const Campaign same = parse_campaign(
      "name: small\narchitectures: [{file: teaching.yaml}]\nnetworks: [net.yaml]\n"
      "objectives: [edp]\n",
      path("small.yaml"));
  EXPECT_EQ(run(same, "old.sqlite").progress.networks_chosen, 1);
  EXPECT_THAT(text_of("old.sqlite"), HasSubstr("chosen jointly; no choice has less"));
  EXPECT_EQ(rows("old.sqlite", "networks", {"chosen"}).at(0).at(0), Cell{"jointly"});
  EXPECT_EQ(run(same, "old.sqlite").progress.networks_known, 1);
}

}  // namespace
}  // namespace mapsim::joint_sweep_test
