// SPDX-License-Identifier: Apache-2.0
#include "core/csv.hpp"

#include <gtest/gtest.h>

#include "tests/support/bad_inputs.hpp"

namespace mapsim::csv_test {
namespace {

TEST(Csv, ReadsCellsQuotesCommentsAndPlaces) {
  const CsvTable table = parse_csv("# first\n# second\n\na, b ,c\n1,\"x, \"\"y\"\"\", \n", "t.csv");
  EXPECT_EQ(table.comments, (std::vector<std::string>{" first", " second"}));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.header.cells[1].text, "b");
  EXPECT_EQ(table.rows[0].line, 5);
  EXPECT_EQ(table.rows[0].cells[1].text, "x, \"y\"");
  EXPECT_EQ(table.rows[0].cells[1].column, 3);
  EXPECT_EQ(table.rows[0].cells[2].text, "");
}

TEST(Csv, SaysWhatIsWrongWithATable) {
  const auto text = [](const std::string& csv) {
    return error_text([&] { parse_csv(csv, "t.csv"); });
  };
  EXPECT_EQ(text("# only\n"), "t.csv: no header line with the names of the columns");
  EXPECT_EQ(text("a,b\n1,2,3\n"), "t.csv:2:1: 3 cells; the header has 2\n1,2,3\n^");
  EXPECT_EQ(text("a,b,a\n"), "t.csv:1:5: a second column 'a'\na,b,a\n    ^");
  EXPECT_EQ(text("a\n\"x\n"), "t.csv:2:1: a quote is not closed on this line\n\"x\n^");
}

TEST(Csv, ReadsTypedCellsAndCollectsErrors) {
  const CsvTable table = parse_csv("n,t,w\n3,1e-3,row\n0,-1,rwo\n,,\n", "t.csv");
  CsvReader reader{table};
  const auto n = reader.find("n");
  const auto t = reader.find("t");
  const auto w = reader.find("w");
  EXPECT_EQ(reader.integer(table.rows[0], n, 1, 9), 3);
  EXPECT_EQ(reader.positive(table.rows[0], t), 1e-3);
  EXPECT_EQ(reader.choice(table.rows[0], w, {"row", "column"}), 0U);
  EXPECT_EQ(reader.integer(table.rows[2], n, 1, 9), std::nullopt);
  EXPECT_NO_THROW(reader.finish());
  reader.integer(table.rows[1], n, 1, 9);
  reader.positive(table.rows[1], t);
  reader.choice(table.rows[1], w, {"row", "column"});
  reader.need(table.rows[2], n, std::optional<std::int64_t>{}, std::int64_t{1});
  reader.require({"x", "y"});
  EXPECT_EQ(error_text([&] { reader.finish(); }),
            "t.csv:1:1: no column 'x' or 'y'\nn,t,w\n^\n"
            "t.csv:3:1: n: '0' is not a whole number from 1 to 9\n0,-1,rwo\n^\n"
            "t.csv:3:3: t: '-1' is not a number above zero\n0,-1,rwo\n  ^\n"
            "t.csv:3:6: w: unknown 'rwo'; did you mean 'row'?\n0,-1,rwo\n     ^\n"
            "t.csv:4:1: n: a value is missing\n,,\n^");
}

// Tables of other makers may have rows that end early: what is not there is nothing.
TEST(Csv, ReadsNothingBehindTheEndOfARow) {
  CsvTable table = parse_csv("n,t\n3,4\n", "t.csv");
  table.rows[0].cells.pop_back();
  CsvReader reader{table};
  const auto t = reader.find("t");
  EXPECT_EQ(reader.text(table.rows[0], t), "");
  EXPECT_EQ(reader.need(table.rows[0], t, reader.integer(table.rows[0], t, 1, 9), {7}), 7);
  EXPECT_EQ(error_text([&] { reader.finish(); }), "t.csv:2:1: t: a value is missing\n3,4\n^");
}

TEST(Csv, SurvivesCuts) {
  expect_survival_of_cuts("a,b,c\n1,2,3\n4,5,6\n", [](const std::string& csv) {
    const CsvTable table = parse_csv(csv, "t.csv");
    CsvReader reader{table};
    for (const CsvRow& row : table.rows) {
      reader.integer(row, reader.find("c"), 1, 9);
    }
    reader.finish();
  });
}

TEST(Csv, WritesCellsThatReadBack) {
  for (const std::string text : {"plain", "a,b", "say \"x\"", " blank ", "# no comment"}) {
    const CsvTable table = parse_csv("a,b\n" + csv_cell(text) + ",1\n", "t.csv");
    EXPECT_EQ(table.rows.at(0).cells[0].text, text);
  }
}

}  // namespace
}  // namespace mapsim::csv_test
