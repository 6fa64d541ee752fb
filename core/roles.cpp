// SPDX-License-Identifier: Apache-2.0
#include "core/roles.hpp"

namespace mapsim {

const Words& role_words() {
  static const Words words{"input", "weight", "output"};
  return words;
}

const char* to_string(Role role) { return role_words()[static_cast<std::size_t>(role)].c_str(); }

const char* to_string(GemmAxis axis) {
  switch (axis) {
    case GemmAxis::kM:
      return "gemm_m";
    case GemmAxis::kN:
      return "gemm_n";
    case GemmAxis::kK:
      return "gemm_k";
    case GemmAxis::kBatch:
      return "gemm_batch";
  }
  return "";
}

}  // namespace mapsim
