// SPDX-License-Identifier: Apache-2.0
#include "core/roles.hpp"

namespace mapsim {

const char* to_string(Role role) {
  switch (role) {
    case Role::kInput:
      return "input";
    case Role::kWeight:
      return "weight";
    case Role::kOutput:
      return "output";
  }
  return "";
}

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
