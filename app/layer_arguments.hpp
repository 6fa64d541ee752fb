// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "app/output.hpp"

namespace mapsim {

struct ListArguments {
  std::string kind;    // machines, layers, ...; empty: all
  bool names = false;  // nothing else, one a line
  Output output;
};

}  // namespace mapsim
