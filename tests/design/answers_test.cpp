// SPDX-License-Identifier: Apache-2.0
// Searches for the best design and the database of a campaign.
#include "design/answers.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <optional>
#include <thread>

#include "campaign/sweep.hpp"
#include "design/search.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"

namespace mapsim::answers_test {
namespace {

const std::string kTeaching = source_path("configs/arch/teaching.yaml");

class DesignRows : public InFolder {
 protected:
  // 24 designs, two layers of which one occurs twice, an operator that only moves data.
  DesignRows() {
    std::ofstream{folder() / "net.yaml"}
        << "name: net\ninputs:\n  x: {shape: [1, 4, 10, 10]}\ngraph:\n"
           "  - {name: a, conv2d: {out_channels: 8, kernel: 3}, in: x}\n"
           "  - {name: p, op: GlobalAveragePool, in: a}\n"
           "  - {name: f, op: Flatten, in: p}\n"
           "  - {name: g, gemm: {n: 8}, in: f}\n";
  }
  Campaign space() const {
    return parse_campaign("name: rows\narchitectures:\n  - file: " + kTeaching +
                              "\n    grid:\n"
                              "      nodes.Buffer.capacity: [64 B, 256 B, 1 KiB, 4 KiB]\n"
                              "      nodes.PEs.x: [2, 4]\n      nodes.PEs.y: [2, 4, 8]\n"
                              "networks: [net.yaml]\nobjectives: [edp]\n",
                          (folder() / "space.yaml").string());
  }
  std::string path(const std::string& name) const { return (folder() / name).string(); }
  DesignAnswer find(const Campaign& campaign, const std::string& database, DesignOptions options,
                    const char* objective) const {
    DesignAnswers answers{campaign, path(database), nullptr};
    options.objective = std::get<DesignObjective>(parse_design_objective(objective));
    options.answers = &answers;
    return search_design(campaign, options);
  }
  // Points of the campaign that are listed, and those of them with an answer.
  std::pair<std::size_t, std::size_t> points(const std::string& database) const {
    Store store{path(database), Store::Open::kExisting};
    std::pair<std::size_t, std::size_t> found{0, 0};
    store.read({"answers", "rows", {"number", "status"}}, [&](const Record& row) {
      ++found.first;
      found.second += std::holds_alternative<std::string>(row[1]) ? 1U : 0U;
    });
    return found;
  }
  std::size_t sweep_into(const Campaign& campaign, const std::string& database) const {
    SweepOptions options;
    options.database = path(database);
    return sweep(campaign, options).progress.known;
  }
};

TEST_F(DesignRows, AreThoseOfASweep) {
  const Campaign campaign = space();
  for (const char* objective : {"sum-edp", "edp"}) {
    const std::string database = std::string{objective} + ".sqlite";
    const DesignAnswer found = find(campaign, database, {}, objective);
    const auto valued = static_cast<std::size_t>(found.counts.valued);
    ASSERT_GT(valued, 0U);
    EXPECT_EQ(points(database), (std::pair{3 * valued, 3 * valued})) << objective;
    // The sweep finds these, and its own rows equal them to the last bit.
    EXPECT_EQ(sweep_into(campaign, "own.sqlite"), objective == std::string{"edp"} ? 72U : 0U);
    Store{path("own.sqlite"), Store::Open::kOrNew}.merge(path(database));
    EXPECT_GE(sweep_into(campaign, database), 3 * valued);
    EXPECT_EQ(points(database), (std::pair{std::size_t{72}, std::size_t{72}}));
  }
}

TEST_F(DesignRows, AreTakenInPlaceOfSearches) {
  const Campaign campaign = space();
  for (const char* objective : {"sum-edp", "edp"}) {
    const std::string database = std::string{objective} + ".sqlite";
    const DesignAnswer first = find(campaign, database, {}, objective);
    ASSERT_GT(first.searches, 0);
    const DesignAnswer second = find(campaign, database, {}, objective);
    EXPECT_EQ(second.searches, 0) << objective;
    EXPECT_GT(second.answered, 0);
    EXPECT_EQ(second.best()->value, first.best()->value);
    EXPECT_EQ(second.best()->number, first.best()->number);
    EXPECT_TRUE(second.proven);
  }
  // Of a whole sweep every answer about a design is there.
  sweep_into(campaign, "all.sqlite");
  const DesignAnswer after = find(campaign, "all.sqlite", {}, "sum-edp");
  EXPECT_LT(after.searches, find(campaign, "none.sqlite", {}, "sum-edp").searches);
}

TEST_F(DesignRows, LetAStoppedSearchGoOn) {
  const Campaign campaign = space();
  const DesignAnswer whole = find(campaign, "whole.sqlite", {}, "edp");
  std::atomic<bool> stop{false};
  DesignOptions options;
  options.stop = &stop;
  options.progress = [&stop](const DesignProgress& progress) { stop = progress.boxes > 1; };
  const DesignAnswer begun = find(campaign, "part.sqlite", options, "edp");
  ASSERT_TRUE(begun.interrupted);
  ASSERT_GT(begun.searches, 0);
  const DesignAnswer rest = find(campaign, "part.sqlite", {}, "edp");
  EXPECT_LT(rest.searches, whole.searches);
  EXPECT_GE(rest.answered, begun.searches - 1);  // one was cut off
  EXPECT_EQ(rest.best()->value, whole.best()->value);
  EXPECT_TRUE(rest.proven);
}

// Stopped while another process writes, a search keeps what it has found.
TEST_F(DesignRows, AreLeftOutWhileAnotherProcessHoldsTheDatabase) {
  const Campaign campaign = space();
  std::atomic<bool> stop{false};
  DesignAnswers answers{campaign, path("held.sqlite"), &stop};
  DesignOptions options;
  options.objective = std::get<DesignObjective>(parse_design_objective("edp"));
  options.answers = &answers;
  options.stop = &stop;
  std::optional<Database> other;
  std::jthread stopping;
  options.progress = [&](const DesignProgress& progress) {
    if (progress.best && !other) {
      other.emplace(path("held.sqlite")).execute("BEGIN IMMEDIATE");
      stopping = std::jthread{[&stop] {
        std::this_thread::sleep_for(std::chrono::milliseconds{300});
        stop = true;
      }};
    }
  };
  const DesignAnswer found = search_design(campaign, options);
  EXPECT_TRUE(answers.is_cut_off());
  ASSERT_NE(found.best(), nullptr);
  EXPECT_LE(found.lower_bound, found.best()->value);
}

// A search that needs more memory than there is has no row: its design is not one of those listed.
TEST_F(DesignRows, AreOfWholeDesignsAlone) {
  const Campaign campaign = space();
  DesignOptions options;
  options.bytes = 3'000;  // enough for boxes
  EXPECT_GT(find(campaign, "short.sqlite", options, "sum-edp").searches, 0);
  const auto [listed, answered] = points("short.sqlite");
  EXPECT_EQ(listed, answered);
}

// What the database already lists stays, unless the campaign is another one.
TEST_F(DesignRows, StandBesideThoseOfASweep) {
  const Campaign campaign = space();
  sweep_into(campaign, "all.sqlite");
  find(campaign, "all.sqlite", {}, "edp");
  EXPECT_EQ(points("all.sqlite"), (std::pair{std::size_t{72}, std::size_t{72}}));
}

}  // namespace
}  // namespace mapsim::answers_test
