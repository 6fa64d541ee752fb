// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/fusion/tree.hpp"

namespace mapsim {

// A machine without arrays, of two or three levels with little room, and a chain of two or three
// tiny einsums, such that every mapping tree of search_chain()'s space can be looked at.
struct TinyChain {
  Arch arch;
  EinsumChain chain;
};
TinyChain tiny_chain(std::uint64_t seed);
// From these seeds on with an array; with ports of finite bandwidth; with halos of windows over so
// many points that their number has few divisors (two levels, two einsums).
inline constexpr std::uint64_t kFirstSpread = 1'000'000;
inline constexpr std::uint64_t kFirstTimed = 2'000'000;  // odd millions: with an array, too
inline constexpr std::uint64_t kFirstLarge = 4'000'000;  // odd millions: with an array, too
inline constexpr std::uint64_t kFirstLargeTimed = 6'000'000;
inline constexpr std::uint64_t kFirstWide = 8'000'000;  // wide_tiny_chain(), with few points
// Even seeds: chains of two einsums, and two levels for a group to choose from. Odd ones: one
// level, and graphs of three einsums of which the last one also reads what the first one makes.
inline constexpr std::uint64_t kFirstDeep = 10'000'000;
inline constexpr std::uint64_t kFirstDeepTimed = 12'000'000;  // ports of finite bandwidth
// Three levels, three matrix products of at most `most` points each way, with sums wider than what
// comes of them. Too many trees to look at all, unless there are very few points.
TinyChain wide_tiny_chain(std::uint64_t seed, std::int64_t most);
// As many einsums as a chain may have, of one operation each, on six levels.
TinyChain longest_chain();
std::string describe(const TinyChain& tiny);

// The points (energy, latency) of all mapping trees in the space of search_chain(), each costed by
// the closed form of costmodel/fusion/, such that no other has less of one and no more of the
// other; the least energy first. Not `timed`: latencies are left out, so it is one point. `trees`:
// how many branches were costed. None: nothing fits.
struct TreePoint {
  double energy = 0;  // [pJ]
  std::int64_t cycles = 0;
};
std::vector<TreePoint> front_by_force(const Arch& arch, const EinsumChain& chain, bool timed,
                                      std::int64_t& trees);

}  // namespace mapsim
