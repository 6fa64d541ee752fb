// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace mapsim {

// Rows of cells as aligned text: the first column flush left, the others flush right, with two
// blanks between columns and before each line. Cells are UTF-8 and padded to the width that a
// terminal gives them. A row may have fewer cells than others.
using Row = std::vector<std::string>;
std::string table(const std::vector<Row>& rows);

// A name that fits a column: "..." replaces the middle of a long one, because names of layers
// differ at their ends. Cut between characters.
std::string table_name(const std::string& name);

}  // namespace mapsim
