// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace mapsim {

// Rows of cells as aligned text: the first column to the left, the others to the right, two blanks
// between, each line indented by two. Cells are UTF-8, padded by the columns that a terminal takes
// for them; a row may be short.
using Row = std::vector<std::string>;
std::string table(const std::vector<Row>& rows);

// A name whose middle gives way to "..." where it is longer than a column should be, cut between
// characters: names of layers differ at either end.
std::string table_name(const std::string& name);

}  // namespace mapsim
