// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "arch/arch.hpp"
#include "costmodel/mapping.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// A machine, a small problem and a mapping of it that check_structure() accepts.
struct RandomCase {
  Arch arch;
  Workload workload;
  Mapping mapping;
  friend bool operator==(const RandomCase&, const RandomCase&) = default;
};

// At most this many multiplications, and so steps.
inline constexpr std::int64_t kMaxCaseMacs = 3000;

// The case of a seed. Einsums of many kinds (windows with strides, dilations and holes, groups,
// windows in the output, four tensors); 1 to 4 levels, 0 to 2 fanouts anywhere, any flags; uneven
// keeps, bypasses, loops between parallel nodes. Extents divide those above in half of the cases.
RandomCase random_case(std::uint64_t seed);
// The same on machines of 9 levels up to as many as there may be.
RandomCase random_deep_case(std::uint64_t seed);

}  // namespace mapsim
