// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace mapsim {

// Rows of cells as aligned text: the first column to the left, the others to the right, two blanks
// between, each line indented by two. Cells are ASCII; a row may be short.
using Row = std::vector<std::string>;
std::string table(const std::vector<Row>& rows);

}  // namespace mapsim
