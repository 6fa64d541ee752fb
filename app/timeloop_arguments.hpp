// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "app/output.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

// How a Timeloop design is read.
struct TimeloopArguments {
  std::vector<std::pair<std::string, std::string>> settings;  // names of templates, their values
  std::string ert;                                            // empty: among the files, or none
  bool counts_only = false;
};

// Arguments to compare another tool's figures with ours.
struct CompareArguments {
  std::string format = "timeloop";
  std::vector<std::string> files;  // of one design, with a mapping; zigzag: its result, too
  std::string stats;               // timeloop: what it printed
  std::string version = "current";
  TimeloopArguments timeloop;
  bool all = false;  // rows that are equal, too
  Budget budget;     // zigzag: of each search
  int threads = 0;
  Output output;
};

}  // namespace mapsim
