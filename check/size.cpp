// SPDX-License-Identifier: Apache-2.0
#include "check/size.hpp"

#include <gmpxx.h>

#include <algorithm>
#include <map>
#include <utility>

#include "check/arrangements.hpp"
#include "check/boxes.hpp"
#include "check/geometry.hpp"
#include "core/factor.hpp"
#include "core/threads.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

// Counts loop nests. In the ring of functions on vectors of divisors, with Dirichlet convolution as
// the product, the loops over one dim are x = zeta - 1. Nests of at least one loop without equal
// neighbours are s = u / (1 - u) with u = sum_d x_d / (1 + x_d) = sum_d (1 - mu_d). So u is minus
// the Moebius function of the one dim that is cut. Nests of j such runs in a row, s^j, follow from
// s^j = u * (s^j + s^(j-1)), s^0 = [nothing is cut].
class LoopNests {
 public:
  explicit LoopNests(const PerDim<std::int64_t>& bounds) : strides_(bounds.size(), 0) {
    for (const DimId d : bounds.ids()) {
      strides_[d] = size_;
      const auto& divisors = divisors_.emplace_back(divisors_of(bounds[d]));
      size_ *= divisors.size();
    }
    powers_.emplace_back(size_, mpz_class{0});
    powers_.back()[0] = 1;
    list_terms();
  }

  // The number of ways to cut these extents down to 1 in `runs` runs.
  const mpz_class& count(const PerDim<std::int64_t>& extents, std::size_t runs) {
    while (powers_.size() <= runs) {
      multiply();
    }
    std::size_t index = 0;
    for (const DimId d : extents.ids()) {
      index += digit(d, extents[d]) * strides_[d];
    }
    return powers_[runs][index];
  }

 private:
  // A term of u at the quotient of two divisors of one dim.
  struct Term {
    std::size_t to = 0;  // digit of the smaller one
    int sign = 0;
  };

  std::size_t digit(DimId d, std::int64_t extent) const {
    std::size_t i = 0;
    while (divisors_[index_of(d)][i] != extent) {
      ++i;
    }
    return i;
  }

  void list_terms() {
    for (const auto& divisors : divisors_) {
      auto& terms = terms_.emplace_back(divisors.size());
      for (std::size_t from = 0; from < divisors.size(); ++from) {
        for (std::size_t to = 0; to < from; ++to) {
          if (divisors[from] % divisors[to] == 0) {
            const int sign = -moebius(divisors[from] / divisors[to]);
            if (sign != 0) {
              terms[from].push_back({to, sign});
            }
          }
        }
      }
    }
  }

  void multiply() {
    const std::vector<mpz_class>& last = powers_.back();
    std::vector<mpz_class> next(size_, mpz_class{0});
    for (std::size_t tile = 0; tile < size_; ++tile) {
      for (std::size_t d = 0; d < divisors_.size(); ++d) {
        const std::size_t stride = strides_[static_cast<DimId>(d)];
        const std::size_t from = tile / stride % divisors_[d].size();
        for (const Term& term : terms_[d][from]) {
          const std::size_t inner = tile - (from - term.to) * stride;
          if (term.sign > 0) {
            next[tile] += last[inner] + next[inner];
          } else {
            next[tile] -= last[inner] + next[inner];
          }
        }
      }
    }
    powers_.push_back(std::move(next));
  }

  std::vector<std::vector<std::int64_t>> divisors_;
  PerDim<std::size_t> strides_;
  std::size_t size_ = 1;
  std::vector<std::vector<std::vector<Term>>> terms_;  // per dim and digit
  std::vector<std::vector<mpz_class>> powers_;         // s^0, s^1, ...
};

// Numbers of ways with k points that are not empty: Q of docs/mapspace.md.
class PointCounts {
 public:
  PointCounts(const Problem& problem, const Rules& rules, const std::vector<FanoutId>& used)
      : points_{problem, rules, used}, ways_{points_.start()} {}
  std::size_t most() const { return points_.most_points(); }
  const mpz_class& at(std::size_t points) {
    while (counts_.size() <= points) {
      counts_.push_back(points_.whole(ways_));
      ways_ = points_.occupy(ways_, points_.chains());
    }
    return counts_[points];
  }

 private:
  Arrangements points_;
  Arrangements::Ways ways_;  // after as many points as there are counts
  std::vector<mpz_class> counts_;
};

