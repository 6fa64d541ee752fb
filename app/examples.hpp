// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mapsim {

// Two examples or more for each command, each of its formats, and the program as a whole. A test
// runs them in the order of the commands in one folder, so that each finds what those before it
// have written.
struct Example {
  std::string_view command;  // "search"; empty: of the program as a whole
  std::string_view line;     // as it is typed
  std::string_view what;     // what it does
};
std::vector<Example> examples_of(std::string_view command);

// The examples of a command for its --help. `format`: those of this format alone; empty: all.
std::string examples_text(std::string_view command, std::string_view format);

}  // namespace mapsim
