// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "app/output.hpp"

namespace mapsim {

struct SweepArguments {
  std::string campaign, database;
  int shard = 1, shards = 1;  // the first of them is 1
  int threads = 1;
  Output output;
};

struct MergeArguments {
  std::string database;
  std::vector<std::string> inputs;
  int threads = 1;
  Output output;
};

struct ResultsArguments {
  std::string database;
  std::string campaign;  // empty: all
  bool networks = false;
  bool csv = false;
  int threads = 1;
  Output output;
};

}  // namespace mapsim
