// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

namespace mapsim::page_test {
namespace {

using Json = nlohmann::json;

Page page_with(const std::string& words) {
  PageTable table{
      "t",
      words,
      {{"name", words, true}, {"value", "value (J)"}},
      {{words, 1.5}, {"other", 1e-20}, {words, std::monostate{}}, {std::monostate{}, 7.0}}};
  return {words,
          {words},
          {{"s",
            words,
            {words},
            {PageFigure{"f", words, "<svg></svg>", words}, table, Listing{words, words}}}},
          words};
}

std::string data_of(const std::string& html, const std::string& id) {
  const std::string start = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t from = html.find(start) + start.size();
  return html.substr(from, html.find("</script>", from) - from);
}

TEST(Page, KeepsWordsThatLookLikeMarkupAsTheyAre) {
  const std::string words = "</script><!--<script>\"\\\n & 'x' \xC2\xB5";
  const std::string html = page_html(page_with(words));
  const Json data = Json::parse(data_of(html, "t-data"));
  const Json& column = data.at("columns").at(0);
  EXPECT_EQ(column.at("dictionary"), Json({words, "other"}));
  EXPECT_EQ(column.at("data"), Json({0, 1, 0, nullptr}));
  EXPECT_EQ(Json::parse(data_of(html, "f-csv")), Json(words));
  // Of ours: two with data, one with the program.
  std::size_t ends = 0;
  for (std::size_t at = 0; (at = html.find("</script>", at)) != std::string::npos; ++at) {
    ++ends;
  }
  EXPECT_EQ(ends, 3U);
  EXPECT_EQ(html.find("<!--"), std::string::npos);
}

TEST(Page, WritesNumbersThatReadBackToFiveDigits) {
  const Json data = Json::parse(data_of(page_html(page_with("x")), "t-data"));
  EXPECT_EQ(data.at("columns").at(1).at("data"), Json({1.5, 1e-20, nullptr, 7}));
}

// No two ways to write a number in one column.
TEST(Page, RoundsNumbersOfMoreDigitsToWholeOnes) {
  const PageTable table{"t", "", {{"pJ", "pJ"}}, {{4147200.0}, {4093600.4}, {1.5}}};
  const Json data =
      Json::parse(data_of(page_html({"x", {}, {{"s", "s", {}, {table}}}, ""}), "t-data"));
  EXPECT_EQ(data.at("columns").at(0).at("data"), Json({4147200, 4093600, 1.5}));
}

TEST(Page, NeedsNothingElse) {
  const std::string html = page_html(page_with("x"));
  const std::regex outside{R"(https?://(?!www\.w3\.org/)|<link|src=|@import|url\()"};
  EXPECT_FALSE(std::regex_search(html, outside));
}

TEST(Page, OfAnEmptyTableIsStillAPage) {
  Page page{
      "x", {}, {{"s", "s", {}, {PageTable{"t", "", {{"a", "a"}, {"b", "b", true}}, {}}}}}, ""};
  const Json data = Json::parse(data_of(page_html(page), "t-data"));
  EXPECT_EQ(data.at("columns").at(0).at("data"), Json::array());
  EXPECT_EQ(data.at("columns").at(1).at("data"), Json::array());
}

TEST(CsvField, QuotesWhatMustBe) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
}

}  // namespace
}  // namespace mapsim::page_test
