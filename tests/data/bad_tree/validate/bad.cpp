// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapper.hpp"

int too_long(
    int x) {
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
  ++x;
}

bool is_systolic(const Arch& arch) {
  return std::holds_alternative<SystolicTiming>(arch.compute.timing);
}
namespace mapsim {
struct Box {
  int size;
};
namespace {
struct Own {};
}  // namespace
}  // namespace mapsim
