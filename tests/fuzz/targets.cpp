// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "core/diagnostic.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim {

namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) {
    throw std::logic_error{"a seed that is not there: " + path.string()};
  }
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

std::vector<FuzzTarget> fuzz_targets() {
  std::vector<FuzzTarget> all = own_format_targets();
  for (const auto& more : {import_targets(), result_targets()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

bool accepts(const FuzzTarget& target, const std::string& input) {
  try {
    target.read(input);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

std::vector<std::string> seed_inputs(const FuzzTarget& target) {
  std::vector<fs::path> files;
  for (const std::string& seed : target.seeds) {
    files.push_back(source_path(seed));
  }
  const fs::path folder = source_path("tests/fuzz/seeds/" + target.name);
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator{folder}) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const fs::path& file : files) {
    inputs.push_back(contents(file));
  }
  return inputs;
}

void require_law(bool holds, const char* what) {
  if (!holds) {
    throw std::logic_error{what};
  }
}

}  // namespace mapsim
