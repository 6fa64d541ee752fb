// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "app/output.hpp"

namespace mapsim {

// How a Timeloop design is read.
struct TimeloopArguments {
  std::vector<std::pair<std::string, std::string>> settings;  // names of templates, their values
  std::string ert;                                            // empty: among the files, or none
  bool counts_only = false;
};

}  // namespace mapsim
