// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <variant>
#include <vector>

namespace mapsim {

// A page of figures and tables: one HTML file that needs no other file and no network. Only
// sorting, filtering and saving need its script. Equal values give equal bytes.

// What the marks of a figure or the rows of a table stand for. Equal designs or layers light up
// together, but only within the same list of designs and the same network. Empty: none.
struct PageLinks {
  std::string designs;  // names the list that numbers count in ("17: ..." in a mark's title)
  std::string layers;   // names the network whose layers titles begin with
  bool operator==(const PageLinks&) const = default;
};

struct PageFigure {
  std::string name;     // of its files, without suffix; unique in the page
  std::string caption;  // plain text
  std::string svg;
  std::string csv;  // may be empty
  PageLinks links{};
};

// Numbers are in the unit of their column's title.
using TableCell = std::variant<std::monostate, double, std::string>;
struct TableColumn {
  std::string key;    // names the column in links: #sort=TABLE:KEY:desc
  std::string title;  // with the unit
  bool is_text = false;
};
struct PageTable {
  std::string name;  // unique in the page
  std::string caption;
  std::vector<TableColumn> columns;
  std::vector<std::vector<TableCell>> rows;
  std::vector<PageLinks> links{};  // of each row, by its columns `design` and `layer`; or empty
};

// Preformatted text that a reader opens by its title.
struct Listing {
  std::string title, text;
};

// A mapping to step through (report/stepper.hpp).
struct PageStepper {
  std::string name;  // unique in the page
  std::string caption;
  std::string nest;  // the text that is shown without a script
  std::string data;  // JSON
};

// A part of a page with a heading.
struct Section {
  std::string name, title;  // `name`: the target of links
  std::vector<std::string> paragraphs;
  std::vector<std::variant<PageFigure, PageTable, Listing, PageStepper>> parts;
};

// A whole page.
struct Page {
  std::string title;
  std::vector<std::string> paragraphs;  // below the title
  std::vector<Section> sections;
  std::string footer;
};

std::string page_html(const Page& page);  // the HTML file

// A CSV field (RFC 4180), in quotes if necessary.
std::string csv_field(const std::string& text);

}  // namespace mapsim
