// SPDX-License-Identifier: Apache-2.0
#include "interop/template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/diagnostic.hpp"
#include "interop/expression.hpp"

namespace mapsim::template_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string value_of_text(const std::string& text) {
  ExpressionNames names;
  names.find = [](const std::string& name) {
    return name == "depth"  ? number_value(96, true)
           : name == "kind" ? text_value("SRAM")
                            : ExpressionValue{};
  };
  return to_text(evaluate_expression(text, names));
}

TEST(Expression, IsPythons) {
  const std::pair<const char*, const char*> cases[] = {
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"7 / 2", "3.5"},
      {"8 / 2", "4.0"},
      {"7 // 2", "3"},
      {"-7 % 4", "1"},
      {"2 ** 3 * 2", "16"},
      {"2 ** -1", "0.5"},
      {"-3 | abs", "3"},
      {"3 > 2 > 1", "True"},
      {"1 < 3 < 2", "False"},
      {"1 in [1.0]", "True"},
      {"True == 1", "True"},
      {"['1', 2]", "['1', 2]"},
      {"None", "None"},
      {"depth * 3 - 1", "287"},
      {"max(1, ceil(log2(depth))) if depth >= 1 else 1", "7"},
      {"1 / 0 if depth < 1 else 5", "5"},
      {"missing | default(8)", "8"},
      {"depth | default(8)", "96"},
      {"missing is defined and missing", "False"},
      {"depth is defined and depth != 'none'", "True"},
      {"kind ~ '_' ~ depth", "SRAM_96"},
      {"kind in ['SRAM', 'RF']", "True"},
      {"'R' not in kind", "False"},
      {"len([1, 2, 3]) + sum([1, 2])", "6"},
      {"min(3, 2) == 2 and not 0", "True"},
      {"range(2, 8, 3)", "[2, 5]"},
      {"[4, 5][-1]", "5"},
      {"1e3", "1000.0"},
      {"16 | float | int", "16"}};
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(value_of_text(text), expected) << text;
  }
}

TEST(Expression, SaysWhatIsWrongAndWhere) {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      return value_of_text(text);
    } catch (const ExpressionError& error) {
      return std::to_string(error.offset()) + " " + error.what();
    }
  };
  EXPECT_EQ(error_of("1 +"), "3 the expression ends too early");
  EXPECT_EQ(error_of("45nm"), "0 not a number");
  EXPECT_EQ(error_of("missing + 1"), "0 'missing' has no value; --set missing=VALUE gives it one");
  EXPECT_EQ(error_of("1 / 0"), "5 a division by zero");
  EXPECT_EQ(error_of("missing ~ 'a'"),
            "0 'missing' has no value; --set missing=VALUE gives it one");
  EXPECT_EQ(error_of("8 <= 2 * lost"), "9 'lost' has no value; --set lost=VALUE gives it one");
  EXPECT_EQ(error_of("lost.size"), "0 'lost' has no value; --set lost=VALUE gives it one");
  EXPECT_EQ(error_of("2 ** 3 ** 2"), "9 '**' after another or after a sign needs parentheses");
  EXPECT_EQ(error_of("-2 ** 2"), "7 '**' after another or after a sign needs parentheses");
  EXPECT_EQ(error_of("squeeze(3)"), "0 no function 'squeeze' is known here");
  EXPECT_EQ(error_of("depth | squeeze"), "15 no filter 'squeeze' is known here");
  EXPECT_EQ(error_of(std::string(99, '(') + "1"), "64 too many parentheses inside of each other");
}

// What Jinja's StrictUndefined refuses, and what it does not.
TEST(Expression, NeedsTheNamesThatItEvaluates) {
  const std::pair<const char*, int> refused[] = {{"8 if lost else 4", 5},
                                                 {"not lost", 4},
                                                 {"lost == 3", 0},
                                                 {"2 != lost", 5},
                                                 {"lost in [1, 2]", 0},
                                                 {"1 not in lost", 9},
                                                 {"lost in 'a'", 0},
                                                 {"lost or 5", 0},
                                                 {"lost and 1", 0},
                                                 {"0 or lost == 1", 5},
                                                 {"[1, lost]", 4},
                                                 {"(lost, 1)", 1},
                                                 {"lost | string", 0},
                                                 {"lost | upper", 0},
                                                 {"['a'] | join(lost)", 13},
                                                 {"str(lost)", 4},
                                                 {"max(lost, 1)", 4},
                                                 {"lost.keys()", 0},
                                                 {"[1][lost]", 4},
                                                 {"-lost", 1},
                                                 {"3 | default(0, lost)", 15},
                                                 {"lost is none or lost", 16}};
  for (const auto& [text, place] : refused) {
    try {
      ADD_FAILURE() << text << " is " << to_text(evaluate_expression(text, {}, Undefined::kError));
    } catch (const UnsetName& error) {
      EXPECT_EQ(error.offset(), place) << text;
      EXPECT_STREQ(error.what(), "'lost' has no value; --set lost=VALUE gives it one") << text;
    }
  }
  const std::pair<const char*, const char*> accepted[] = {
      {"lost is defined", "False"},
      {"lost is not defined and lost is undefined", "True"},
      {"lost | default(lost | default(3))", "3"},
      {"3 | default(lost)", "3"},
      {"lost | d(2) == 2", "True"},
      {"1 if True else lost == 3", "1"},
      {"not lost if False else 1", "1"},
      {"0 and not lost", "0"},
      {"1 or lost in lost", "1"},
      {"[not lost] if 0 else [1]", "[1]"}};
  for (const auto& [text, expected] : accepted) {
    EXPECT_EQ(value_of_text(text), expected) << text;
  }
  EXPECT_FALSE(evaluate_expression("1 and lost", {}).defined());
}

