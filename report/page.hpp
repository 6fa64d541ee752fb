// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <variant>
#include <vector>

namespace mapsim {

// A page of figures and tables: one HTML file that needs nothing else, no network, and for all but
// sorting, filtering and saving no script. Equal values give equal bytes.

struct PageFigure {
  std::string name;     // of its files, without suffix; unique in the page
  std::string caption;  // plain text
  std::string svg;
  std::string csv;  // may be empty
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
};

// Text that keeps its lines, behind a title to open.
struct Listing {
  std::string title, text;
};

// A mapping to step through (report/stepper.hpp).
struct PageStepper {
  std::string name;  // unique in the page
  std::string caption;
  std::string nest;  // what is there without a script
  std::string data;  // JSON
};

struct Section {
  std::string name, title;  // the name is what links go to
  std::vector<std::string> paragraphs;
  std::vector<std::variant<PageFigure, PageTable, Listing, PageStepper>> parts;
};

struct Page {
  std::string title;
  std::vector<std::string> paragraphs;  // below the title
  std::vector<Section> sections;
  std::string footer;
};

std::string page_html(const Page& page);

// As in RFC 4180: a field, in quotes where it must be; rows end with a newline.
std::string csv_field(const std::string& text);

}  // namespace mapsim
