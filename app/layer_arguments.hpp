// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "app/output.hpp"

namespace mapsim {

// A layer in place of WORKLOAD; empty: not given.
struct InlineLayer {
  std::string gemm, conv, einsum, dims;
};

struct RooflineArguments {
  std::string arch, workload;
  InlineLayer layer;
  std::string precision;  // on a GPU; empty: by the width of the operands
  int threads = 1;
  Output output;
};

struct ListArguments {
  std::string kind;    // machines, layers, ...; empty: all
  std::string name;    // of a shipped file to print; empty: none
  bool names = false;  // nothing else, one a line
  Output output;
};

}  // namespace mapsim
