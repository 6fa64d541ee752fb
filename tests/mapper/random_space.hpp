// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "costmodel/evaluate.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

struct SearchCase {
  Problem problem;
  Constraints constraints;
};

// A search problem that brute force can solve: a small workload (GEMM, convolutions in one and two
// dims, strided, dilated, depthwise, windows in the output, three operands), a machine of 2 or 3
// levels with capacities that bind, and at most `max_size` mappings, at least one. The same for the
// same seed.
SearchCase random_space(std::uint64_t seed, std::int64_t max_size = 200'000);

// The same on machines of 4 or 5 levels, a quarter with rules.
SearchCase random_tall_space(std::uint64_t seed, std::int64_t max_size = 200'000);

// The same on machines of 9 to 12 levels, most of which keep or bypass what they are told to.
SearchCase random_deep_space(std::uint64_t seed, std::int64_t max_size = 200'000);

// The same with imperfect factors, restricted or with extents of its own now and then, and bounds
// such as 7 and 13: GEMMs, convolutions in one dim, a window in the output, three operands.
SearchCase random_imperfect_space(std::uint64_t seed, std::int64_t max_size = 200'000);
SearchCase random_ruled_imperfect_space(std::uint64_t seed, std::int64_t max_size = 200'000);
// The same with rules of every kind for unrollings, extents and loops.
SearchCase random_ruled_space(std::uint64_t seed, std::int64_t max_size = 200'000);
// Of both kinds (a third with rules), one of the fanouts a systolic array, of any fold size and any
// overlap, and levels that stream.
SearchCase random_systolic_space(std::uint64_t seed, std::int64_t max_size = 200'000);

// Does the size of the space say how many mappings the enumeration meets?
bool is_counted(const SearchCase& random);

}  // namespace mapsim
