// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "mapper/mapspace/prime_fields.hpp"
#include "mapper/mapspace/unrolling.hpp"

namespace mapsim {

// The classes of spatial unrollings of a space with perfect factors, given by the choices of each
// fanout. A class is one choice per fanout whose factors together divide the bounds. If each fanout
// has some thousand choices, there can be millions of classes. So they are counted, and generated
// best bound first (mapper/branch/), without a list.
class UnrollingClasses {
 public:
  // `problem` outlives the classes.
  UnrollingClasses(const Problem& problem, const UnrollingLimits& limits);

  const PerFanout<std::vector<FanoutChoice>>& choices() const { return choices_; }
  const PrimeFields& primes() const { return primes_; }

  // Do costs depend on which axis takes which factor? Then each way to give factors to axes is a
  // class of its own.
  bool is_by_way() const { return is_by_way_; }

  // A class, as the index of a choice per fanout, and of a way to give its factors to the axes;
  // that is 0 unless is_by_way().
  struct Tuple {
    std::array<std::uint32_t, kMaxFanouts> choices{};
    std::array<std::uint32_t, kMaxFanouts> ways{};
    friend auto operator<=>(const Tuple&, const Tuple&) = default;
  };
  // Per fanout: the ways of the choice that was asked for last. Classes that follow each other
  // mostly have it in common.
  struct RecentWays {
    std::uint32_t choice = 0;
    std::vector<Unrolling> ways;  // empty: none was asked for
  };
  UnrollingClass unrolling_class(const Tuple& tuple, PerFanout<RecentWays>& recent) const;
  UnrollingClass unrolling_class(const Tuple& tuple) const {
    PerFanout<RecentWays> recent;
    return unrolling_class(tuple, recent);
  }
  // The order of lists: fewest instances first, then by the choices, outermost fanout first, then
  // by the ways.
  bool comes_before(const Tuple& a, const Tuple& b) const;
  std::vector<UnrollingClass> list() const;

  // The classes that use the same fanouts and leave the same bounds to temporal loops. The number
  // of nests depends on nothing else.
  struct Product {
    std::vector<FanoutId> used;
    PerDim<std::int64_t> left;
    std::int64_t classes = 0;
    std::int64_t unrollings = 0;
  };
  // nullopt: `stop` returned true. It is called now and then with the number of products computed
  // so far.
  std::optional<std::vector<Product>> products(
      const std::function<bool(std::int64_t steps)>& stop) const;

 private:
  UnrollingLimits limits() const { return {given_, rules_, remainders_, one_axis_}; }

  const Problem* problem_;
  std::optional<Unrolling> given_;
  std::vector<UnrollRule> rules_;
  bool remainders_;
  bool one_axis_;
  bool is_by_way_;
  PerFanout<std::vector<FanoutChoice>> choices_;
  PerFanout<std::vector<PackedFactors>> packed_;  // by choice
  PrimeFields primes_;
};

// Every admissible unrolling, by class, in the order of lists. With `limits.remainders` each fanout
// by itself may also have factors that divide no bound.
std::vector<UnrollingClass> list_unrolling_classes(const Problem& problem,
                                                   const UnrollingLimits& limits);

}  // namespace mapsim
