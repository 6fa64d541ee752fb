// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "mapper/mapspace/prime_fields.hpp"
#include "mapper/mapspace/unrolling.hpp"

namespace mapsim {

// The classes of spatial unrollings of a space of perfect factors, known by what each fanout may
// do: a class is a choice per fanout, and their factors together divide the bounds. There may be
// millions of classes where each fanout has some thousand choices, so that they are counted, and
// generated best bound first (mapper/branch/), without a list.
class UnrollingClasses {
 public:
  UnrollingClasses(const Problem& problem, const UnrollingLimits& limits);

  const PerFanout<std::vector<FanoutChoice>>& choices() const { return choices_; }
  const PrimeFields& primes() const { return primes_; }

  // A choice per fanout, as indices.
  using Tuple = std::array<std::uint32_t, kMaxFanouts>;
  UnrollingClass unrolling_class(const Tuple& tuple) const;
  // The order of lists: the fewest instances first, then the choices of the outermost fanout.
  bool comes_before(const Tuple& a, const Tuple& b) const;
  std::vector<UnrollingClass> list() const;

  // The classes that use the same fanouts and leave the same bounds to temporal loops: whatever
  // counts their nests depends on nothing else.
  struct Product {
    std::vector<FanoutId> used;
    PerDim<std::int64_t> left;
    std::int64_t classes = 0;
    std::int64_t unrollings = 0;
  };
  // nullopt: `stop`, which is told now and then how many products it took so far, returned true.
  std::optional<std::vector<Product>> products(
      const std::function<bool(std::int64_t steps)>& stop) const;

 private:
  PerFanout<std::vector<FanoutChoice>> choices_;
  PerFanout<std::vector<PackedFactors>> packed_;  // by choice
  PrimeFields primes_;
};

// Every admissible unrolling, by class, in the order of lists. With `limits.remainders` also
// factors that divide no bound, of each fanout for itself.
std::vector<UnrollingClass> list_unrolling_classes(const Problem& problem,
                                                   const UnrollingLimits& limits);

}  // namespace mapsim
