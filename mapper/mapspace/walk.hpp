// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>

#include "core/rng.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/prime_nest.hpp"

namespace mapsim {

// A random walk over the mappings of an unrolling that `accept` accepts. It is uniform in the long
// run: it proposes swaps of loops and moves of keeps and fanouts, by the rule of Metropolis et al.
// (J. Chem. Phys. 21, 1953). A mapping that many prime nests represent is accepted less often in
// proportion, so mappings are uniform, not nests.
class Walk {
 public:
  using Accept = std::function<bool(const Mapping&)>;
  // `start` is a mapping of the space that `accept` accepts.
  Walk(const Mapspace& space, const Mapping& start, std::uint64_t seed);
  // Makes one proposal. Returns true if it was accepted; mapping() is then new.
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
