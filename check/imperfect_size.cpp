// SPDX-License-Identifier: Apache-2.0
#include <gmpxx.h>

#include <algorithm>
#include <map>
#include <utility>

#include "check/arrangements.hpp"
#include "check/lattice.hpp"
#include "check/size.hpp"

namespace mapsim::check {

namespace {

constexpr std::size_t kMostWork = 30'000'000;  // multiplications: some ten seconds

// Numbers per stage, each of which begins at a used fanout: of letters, or of points. A letter is
// an extent of a domain. A loop passes one or several letters; adjacent letters of one dim are one
// loop.
using PerPhase = std::vector<std::size_t>;
using CountsBySplit = std::map<PerPhase, mpz_class>;

mpz_class choose(std::size_t n, std::size_t k) {
  mpz_class ways;
  mpz_bin_uiui(ways.get_mpz_t(), n, k);
  return ways;
}

// Counts words over the letters of some dims, dim by dim. Unrollings share common prefixes of this
// computation.
class WordCounts {
 public:
  explicit WordCounts(const ExtentDomains& domains) : domains_{domains} {}

  // Returns false if it takes too long.
  bool add(const std::vector<ParallelLoops>& fanouts, CountsBySplit& sum) {
    std::size_t free_letters = 0;
    mpz_class free_words = 1;
    std::vector<Part> parts;
    for (const DimId d : domains_.ids()) {
      Part part{d, {}};
      bool split = false;
      for (const ParallelLoops& fanout : fanouts) {
        part.fanouts.push_back({{}, {}});
        for (const auto& loop : fanout.loops) {
          if (loop.first == d) {
            part.fanouts.back().loops.push_back(loop);
            split = true;
          }
        }
      }
      if (split) {
        parts.push_back(std::move(part));
      } else {
        const std::size_t letters = domains_[d].size() - 1;
        free_letters += letters;
        free_words *= choose(free_letters, letters);
      }
    }
    const CountsBySplit& split = counts_of(parts, fanouts.size() + 1);
    CountsBySplit cuts;
    PerPhase cut(fanouts.size() + 1, 0);
    list_cuts(0, free_letters, cut, cuts);
    for (const auto& [letters, ways] : multiplied(split, cuts)) {
      sum[letters] += ways * free_words;
    }
    return work_ < kMostWork;
  }

 private:
  // A dim that is unrolled, and its loops at each fanout.
  struct Part {
    DimId dim{};
    std::vector<ParallelLoops> fanouts;
    bool is_like(const Part& other) const {
      return dim == other.dim &&
             std::equal(
                 fanouts.begin(), fanouts.end(), other.fanouts.begin(), other.fanouts.end(),
                 [](const ParallelLoops& a, const ParallelLoops& b) { return a.loops == b.loops; });
    }
  };

  static void list_cuts(std::size_t stage, std::size_t left, PerPhase& cut, CountsBySplit& found) {
    if (stage + 1 == cut.size()) {
      cut[stage] = left;
      found[cut] = 1;
      return;
    }
    for (cut[stage] = 0; cut[stage] <= left; ++cut[stage]) {
      list_cuts(stage + 1, left - cut[stage], cut, found);
    }
  }

  CountsBySplit multiplied(const CountsBySplit& a, const CountsBySplit& b) {
    CountsBySplit product;
    for (const auto& [letters, ways] : a) {
      for (const auto& [more, also] : b) {
        PerPhase all = letters;
        mpz_class merged = ways * also;
        for (std::size_t p = 0; p < all.size(); ++p) {
          all[p] += more[p];
          merged *= choose(all[p], more[p]);
          ++work_;
        }
        product[all] += merged;
      }
    }
    return product;
  }

  // The letters of the dim in each stage, for all places where the fanouts may be crossed.
  void descend(const Part& part, std::size_t stage, std::size_t bin, PerPhase& letters,
               CountsBySplit& found) const {
    const std::vector<std::int64_t>& domain = domains_[part.dim];
    if (stage == part.fanouts.size()) {
      letters[stage] = bin;
      found[letters] += 1;
      return;
    }
    for (std::size_t at = 0; at <= bin; ++at) {
      std::optional<std::int64_t> block = domain[at];
      for (const auto& [dim, instances] : part.fanouts[stage].loops) {
        block = block ? block_of(domain, *block, instances) : block;
      }
      if (block) {
        letters[stage] = bin - at;
        const auto below = std::lower_bound(domain.begin(), domain.end(), *block);
        descend(part, stage + 1, static_cast<std::size_t>(below - domain.begin()), letters, found);
      }
    }
  }

