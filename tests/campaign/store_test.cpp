// SPDX-License-Identifier: Apache-2.0
#include "campaign/store.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

#include "campaign/report.hpp"
#include "campaign/results.hpp"
#include "core/rng.hpp"
#include "tests/campaign/sweeps.hpp"
#include "tests/support/bad_inputs.hpp"

namespace mapsim::store_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Stores : public Sweeps {
 protected:
  std::string bytes(const std::string& name) const {
    std::ifstream file{path(name), std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  void write(const std::string& name, const std::string& all) const {
    for (const char* part : {"", "-wal", "-shm"}) {
      fs::remove(path(name) + part);
    }
    std::ofstream{path(name), std::ios::binary} << all;
  }
  void execute(const std::string& name, const std::string& sql) const {
    Database{path(name)}.execute(sql);
  }
  std::string table(const std::string& name, ResultsFormat format, bool networks = false) const {
    return results_table({"results", {}}, {path(name), "", networks, format});
  }
  std::string page(const std::string& name) const {
    ReportInput input;
    input.sources = {name};
    input.results.studies = read_studies(path(name), "");
    return page_html(report_page(input));
  }
  // What each command says of a database.
  std::vector<std::string> errors(const std::string& name) const {
    std::vector<std::string> all;
    for (const auto format : {ResultsFormat::kText, ResultsFormat::kCsv, ResultsFormat::kJson}) {
      all.push_back(error_text([&] { table(name, format); }));
    }
    all.push_back(error_text([&] { table(name, ResultsFormat::kCsv, true); }));
    all.push_back(error_text([&] { page(name); }));
    write("target.sqlite", "");
    all.push_back(
        error_text([&] { Store{path("target.sqlite"), Store::Open::kOrNew}.merge(path(name)); }));
    return all;
  }
  Campaign many_designs(std::size_t count) const {
    std::string values;
    for (std::size_t i = 0; i < count; ++i) {
      values += fmt::format("{}{} KiB", i == 0 ? "" : ", ", 4 + i);
    }
    return campaign("    grid: {nodes.Buffer.capacity: [" + values + "]}\n");
  }
};

// Whatever became of the file, commands give their answer or an error about it, and no other
// exception: bytes cut off, bits turned, pieces overwritten.
TEST_F(Stores, SurviveDamage) {
  run(grid(), "a.sqlite");
  Database{path("a.sqlite")}.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  const std::string whole = bytes("a.sqlite");
  Rng rng{3};
  int refused = 0;
  for (int i = 0; i < 40; ++i) {
    std::string damaged = whole;
    const std::size_t at = rng.below(whole.size());
    if (i % 4 == 0) {
      damaged.resize(at);
    } else if (i % 4 == 1) {
      for (std::size_t j = at; j < std::min(at + 16, damaged.size()); ++j) {
        damaged[j] = static_cast<char>(rng.below(256));
      }
    } else {
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << rng.below(8)));
    }
    write("b.sqlite", damaged);
    for (const std::string& error : errors("b.sqlite")) {
      EXPECT_THAT(error, testing::AnyOf("", StartsWith(path("b.sqlite") + ": "))) << i;
      refused += error.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 60);
}

// Of damage in a row its place and what is wrong, by all who read it; the damaged file is named,
// not the one that it was to be merged into.
TEST_F(Stores, NameTheDamagedRow) {
  struct Case {
    const char* sql;
    const char* error;
  };
  for (const Case& one :
       {Case{"UPDATE designs SET settings = '{2' WHERE number = 2",
             " of campaign 'small': settings is not a JSON object of values by paths"},
        Case{"UPDATE results SET breakdown = '{\"A\":{\"B\":\"C\"}}'",
             "breakdown is not a JSON object of numbers"},
        Case{"UPDATE results SET energy_pj = 9e999", "energy_pj is not finite"},
        Case{"UPDATE results SET energy_pj = -1", "energy_pj is negative"},
        Case{"UPDATE results SET latency_cycles = 'x'", "latency_cycles is text, not a number"},
        Case{"UPDATE results SET status = CAST(x'ff' AS TEXT)",
             "status has bytes that are no text"},
        Case{"UPDATE layers SET count = 0", "count is 0, not from 1 to "},
        Case{"ALTER TABLE results RENAME COLUMN bytes TO bites",
             "damaged: results has no column bytes"},
        Case{"DROP VIEW answers", "damaged: no such table: answers"}}) {
    write("a.sqlite", "");
    run(grid(), "a.sqlite");
    execute("a.sqlite", one.sql);
    for (const std::string& error : errors("a.sqlite")) {
      EXPECT_THAT(error, StartsWith(path("a.sqlite") + ": damaged: ")) << one.sql;
      EXPECT_THAT(error, HasSubstr(one.error)) << one.sql;
    }
    EXPECT_THAT(error_text([&] { run(grid(), "a.sqlite"); }), HasSubstr(": damaged: ")) << one.sql;
  }
  write("a.sqlite", "");
  run(grid(), "a.sqlite");
  execute("a.sqlite", "UPDATE inputs SET text = text || ' '");
  EXPECT_THAT(error_text([&] { run(grid(), "a.sqlite"); }), HasSubstr("its text has another hash"));
}

// A hundredth of a campaign has a hundredth of its designs in its database, and knows that there
// are others.
TEST_F(Stores, OfAShardHaveItsOwnDesigns) {
  const Campaign campaign = many_designs(300);
  const SweepSummary summary = run(campaign, "shard.sqlite", 1, {3, 100});
  EXPECT_EQ(summary.progress.points, 3);
  EXPECT_EQ(summary.statistics.missing, 0);
  EXPECT_EQ(answers("shard.sqlite").size(), 3);
  Store store{path("shard.sqlite"), Store::Open::kOrNew};
  EXPECT_EQ(store.statistics(campaign).missing, 297);
  ASSERT_EQ(store.campaigns().size(), 1);
  EXPECT_EQ(store.campaigns()[0].unlisted, 297);
  EXPECT_EQ(unlisted_designs({path("shard.sqlite"), "", false, ResultsFormat::kText}),
            "297 of 300 designs of campaign 'small' are not in " + path("shard.sqlite"));
  EXPECT_EQ(read_studies(path("shard.sqlite"), "").at(0).unlisted, 297);
  EXPECT_THAT(
      page("shard.sqlite"),
      HasSubstr("<p>297 designs of the campaign have no results here and are in no figure.</p>"));
  run(campaign, "whole.sqlite", 2);
  const auto pages = [this](const std::string& name) {
    Database database{path(name)};
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    database.execute("VACUUM");
    return fs::file_size(path(name)) / 4096;
  };
  EXPECT_LT(pages("shard.sqlite"), 20);
  EXPECT_GT(pages("whole.sqlite"), 100);
}

// Whatever comes in between, designs of another campaign of the same name are not kept.
TEST_F(Stores, ForgetDesignsOfACampaignThatChanged) {
  run(many_designs(6), "a.sqlite", 1, {0, 2});
  run(many_designs(6), "a.sqlite", 1, {1, 2});
  EXPECT_EQ(answers("a.sqlite").size(), 6);
  run(many_designs(8), "a.sqlite", 1, {1, 2});
  EXPECT_EQ(answers("a.sqlite").size(), 4);
}

// Points come in the order of their numbers without being sorted: of 10^6 that would take a file.
TEST_F(Stores, ReadPointsInOrderWithoutSorting) {
  run(grid(), "a.sqlite");
  Database database{path("a.sqlite")};
  Statement plan{
      database,
      "EXPLAIN QUERY PLAN SELECT number, energy_pj FROM answers WHERE campaign = 'small'"};
  while (plan.step()) {
    EXPECT_THAT(plan.text(3), testing::Not(HasSubstr("TEMP B-TREE")));
    EXPECT_THAT(plan.text(3), testing::Not(HasSubstr("MATERIALIZE")));
  }
}

// Databases that store every point can be read, and not written.
TEST_F(Stores, OfSchemaFourAreRead) {
  run(grid(), "a.sqlite");
  const std::string csv = table("a.sqlite", ResultsFormat::kCsv);
  const std::string html = page("a.sqlite");
  execute("a.sqlite",
          "CREATE TABLE p (campaign TEXT, number INTEGER, arch TEXT, settings TEXT,"
          " network TEXT, layer TEXT, count INTEGER, objective TEXT, latency TEXT,"
          " limits TEXT, constraints TEXT, strategy TEXT, design TEXT, workload TEXT,"
          " question TEXT, tool TEXT, PRIMARY KEY (campaign, number)) WITHOUT ROWID;"
          "INSERT INTO p SELECT * FROM points");
  Database database{path("a.sqlite")};
  Statement views{database, "SELECT sql FROM sqlite_schema WHERE name = 'networks'"};
  views.step();
  std::string networks = views.text(0);
  views.step();
  // Whose mappings were chosen layer by layer.
  networks.replace(
      networks.find("chosen_answers"), std::string{"chosen_answers"}.size(),
      "(SELECT *, NULL AS network_status, NULL AS network_energy_pj, NULL AS network_cycles,"
      " NULL AS network_lower_bound FROM answers)");
  std::string columns;
  for (const std::string& column :
       Store{path("a.sqlite"), Store::Open::kExisting}.columns("answers")) {
    columns += (columns.empty() ? "" : ", ") + column;
  }
  database.execute(
      "DROP VIEW networks; DROP VIEW chosen_answers; DROP TABLE joint_networks; DROP VIEW answers; "
      "DROP VIEW points; DROP TABLE campaigns;"
      "DROP TABLE designs; DROP TABLE layers; DROP TABLE questions;"
      "ALTER TABLE p RENAME TO points; PRAGMA user_version = 4;"
      "CREATE VIEW answers AS SELECT " +
      columns +
      " FROM points LEFT JOIN results USING (design, workload, question, tool)"
      " ORDER BY campaign, number");
  database.execute(networks);
  EXPECT_EQ(table("a.sqlite", ResultsFormat::kCsv), csv);
  EXPECT_EQ(page("a.sqlite"), html);
  EXPECT_THAT(error_text([&] { run(grid(), "a.sqlite"); }),
              HasSubstr("has schema 4, which this mapsim reads, but does not write: it writes 6"));
  EXPECT_THAT(errors("a.sqlite").back(), HasSubstr("has schema 4, which this mapsim reads"));
}

}  // namespace
}  // namespace mapsim::store_test
