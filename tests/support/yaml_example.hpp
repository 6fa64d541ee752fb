// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/build_paths.hpp"

namespace mapsim {

// The first YAML example under a heading of docs/formats.md.
inline std::string yaml_example(const std::string& heading) {
  std::ifstream stream{source_path("docs/formats.md")};
  const std::string text{std::istreambuf_iterator<char>{stream}, {}};
  const std::string fence = "```yaml\n";
  const std::size_t begin = text.find(fence, text.find("\n## " + heading + "\n"));
  if (begin == std::string::npos) {
    ADD_FAILURE() << "no example under " << heading;
    return "";
  }
  const std::size_t first = begin + fence.size();
  return text.substr(first, text.find("```", first) - first);
}

}  // namespace mapsim