// Sums over k points that are not empty. Those before the first loop and behind the last one
// separate no loops.
mpz_class count_nests(LoopNests& loops, PointCounts& points, const PerDim<std::int64_t>& bounds) {
  if (std::all_of(bounds.begin(), bounds.end(), [](auto n) { return n == 1; })) {
    return points.at(0) + points.at(1);
  }
  mpz_class sum = 0;
  for (std::size_t k = 0; k <= points.most(); ++k) {
    mpz_class words = loops.count(bounds, k + 1) + 2 * loops.count(bounds, k);
    if (k > 0) {
      words += loops.count(bounds, k - 1);
    }
    sum += points.at(k) * words;
  }
  return sum;
}

// The extents of a tile, per number of fanouts crossed.
std::vector<PerDim<std::int64_t>> real_extents(const BlockedUnrolling& at, const Lattice& tiles,
                                               std::size_t tile) {
  std::vector<PerDim<std::int64_t>> extents;
  for (std::size_t crossed = 0; crossed <= at.used.size(); ++crossed) {
    extents.emplace_back(at.bounds.size());
    for (const DimId d : at.bounds.ids()) {
      extents.back()[d] = tiles.extent(d, tile) * at.split(crossed, d);
    }
  }
  return extents;
}

// The same if rules concern tiles or loops: visits the tiles from the largest on. `runs` has the
// ways that end with a run of loops at a tile, by s = u * (1 + s); a point that is not empty may
// follow. Loops change what regions have read: a loop of a*b reads as one of a, then one of b, so
// the inverse of 1 + x_d is the Moebius function as before.
mpz_class count_ruled_nests(const Problem& problem, const Rules& rules,
                            const Unrolling& unrolling) {
  const BlockedUnrolling at = list_blocked_unrollings(problem, unrolling).front();
  const Lattice tiles{at.bounds, {}};
  const Arrangements points{problem, rules, at.used};
  const auto loop = [&points, &rules](const Arrangements::Ways& from, DimId d, std::int64_t factor,
                                      Arrangements::Ways& to) {
    const int sign = rules.once ? 1 : -moebius(factor);  // whole loops, or factors of them
    for (const auto& [state, ways] : sign != 0 ? from : Arrangements::Ways{}) {
      if (const auto after = points.after_loop(state, d, factor)) {
        to[*after] += sign * ways;
      }
    }
  };
  std::vector<Arrangements::Ways> runs(tiles.size());
  // Including those that end with a point
  std::vector<Arrangements::Ways> all(tiles.size());
  for (std::size_t tile = tiles.size(); tile-- > 0;) {
    Arrangements::Ways before = runs[tile];
    if (tile + 1 == tiles.size()) {
      before = points.start();
    }
    PerDim<std::int64_t> left(at.bounds.size());
    for (const DimId d : at.bounds.ids()) {
      left[d] = tiles.extent(d, tile);
    }
    const Arrangements::Ways kept =
        points.occupy(before, points.chains_at(real_extents(at, tiles, tile), left));
    all[tile] = before;
    for (const auto& [state, ways] : kept) {
      all[tile][state] += ways;
    }
    for (const DimId d : at.bounds.ids()) {
      for (const Lattice::Loop& run : tiles.runs(d)) {
        if (run.from == tiles.digit(d, tile)) {
          loop(all[tile], d, tiles.factor(d, run),
               runs[tile - (run.from - run.to) * tiles.stride(d)]);
        }
      }
    }
  }
  return points.whole(all[0]);
}

mpz_class count_free(const Problem& problem, const Rules& rules,
                     const std::vector<Bundle>& bundles) {
  LoopNests loops{bounds_of(problem.workload())};
  std::map<std::vector<FanoutId>, PointCounts> points;
  mpz_class size = 0;
  for (const Bundle& bundle : bundles) {
    size += count_nests(loops,
                        points.try_emplace(bundle.used, problem, rules, bundle.used).first->second,
                        bundle.left) *
            static_cast<long>(bundle.assignments);
  }
  return size;
}

// Unrollings share nothing here; each is a task of its own.
mpz_class count_ruled(const Problem& problem, const Rules& rules,
                      const std::vector<Unrolling>& unrollings, int threads) {
  std::vector<mpz_class> nests(unrollings.size());
  for_each_on_threads(unrollings.size(), threads, [&](std::size_t u) {
    nests[u] = count_ruled_nests(problem, rules, unrollings[u]) *
               static_cast<long>(unrollings[u].assignments);
  });
  mpz_class size = 0;
  for (const mpz_class& number : nests) {
    size += number;
  }
  return size;
}

}  // namespace

std::string count_mappings(const Problem& problem, const Rules& rules,
                           const std::vector<Bundle>& bundles, int threads) {
  const bool free = rules.extents.empty() && rules.loops.empty() && !rules.once;
  return (free ? count_free(problem, rules, bundles)
               : count_ruled(problem, rules, list_unrollings(problem, rules), threads))
      .get_str();
}

}  // namespace mapsim::check