std::string rendered(const std::string& text, TemplateValues values = {}) {
  return render_template(text, "t.yaml", std::move(values), {}).text;
}

TEST(Template, RendersWhatDesignsUse) {
  EXPECT_EQ(rendered("a: {{2 * n}}\n", {{"n", number_value(4, true)}}), "a: 8\n");
  EXPECT_EQ(rendered("{% set n = 3 %}\na: {{n}} # {{left}} alone\n"), "a: 3 # {{left}} alone\n");
  EXPECT_EQ(rendered("a: 1\n  {% if n is defined %}\nb: 2\n  {% elif 1 %}\nc: 3\n  {%else%}\nd: "
                     "4\n  {% endif %}\ne: 5\n"),
            "a: 1\nc: 3\ne: 5\n");
  EXPECT_EQ(rendered("x: [{% for i in range(3) %}{{i}}, {% endfor %}]\n"), "x: [0, 1, 2, ]\n");
  EXPECT_EQ(
      rendered("{% set n = 1 %}{% for i in range(3) %}{% set n = n + 1 %}{{n}} {% endfor %}{{n}}"),
      "2 2 2 1");
  ExpressionValue map;
  map.kind = ExpressionValue::Kind::kMap;
  map.keys = {"a", "b"};
  map.items = {number_value(1, true), number_value(2, true)};
  EXPECT_EQ(rendered("{% for k in m %}{{k}} {% endfor %}", {{"m", map}}), "a b ");
  EXPECT_EQ(rendered("{% for k, v in m.items() %}{{k}}{{v}} {% endfor %}", {{"m", map}}), "a1 b2 ");
  EXPECT_EQ(rendered("{# a\ncomment #}\na: 1\n"), "a: 1\n");
  EXPECT_EQ(rendered("a:   {%- if 1 %} 2 {%- endif %}\n"), "a: 2\n");
}

TEST(Template, LoopsAsJinjaDoes) {
  EXPECT_EQ(rendered("{% for i in [1, 2, 3] if i != 2 %}{{i}}/{{loop.index}} {% endfor %}"),
            "1/1 3/2 ");
  EXPECT_EQ(rendered("{% for i in (['a if b'] if 1 else [2]) %}{{i}}{% endfor %}"), "a if b");
  EXPECT_EQ(rendered("{% for i in range(3) %}{{i}}{% if not loop.last %}, {% endif %}{% endfor %}"),
            "0, 1, 2");
  EXPECT_EQ(rendered("{% for i in ['a', 'b'] %}{% for j in range(2) %}{{loop.revindex}}"
                     "{% endfor %}{{loop.index0}} {% endfor %}"),
            "210 211 ");
  EXPECT_EQ(rendered("{% for i in [] %}{{i}}{% else %}none{% endfor %}"), "none");
  EXPECT_EQ(rendered("{% for i in [1] if i > 1 %}{{i}}{% else %}none{% endfor %}"), "none");
  EXPECT_EQ(rendered("{% for i in [1] %}{% for j in [] %}x{% endfor %}{{i}}{% else %}none"
                     "{% endfor %}"),
            "1");
}

TEST(Template, MayHaveCommentsAlone) {
  EXPECT_TRUE(is_template("{# a design #}\na: 1\n"));
  EXPECT_FALSE(is_template("# {# a design #}\na: 1\n"));
}

TEST(Template, KnowsWhereItsLinesComeFrom) {
  const AssembledText text =
      render_template("{% for i in range(2) %}\na{{i}}: 1\n{% endfor %}\nb: 2\n", "t.yaml", {}, {});
  EXPECT_EQ(text.text, "a0: 1\na1: 1\nb: 2\n");
  std::vector<int> lines;
  for (const LinePlace& place : text.lines) {
    lines.push_back(place.line);
  }
  EXPECT_THAT(lines, ElementsAre(2, 2, 4));
}

