// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/rng.hpp"
#include "mapper/mapspace.hpp"

namespace mapsim {

// A nest of one unrolling as a walk sees it: temporal loops of one prime factor each, and the
// points between them (0 = before the first loop) where keeps and fanouts stand.
struct PrimeNest {
  struct Prime {
    DimId dim{};
    std::int64_t factor = 2;
    friend bool operator==(const Prime&, const Prime&) = default;
  };
  struct Place {
    TensorId tensor{};
    LevelId level{};
    bool must = false;
    std::optional<std::size_t> point;  // nullopt: bypassed
  };
  std::vector<Prime> loops;
  std::vector<Place> places;           // tensor by tensor, levels inwards
  std::vector<FanoutId> fanouts;       // used ones, outermost first
  std::vector<std::size_t> crossings;  // the point of each
};

// A random walk over the mappings of an unrolling that `accept` accepts, uniform in the long run:
// swaps of loops and moves of keeps and fanouts, by Metropolis' rule with the number of prime nests
// that are the same mapping as the weight (Metropolis et al., J. Chem. Phys. 21, 1953).
class Walk {
 public:
  using Accept = std::function<bool(const Mapping&)>;
  // Starts from a mapping of the space that is accepted.
  Walk(const Mapspace& space, const Unrolling& unrolling, const Mapping& start, std::uint64_t seed);
  // One proposal; true: it was taken, and mapping() is new.
  bool step(const Accept& accept);
  const Mapping& mapping() const { return mapping_; }

 private:
  bool propose();
  bool is_ordered() const;
  Mapping build() const;
  double log_copies() const;

  const Mapspace* space_;
  Unrolling unrolling_;
  Rng rng_;
  PrimeNest nest_;
  Mapping mapping_;
  double log_copies_ = 0;
};

}  // namespace mapsim
