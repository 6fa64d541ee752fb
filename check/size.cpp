// SPDX-License-Identifier: Apache-2.0
#include "check/size.hpp"

#include <gmpxx.h>

#include <algorithm>
#include <map>
#include <utility>

#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

// Moebius function of n > 1; 0 where a square divides it.
int moebius(std::int64_t n) {
  int sign = 1;
  for (std::int64_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) {
      n /= p;
      sign = -sign;
      if (n % p == 0) {
        return 0;
      }
    }
  }
  return n > 1 ? -sign : sign;
}

// Numbers of loop nests. In the ring of functions of vectors of divisors, with Dirichlet
// convolution as the product, loops over one dim are x = zeta - 1, and nests of one loop or more
// without equal neighbours s = u / (1 - u) with u = sum_d x_d / (1 + x_d) = sum_d (1 - mu_d). So u
// is minus the Moebius function of the one dim that is cut, and s^j, nests of j such runs in a row,
// follows from s^j = u * (s^j + s^(j-1)), s^0 = [nothing is cut].
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

  // Ways to cut these extents down to 1 in `runs` runs.
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
  // u at the quotient of two divisors of one dim.
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

// What stands between loops: chains of levels, one per tensor (in an even space one for all of
// them), and the used fanouts. Points are taken one by one, outermost first.
class Arrangements {
 public:
  Arrangements(const Problem& problem, const Rules& rules, const std::vector<FanoutId>& used)
      : arch_{problem.arch()}, used_{used} {
    const std::size_t tensors = problem.workload().tensors.size();
    for (std::size_t c = 0; c < (rules.even ? 1 : tensors); ++c) {
      auto& chain = chains_.emplace_back();
      for (const LevelId l : arch_.levels.ids()) {
        Link link{1, true};
        for (std::size_t t = c; t < (rules.even ? tensors : c + 1); ++t) {
          const auto tensor = static_cast<TensorId>(t);
          const bool must = must_keep(problem, rules, l, tensor);
          link.skip = link.skip && !must;
          link.ways *= !must && may_keep(problem, rules, l, tensor) ? 2 : 1;
        }
        link.ways -= link.skip ? 1 : 0;  // the empty set
        chain.push_back(link);
      }
    }
    // The outermost level keeps everything before the first point.
    ways_.push_back({{State{std::vector<std::size_t>(chains_.size(), 1), 0}, mpz_class{1}}});
  }

  // Ways to place everything at exactly this many points, none of them empty.
  mpz_class count(std::size_t points) {
    while (ways_.size() <= points) {
      ways_.push_back(one_point_more());
    }
    mpz_class sum = 0;
    for (const auto& [state, ways] : ways_[points]) {
      bool whole = state.crossed == used_.size();
      for (std::size_t c = 0; c < chains_.size(); ++c) {
        whole = whole && may_skip(c, state.next[c], arch_.levels.size());
      }
      sum += whole ? ways : mpz_class{0};
    }
    return sum;
  }
  std::size_t most_points() const {
    return used_.size() + chains_.size() * (arch_.levels.size() - 1);
  }

 private:
  struct Link {
    long ways = 0;      // non-empty sets of tensors that may stand at the level
    bool skip = false;  // may none of them?
  };
  // Per chain the first level that can still come; used fanouts that have been crossed.
  struct State {
    std::vector<std::size_t> next;
    std::size_t crossed = 0;
    friend auto operator<=>(const State&, const State&) = default;
  };
  // What a chain may do at a point.
  struct Step {
    std::size_t next = 0;
    mpz_class ways;
    bool takes = false;
  };

  bool may_skip(std::size_t c, std::size_t first, std::size_t last) const {
    for (; first < last; ++first) {
      if (!chains_[c][first].skip) {
        return false;
      }
    }
    return true;
  }

  // Levels above the fanouts that will have been crossed are behind; those below the next one are
  // out of reach.
  std::vector<Step> steps(std::size_t c, std::size_t from, std::size_t crossed) const {
    const std::size_t behind = crossed == 0 ? 1 : arch_.levels_above[used_[crossed - 1]];
    const std::size_t reach =
        crossed < used_.size() ? arch_.levels_above[used_[crossed]] : arch_.levels.size();
    std::vector<Step> found;
    if (may_skip(c, from, behind)) {
      found.push_back({std::max(from, behind), 1, false});
    }
    mpz_class subsets = 1;  // of the levels from .. next - 1
    for (std::size_t next = from; next < reach; ++next) {
      const Link& link = chains_[c][next];
      if (link.ways > 0 && subsets > 0 && may_skip(c, next + 1, behind)) {
        found.push_back({std::max(next + 1, behind), subsets * link.ways, true});
      }
      subsets *= link.ways + (link.skip ? 1 : 0);
    }
    return found;
  }

  std::map<State, mpz_class> one_point_more() const {
    std::map<State, mpz_class> found;
    for (const auto& [state, ways] : ways_.back()) {
      for (std::size_t crossed = state.crossed; crossed <= used_.size(); ++crossed) {
        take(state, {{}, crossed}, ways, crossed > state.crossed, found);
      }
    }
    return found;
  }

  void take(const State& from, const State& to, const mpz_class& ways, bool occupied,
            std::map<State, mpz_class>& found) const {
    const std::size_t c = to.next.size();
    if (c == chains_.size()) {
      if (occupied) {
        found[to] += ways;
      }
      return;
    }
    for (const Step& step : steps(c, from.next[c], to.crossed)) {
      State longer = to;
      longer.next.push_back(step.next);
      take(from, longer, ways * step.ways, occupied || step.takes, found);
    }
  }

  const Arch& arch_;
  std::vector<FanoutId> used_;
  std::vector<std::vector<Link>> chains_;
  std::vector<std::map<State, mpz_class>> ways_;  // per number of points
};

std::vector<FanoutId> used_fanouts(const SpatialFactors& factors) {
  std::vector<FanoutId> used;
  for (const FanoutId f : factors.ids()) {
    if (std::any_of(factors[f].begin(), factors[f].end(), [](auto n) { return n > 1; })) {
      used.push_back(f);
    }
  }
  return used;
}

// k occupied points, of which the one before the first loop and the one after the last do not
// separate any.
mpz_class count_nests(LoopNests& loops, Arrangements& points, const PerDim<std::int64_t>& bounds) {
  if (std::all_of(bounds.begin(), bounds.end(), [](auto n) { return n == 1; })) {
    return points.count(0) + points.count(1);
  }
  mpz_class sum = 0;
  for (std::size_t k = 0; k <= points.most_points(); ++k) {
    mpz_class words = loops.count(bounds, k + 1) + 2 * loops.count(bounds, k);
    if (k > 0) {
      words += loops.count(bounds, k - 1);
    }
    sum += points.count(k) * words;
  }
  return sum;
}

}  // namespace

std::string count_mappings(const Problem& problem, const Rules& rules,
                           const std::vector<Unrolling>& unrollings) {
  LoopNests loops{bounds_of(problem.workload())};
  std::map<std::vector<FanoutId>, Arrangements> arrangements;
  mpz_class size = 0;
  for (const Unrolling& unrolling : unrollings) {
    const std::vector<FanoutId> used = used_fanouts(unrolling.factors);
    Arrangements& points = arrangements.try_emplace(used, problem, rules, used).first->second;
    size += count_nests(loops, points, temporal_bounds(problem.workload(), unrolling.factors)) *
            static_cast<long>(unrolling.assignments);
  }
  return size.get_str();
}

}  // namespace mapsim::check
