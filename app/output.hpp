// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace mapsim {

// How a command answers.
struct Output {
  bool json = false;
  std::string file;  // empty: standard output
};

}  // namespace mapsim
