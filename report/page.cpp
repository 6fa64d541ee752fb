// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "report/chart.hpp"
#include "report/markup.hpp"
#include "report/page_assets.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kRowsWithoutScript = 25;
constexpr std::size_t kLong = 30;  // bytes, from which a cell may be cut short

// Five digits, whole numbers and those of more than five digits rounded to whole ones.
std::string number_text(double value) {
  if (!std::isfinite(value)) {
    return "";
  }
  constexpr double kMostRounded = 1e300;  // beyond, five digits may be too large for a number
  if (std::abs(value) > kMostRounded) {
    return fmt::format("{}", value);
  }
  const double size = std::abs(value);
  return size < 1e12 && (size >= 1e5 || value == std::round(value)) ? fmt::format("{:.0f}", value)
                                                                    : fmt::format("{:.5g}", value);
}

std::string cell_text(const TableCell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) {
    return number_text(*number);
  }
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? "" : *text;
}

void drop_last_comma(std::string& list) {
  if (!list.empty()) {
    list.pop_back();
  }
}

// Texts that come up again and again are written once.
std::string text_column(const PageTable& table, std::size_t column) {
  std::unordered_map<std::string, std::size_t> places;
  std::string dictionary;
  std::string data;
  for (const auto& row : table.rows) {
    const auto* text = std::get_if<std::string>(&row[column]);
    if (text == nullptr) {
      data += "null,";
      continue;
    }
    const auto [place, is_new] = places.try_emplace(*text, places.size());
    if (is_new) {
      dictionary += json_string(*text) + ",";
    }
    data += fmt::format("{},", place->second);
  }
  for (std::string* list : {&dictionary, &data}) {
    drop_last_comma(*list);
  }
  return fmt::format("\"text\":true,\"dictionary\":[{}],\"data\":[{}]", dictionary, data);
}

std::string number_column(const PageTable& table, std::size_t column) {
  std::string data;
  for (const auto& row : table.rows) {
    const std::string text = cell_text(row[column]);
    data += text.empty() ? "null" : text;
    data += ',';
  }
  drop_last_comma(data);
  return fmt::format("\"data\":[{}]", data);
}

// Runs of rows with equal links: [rows, designs, layers].
std::string links_json(const std::vector<PageLinks>& links) {
  std::string runs;
  for (auto from = links.begin(); from != links.end();) {
    const auto to =
        std::find_if(from, links.end(), [&](const auto& each) { return each != *from; });
    runs += fmt::format("[{},{},{}],", to - from, json_string(from->designs),
                        json_string(from->layers));
    from = to;
  }
  drop_last_comma(runs);
  return runs.empty() ? "" : fmt::format(",\n\"links\":[{}]", runs);
}

std::string table_data(const PageTable& table) {
  std::string text = "{\"columns\":[";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const TableColumn& column = table.columns[i];
    text += fmt::format("{}{{\"key\":{},{}}}", i == 0 ? "" : ",\n", json_string(column.key),
                        column.is_text ? text_column(table, i) : number_column(table, i));
  }
  return text + "]" + links_json(table.links) + "}";
}

std::string links_attributes(const PageLinks& links) {
  std::string text;
  for (const auto& [name, value] :
       {std::pair{"designs", links.designs}, {"layers", links.layers}}) {
    text += value.empty() ? "" : fmt::format(" data-{}=\"{}\"", name, markup(value));
  }
  return text;
}

// Captions are numbered through the page, figures and tables apart.
struct Numbers {
  int figures = 0;
  int tables = 0;
};

constexpr char kWideNote[] =
    "<span class=\"wide\">wider than the page: scroll sideways \u2194</span>";

std::string table_html(const PageTable& table, Numbers& numbers) {
  std::string html = fmt::format(
      "<figure class=\"table\" id=\"{0}\">\n<figcaption><b>Table {1}.</b> {2}</figcaption>\n"
      "<div class=\"tools\"><label>filter <input type=\"search\" aria-controls=\"{0}\"></label>"
      "<span role=\"status\">{3} rows</span><button type=\"button\">more</button>"
      "<button type=\"button\">all</button>"
      "{4}</div>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>",
      table.name, ++numbers.tables, markup(table.caption), table.rows.size(), kWideNote);
  for (const TableColumn& column : table.columns) {
    html += fmt::format(
        "<th scope=\"col\" aria-sort=\"none\" data-title=\"{1}\"{0}><button type=\"button\">{1}"
        "</button></th>",
        column.is_text ? " class=\"t\"" : "", markup(column.title));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < std::min(kRowsWithoutScript, table.rows.size()); ++row) {
    html += "<tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const std::string text = markup(cell_text(table.rows[row][i]));
      html += fmt::format("<td{}{}>{}</td>", table.columns[i].is_text ? " class=\"t\"" : "",
                          text.size() > kLong ? fmt::format(" title=\"{}\"", text) : "", text);
    }
    html += "</tr>\n";
  }
  return html + fmt::format(
                    "</tbody></table></div>\n<script type=\"application/json\" id=\"{}-data\">{}"
                    "</script>\n</figure>\n",
                    table.name, table_data(table));
}

