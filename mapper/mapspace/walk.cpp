// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/walk.hpp"

#include <cmath>
#include <map>
#include <utility>

namespace mapsim {

namespace {

// Logarithm of the number of prime nests that represent the same mapping: the orders of the primes
// in each joined loop.
double log_copies(const PrimeNest& nest) {
  double copies = 0;
  for (std::size_t i = 0; i < nest.loops.size();) {
    std::map<std::int64_t, int> primes;
    std::size_t end = i;
    do {
      ++primes[nest.loops[end].factor];
      ++end;
    } while (end < nest.loops.size() && joins(nest, end));
    copies += std::lgamma(static_cast<double>(end - i) + 1);
    for (const auto& prime : primes) {
      copies -= std::lgamma(prime.second + 1.0);
    }
    i = end;
  }
  return copies;
}

}  // namespace

Walk::Walk(const Mapspace& space, const Mapping& start, std::uint64_t seed)
    : space_{&space},
      rng_{seed},
      nest_{to_prime_nest(space, start)},
      mapping_{start},
      log_copies_{log_copies(nest_)} {}

bool Walk::step(const Accept& accept) {
  const PrimeNest before = nest_;
  if (rearrange(*space_, nest_, rng_)) {
    const double copies = log_copies(nest_);
    // Mappings that more nests represent are accepted less often, so mappings are uniform, not
    // nests.
    if (copies <= log_copies_ || rng_.uniform() < std::exp(log_copies_ - copies)) {
      Mapping next = to_mapping(*space_, nest_);
      if (next != mapping_ && accept(next)) {
        mapping_ = std::move(next);
        log_copies_ = copies;
        return true;
      }
      if (next == mapping_) {
        log_copies_ = copies;
        return false;
      }
    }
  }
  nest_ = before;
  return false;
}

}  // namespace mapsim