  const CountsBySplit& counts_of(const std::vector<Part>& parts, std::size_t stages) {
    std::size_t same = 0;
    while (stages == stages_ && same < parts.size() && same < known_.size() &&
           parts[same].is_like(known_[same].first)) {
      ++same;
    }
    known_.resize(same);
    stages_ = stages;
    none_ = {{PerPhase(stages, 0), 1}};
    for (std::size_t i = same; i < parts.size(); ++i) {
      CountsBySplit own;
      PerPhase letters(stages, 0);
      descend(parts[i], 0, domains_[parts[i].dim].size() - 1, letters, own);
      known_.emplace_back(parts[i], multiplied(i == 0 ? none_ : known_[i - 1].second, own));
    }
    return known_.empty() ? none_ : known_.back().second;
  }

  const ExtentDomains& domains_;
  CountsBySplit none_;
  std::size_t stages_ = 0;
  std::vector<std::pair<Part, CountsBySplit>> known_;
  std::size_t work_ = 0;
};

// Ways to put keeps and fanouts on points, by the number of points of each stage apart from its
// fanouts. kNowhere: the stage lies between two fanouts at one point.
constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
using Points = std::map<PerPhase, mpz_class>;

Points list_points(const Problem& problem, const Rules& rules, const std::vector<FanoutId>& used) {
  const Arrangements arrangements{problem, rules, used};
  std::map<PerPhase, Arrangements::Ways> open{{PerPhase(used.size() + 1, 0), arrangements.start()}};
  Points found;
  while (!open.empty()) {
    std::map<PerPhase, Arrangements::Ways> next;
    for (const auto& [points, all] : open) {
      const mpz_class whole = arrangements.whole(all);
      if (whole > 0) {
        found[points] += whole;
      }
      for (const auto& [state, ways] : all) {
        for (const auto& [after, count] :
             arrangements.occupy({{state, ways}}, arrangements.chains())) {
          PerPhase more = points;
          for (std::size_t p = state.crossed + 1; p < after.crossed; ++p) {
            more[p] = kNowhere;
          }
          more[after.crossed] += after.crossed == state.crossed ? 1 : 0;
          next[more][after] += count;
        }
      }
    }
    open = std::move(next);
  }
  return found;
}

// The ways to put points into different gaps between the letters of their stage, excluding those
// that its fanouts take.
mpz_class gaps(std::size_t letters, std::size_t points, std::size_t ends) {
  if (points == kNowhere) {
    return letters == 0 ? 1 : 0;
  }
  return letters + 1 < ends ? mpz_class{0} : choose(letters + 1 - ends, points);
}

}  // namespace

std::optional<std::string> count_imperfect(const Problem& problem, const Rules& rules,
                                           const std::vector<Unrolling>& unrollings) {
  if (!rules.extents.empty() || !rules.loops.empty()) {
    return std::nullopt;
  }
  const ExtentDomains domains = list_extent_domains(problem.workload(), rules);
  WordCounts words{domains};
  std::map<std::vector<FanoutId>, CountsBySplit> by_fanouts;
  for (const Unrolling& unrolling : unrollings) {
    const std::vector<ParallelLoops> fanouts = list_parallel_loops(problem, unrolling);
    std::vector<FanoutId> used;
    for (const ParallelLoops& fanout : fanouts) {
      used.push_back(fanout.fanout);
    }
    if (!words.add(fanouts, by_fanouts[used])) {
      return std::nullopt;
    }
  }
  mpz_class size = 0;
  for (const auto& [used, all] : by_fanouts) {
    const Points arrangements = list_points(problem, rules, used);
    for (const auto& [letters, ways] : all) {
      for (const auto& [points, kept] : arrangements) {
        mpz_class placed = kept;
        for (std::size_t p = 0; p < letters.size(); ++p) {
          const std::size_t ends = (p > 0 ? 1U : 0U) + (p + 1 < letters.size() ? 1U : 0U);
          placed *= gaps(letters[p], points[p], ends);
        }
        size += placed * ways;
      }
    }
  }
  return size.get_str();
}

}  // namespace mapsim::check