// The numbers of all attributes of a name, in order.
std::vector<double> numbers_of(const std::string& svg, const std::string& attribute) {
  const std::string start = " " + attribute + "=\"";
  std::vector<double> numbers;
  for (std::size_t at = svg.find(start); at != std::string::npos; at = svg.find(start, at + 1)) {
    numbers.push_back(std::strtod(svg.c_str() + at + start.size(), nullptr));
  }
  return numbers;
}

// The box that a figure scrolls in. Shrunk to the least width, its smallest letters have kSmallest.
std::string plot_html(const std::string& svg) {
  constexpr double kSmallest = 9;  // px
  const std::vector<double> widths = numbers_of(svg, "width");
  const std::vector<double> letters = numbers_of(svg, "font-size");
  const double natural = widths.empty() ? 0 : widths.front();  // of the root, which comes first
  const double shrunk =
      letters.empty() ? 0 : kSmallest / *std::min_element(letters.begin(), letters.end());
  return fmt::format(
      "{3}\n<div class=\"scroll plot\" tabindex=\"0\" style=\"--natural:{0:.0f}px;"
      "--least:{1:.0f}px\">\n{2}</div>\n",
      natural, std::ceil(natural * std::min(1.0, shrunk)), svg, kWideNote);
}

std::string part_html(const PageFigure& figure, Numbers& numbers) {
  std::string link;
  std::string data;
  if (!figure.csv.empty()) {
    link =
        fmt::format("<a href=\"#{0}\" download=\"{0}.csv\" data-of=\"{0}\">CSV</a>", figure.name);
    data = fmt::format("<script type=\"application/json\" id=\"{}-csv\">{}</script>\n", figure.name,
                       json_string(figure.csv));
  }
  return fmt::format(
      "<figure id=\"{0}\"{6}>\n{1}<figcaption><b>Figure {2}.</b> {3}<span class=\"save\">"
      "<a href=\"#{0}\" download=\"{0}.svg\" data-of=\"{0}\">SVG</a>{4}</span></figcaption>\n{5}"
      "</figure>\n",
      figure.name, plot_html(figure.svg), ++numbers.figures, markup(figure.caption), link, data,
      links_attributes(figure.links));
}

std::string part_html(const PageTable& table, Numbers& numbers) {
  return table_html(table, numbers);
}

std::string part_html(const Listing& listing, Numbers& /*numbers*/) {
  return fmt::format("<details><summary>{}</summary><pre>{}</pre></details>\n",
                     markup(listing.title), markup(listing.text));
}

std::string part_html(const PageStepper& stepper, Numbers& numbers) {
  return fmt::format(
      "<figure class=\"stepper\" id=\"{0}\">\n<pre>{1}</pre>\n<figcaption><b>Figure {2}.</b> "
      "{3}</figcaption>\n<script type=\"application/json\" id=\"{0}-data\">{4}</script>\n"
      "</figure>\n",
      stepper.name, markup(stepper.nest), ++numbers.figures, markup(stepper.caption), stepper.data);
}

bool has_stepper(const Page& page) {
  for (const Section& section : page.sections) {
    for (const auto& part : section.parts) {
      if (std::holds_alternative<PageStepper>(part)) {
        return true;
      }
    }
  }
  return false;
}

std::string paragraphs_html(const std::vector<std::string>& paragraphs) {
  std::string html;
  for (const std::string& paragraph : paragraphs) {
    html += fmt::format("<p>{}</p>\n", markup(paragraph));
  }
  return html;
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string{c};
  }
  return quoted + '"';
}

std::string page_html(const Page& page) {
  const bool steps = has_stepper(page);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>\n{1}{2}{3}</style>\n</head>\n<body>\n<header>\n<h1>{0}</"
      "h1>\n{4}",
      markup(page.title), kPageStyle, steps ? kStepperStyle : "", dark_rules(),
      paragraphs_html(page.paragraphs));
  if (page.sections.size() > 1) {
    html += "<nav aria-label=\"Contents\"><ul>\n";
    for (const Section& section : page.sections) {
      html += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.name, markup(section.title));
    }
    html += "</ul></nav>\n";
  }
  html += "</header>\n<main>\n";
  Numbers numbers;
  for (const Section& section : page.sections) {
    html += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}", section.name, markup(section.title),
                        paragraphs_html(section.paragraphs));
    for (const auto& part : section.parts) {
      html += std::visit([&numbers](const auto& it) { return part_html(it, numbers); }, part);
    }
    html += "</section>\n";
  }
  return html +
         fmt::format("</main>\n<footer>{}</footer>\n<script>\n{}{}</script>\n</body>\n</html>\n",
                     markup(page.footer), kPageScript, steps ? kStepperScript : "");
}

}  // namespace mapsim
