// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "costmodel/fusion/tree.hpp"

namespace mapsim {

// A machine without arrays, of two or three levels with little room, and a chain of two or three
// tiny einsums, such that every mapping tree of search_chain()'s space can be looked at.
struct TinyChain {
  Arch arch;
  EinsumChain chain;
};
TinyChain tiny_chain(std::uint64_t seed);
inline constexpr std::uint64_t kFirstSpread = 1'000'000;  // from this seed on, with an array
std::string describe(const TinyChain& tiny);

// The least energy [pJ] of all mapping trees in the space of search_chain(), each costed by the
// closed form of costmodel/fusion/; `trees`: how many branches were costed. Infinite: nothing fits.
double least_energy_by_force(const Arch& arch, const EinsumChain& chain, std::int64_t& trees);

}  // namespace mapsim
