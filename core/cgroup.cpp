// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

namespace mapsim {

namespace {

// A number in a file of its own; a file that is not there, or says "max", limits nothing.
std::size_t number_in(const std::string& path) {
  std::ifstream file{path};
  std::size_t bytes = 0;
  return file >> bytes ? bytes : std::numeric_limits<std::size_t>::max();
}

// Of a group and those that it is in. `group`: "" or "/a/b".
std::size_t limit_of(const std::string& root, std::string group, const std::string& file) {
  std::size_t least = number_in(root + "/" + file);
  while (group.size() > 1) {
    least = std::min(least, number_in(root + group + "/" + file));
    group.erase(group.rfind('/'));
  }
  return least;
}

}  // namespace

std::size_t cgroup_bytes(const std::string& groups, const std::string& root) {
  std::size_t least = std::min(limit_of(root, "", "memory.max"),
                               limit_of(root + "/memory", "", "memory.limit_in_bytes"));
  std::ifstream list{groups};
  for (std::string line; std::getline(list, line);) {  // NUMBER:CONTROLLERS:/GROUP
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos || line.compare(second, 2, ":/") != 0) {
      continue;
    }
    std::string controllers{','};
    controllers.append(line, first + 1, second - first - 1).append(1, ',');
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      least = std::min(least, limit_of(root, group, "memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, limit_of(root + "/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace mapsim
