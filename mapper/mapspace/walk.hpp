// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>

#include "core/rng.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/prime_nest.hpp"

namespace mapsim {

// A random walk over the mappings of an unrolling that `accept` accepts, uniform in the long run:
// swaps of loops and moves of keeps and fanouts, by Metropolis' rule with the number of prime nests
// that are the same mapping as the weight (Metropolis et al., J. Chem. Phys. 21, 1953).
class Walk {
 public:
  using Accept = std::function<bool(const Mapping&)>;
  // Starts from a mapping of the space that is accepted.
  Walk(const Mapspace& space, const Mapping& start, std::uint64_t seed);
  // One proposal; true: it was taken, and mapping() is new.
  bool step(const Accept& accept);
  const Mapping& mapping() const { return mapping_; }

 private:
  const Mapspace* space_;
  Rng rng_;
  PrimeNest nest_;
  Mapping mapping_;
  double log_copies_ = 0;
};

}  // namespace mapsim
