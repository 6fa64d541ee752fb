// SPDX-License-Identifier: Apache-2.0
#include "check/extent_domains.hpp"

#include <algorithm>
#include <set>

#include "core/arithmetic.hpp"
#include "core/factor.hpp"

namespace mapsim::check {

namespace {

using Extents = std::set<std::int64_t>;

// An unrolling so far, and the extents that tiles may have behind it.
struct Choice {
  Unrolling unrolling;
  PerDim<Extents> tiles;
};

class ImperfectUnrollings {
 public:
  ImperfectUnrollings(const Problem& problem, const Rules& rules)
      : problem_{problem},
        rules_{rules},
        domains_{list_extent_domains(problem.workload(), rules)} {}

  std::vector<Unrolling> list() {
    Choice none{{{}, {}, 1}, PerDim<Extents>(domains_.size())};
    for (const DimId d : domains_.ids()) {
      none.tiles[d] = Extents(domains_[d].begin(), domains_[d].end());
    }
    std::vector<Choice> all{none};
    for (const FanoutId f : problem_.arch().fanouts.ids()) {
      std::vector<Choice> longer;
      for (const Choice& above : all) {
        extend(f, above, longer);
      }
      all = std::move(longer);
    }
    std::vector<Unrolling> unrollings;
    for (const Choice& choice : all) {
      unrollings.push_back(choice.unrolling);
    }
    return unrollings;
  }

 private:
  // Adds the loops of one fanout, X first.
  void extend(FanoutId fanout, const Choice& above, std::vector<Choice>& found) const {
    const PerDim<std::int64_t> ones(domains_.size(), 1);
    Choice begun = above;
    begun.unrolling.axes.push_back({ones, ones});
    begun.unrolling.factors.push_back(ones);
    std::vector<Choice> choices{begun};
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      for (const DimId d : domains_.ids()) {
        std::vector<Choice> longer;
        for (const Choice& choice : choices) {
          add_loop(fanout, axis, d, choice, longer);
        }
        choices = std::move(longer);
      }
    }
    for (Choice& choice : choices) {
      if (rules_.spatial[fanout] ||
          allows_unrolling(problem_, rules_, fanout, choice.unrolling.axes[fanout])) {
        for (const DimId d : domains_.ids()) {  // loops lead to any smaller extent
          const auto end =
              std::upper_bound(domains_[d].begin(), domains_[d].end(), *choice.tiles[d].rbegin());
          choice.tiles[d] = Extents(domains_[d].begin(), end);
        }
        found.push_back(std::move(choice));
      }
    }
  }

  void add_loop(FanoutId fanout, Axis axis, DimId d, const Choice& choice,
                std::vector<Choice>& found) const {
    const auto along = static_cast<std::size_t>(axis);
    std::int64_t left = problem_.arch().fanouts[fanout].size(axis);
    for (const std::int64_t taken : choice.unrolling.axes[fanout][along]) {
      left /= taken;
    }
    const auto& given = rules_.spatial[fanout];
    const std::int64_t most = std::min(left, problem_.workload().dims[d].bound);
    for (std::int64_t n = given ? (*given)[along][d] : 1; n <= most; ++n) {
      Choice longer = choice;
      longer.unrolling.axes[fanout][along][d] = n;
      longer.unrolling.factors[fanout][d] *= n;
      if (n > 1) {
        longer.tiles[d].clear();
        for (const std::int64_t tile : choice.tiles[d]) {
          if (const auto block = block_of(domains_[d], tile, n)) {
            longer.tiles[d].insert(*block);
          }
        }
      }
      const bool may = n == 1 || given || may_unroll(problem_, fanout, axis, d);
      if (may && !longer.tiles[d].empty()) {
        found.push_back(std::move(longer));
      }
      if (given) {
        return;
      }
    }
  }

  const Problem& problem_;
  const Rules& rules_;
  ExtentDomains domains_;
};

}  // namespace

ExtentDomains list_extent_domains(const Workload& workload, const Rules& rules) {
  ExtentDomains domains(workload.dims.size());
  for (const DimId d : domains.ids()) {
    const std::int64_t bound = workload.dims[d].bound;
    Extents extents{1, bound};
    const std::int64_t most = rules.pieces > 0 ? std::min(rules.pieces, bound) : bound;
    for (std::int64_t n = 1; n <= most; ++n) {
      extents.insert(ceil_div(bound, n));
    }
    if (rules.pieces > 0) {
      const std::vector<std::int64_t> divisors = divisors_of(bound);
      extents.insert(divisors.begin(), divisors.end());
    }
    extents.insert(rules.tiles[d].begin(), rules.tiles[d].end());
    domains[d] = {extents.begin(), extents.end()};
  }
  return domains;
}

std::optional<std::int64_t> block_of(const std::vector<std::int64_t>& domain, std::int64_t tile,
                                     std::int64_t instances) {
  const std::int64_t block = ceil_div(tile, instances);
  const bool all_work = ceil_div(tile, block) == instances;
  return all_work && std::binary_search(domain.begin(), domain.end(), block) ? std::optional{block}
                                                                             : std::nullopt;
}

std::vector<Unrolling> list_imperfect_unrollings(const Problem& problem, const Rules& rules) {
  return ImperfectUnrollings{problem, rules}.list();
}

}  // namespace mapsim::check
