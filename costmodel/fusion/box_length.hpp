// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace mapsim {

// A size of a dim, and how many entries of a branch have it.
struct BoxLength {
  std::int64_t size = 1;
  std::int64_t times = 1;
  friend bool operator==(const BoxLength&, const BoxLength&) = default;
};

}  // namespace mapsim