TEST(Template, SaysWhatItCannotResolve) {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      return rendered(text);
    } catch (const ConfigError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(error_of("a: 1\nb: {{missing}}\n"),
            "t.yaml:2:6: 'missing' has no value; --set missing=VALUE gives it one\n"
            "b: {{missing}}\n     ^");
  EXPECT_THAT(error_of("{% macro f() %}\n"), HasSubstr("a statement 'macro' is not known here"));
  EXPECT_THAT(error_of("{% if 1 %}\na: 1\n"), HasSubstr("the file ends before 'endif'"));
  EXPECT_THAT(error_of("{% endif %}\n"), HasSubstr("'endif' without its beginning"));
  EXPECT_THAT(error_of("{% set a, b = [1, 2] %}\n"), HasSubstr("expected 'set NAME = VALUE'"));
  EXPECT_THAT(error_of("{% for c in 'abc' %}{% endfor %}\n"), HasSubstr("needs a list or a map"));
  EXPECT_THAT(error_of("{% for x in [1, 2] if y > 1 %}{{x}}{% endfor %}\n"),
              HasSubstr("t.yaml:1:23: 'y' has no value"));
  EXPECT_THAT(error_of("{% else %}\n"), HasSubstr("'else' without its beginning"));
  EXPECT_THAT(error_of("{% set x = tokens %}\na: {{ x + 1 }}\n"),
              HasSubstr("t.yaml:2:7: 'tokens' has no value; --set tokens=VALUE gives it one"));
  EXPECT_THAT(error_of("{% assert kind in ['a', 'b'] and 1 < 2, \"a or b\" %}\n"),
              HasSubstr("t.yaml:1:11: 'kind' has no value; --set kind=VALUE gives it one"));
  EXPECT_THAT(error_of("{% assert kind is defined %}\n"),
              HasSubstr("t.yaml:1:11: the assertion does not hold; 'kind' has no value, --set "
                        "kind=VALUE gives it one"));
  EXPECT_THAT(error_of("{% assert 1 > 2 %}\n"), HasSubstr("the assertion does not hold\n"));
  EXPECT_THAT(error_of("{% for a, b in [1, 2] %}{% endfor %}\n"), HasSubstr("2 names for an item"));
  EXPECT_THAT(
      error_of("{% for a in range(65536) %}{% for b in range(65536) %}{% endfor %}{% endfor %}"),
      HasSubstr("too many turns"));
  EXPECT_THAT(error_of("a: {{ 1\n"), HasSubstr("a template without its '}}'"));
}

// What a template sets itself needs no --set, also where its value is unknown for now.
TEST(Template, NamesWhatItNeedsOnce) {
  const auto unset = [](const std::string& text) {
    std::vector<std::string> found;
    try {
      rendered(text);
    } catch (const UnsetNames& error) {
      for (const Diagnostic& each : error.diagnostics()) {
        found.push_back(std::to_string(each.line) + ":" + std::to_string(each.column) +
                        each.message);
      }
    }
    return found;
  };
  const auto needs = [](const std::string& place, const std::string& name) {
    return place + "'" + name + "' has no value; --set " + name + "=VALUE gives it one";
  };
  EXPECT_THAT(unset("{% if big %}\n{% set n = 2 %}\n{% elif 1 %}\n{% set m = 3 %}\n{% endif %}\n"
                    "a: {{ n + m }}\nb: {{ other }}\n"),
              ElementsAre(needs("1:7", "big"), needs("7:7", "other")));
  EXPECT_THAT(unset("{% set n = 4 if big else 2 %}\n{% set m = n + 1 %}\na: {{ m }}{{ n }}\n"
                    "{% for i in range(n) %}{{ m }}{% endfor %}{% assert n > m %}\n"
                    "{% if n %}{% endif %}{{ n | default(2) }}{{ n is defined }}\n"),
              ElementsAre(needs("1:17", "big")));
  EXPECT_THAT(unset("{% set n = big %}\n{{ n }}{% if 0 %}{{ no }}{% elif big %}{% endif %}\n"),
              ElementsAre(needs("2:4", "big")));
  EXPECT_THAT(unset("{% for i in many %}{{ i }}{% endfor %}\n"),
              ElementsAre(needs("1:13", "many")));
  EXPECT_EQ(
      rendered("{% if 1 %}{% if 0 %}{{ no }}{% elif 1 %}a{% elif no %}{% endif %}{% endif %}"),
      "a");
}

}  // namespace
}  // namespace mapsim::template_test
