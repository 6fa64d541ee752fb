// SPDX-License-Identifier: Apache-2.0
#include "mapper/counting/imperfect_count.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mapper/counting/extent_stages.hpp"

namespace mapsim::nests {
namespace {

// Words by the extents in each stage, coded as one number in a base above the number of all
// extents, so codes add as extents do.
using Words = std::unordered_map<std::uint64_t, mpz_class>;

// Work between two polls, about a millisecond: a sum counts as much as the limbs that it adds, and
// a few more for finding its place. Dims with hundreds of extents have numbers of sixty limbs.
constexpr std::size_t kWorkOfPoll = 400'000;
constexpr std::size_t kWorkOfSum = 40;

std::size_t work_of(const mpz_class& a, const mpz_class& b) {
  return kWorkOfSum + mpz_size(a.get_mpz_t()) * mpz_size(b.get_mpz_t());
}

// Asks whether to stop about once a millisecond.
struct Polls {
  const std::function<bool()>& stop;
  std::size_t since = 0;  // work since the last poll

  bool go_on(std::size_t work) {
    since += work;
    if (since < kWorkOfPoll) {
      return true;
    }
    since = 0;
    return !stop();
  }
};

// Counts the nests of all unrollings that use the same fanouts. The words of an unrolling are a
// product over dims, and the number of nests is linear in them. So unrollings are summed dim by
// dim, along a tree of what they do with one dim after the other. Equal subtrees are one node.
// There are few nodes, because earlier dims affect later ones only by what they leave of the axes.
class ExtentCount {
 public:
  ExtentCount(const Mapspace& space, const UnrollingClass& one)
      : space_{space}, stages_{space, one}, owns_(space.domains().size()) {
    for (const DimId d : space.domains().ids()) {
      dims_.push_back(d);
      base_ += space.domains()[d].size() - 1;
    }
    std::stable_sort(dims_.begin(), dims_.end(), [&space](DimId a, DimId b) {
      return space.domains()[a].size() > space.domains()[b].size();
    });
    nodes_.resize(dims_.size());
    ids_.resize(dims_.size());
  }

  void add(const Unrolling& unrolling) {
    Path& path = paths_.emplace_back();
    for (const DimId d : dims_) {
      std::vector<Unrolling>& known = owns_[d];
      const Unrolling own = of_dim(unrolling, d);
      const auto found = std::find(known.begin(), known.end(), own);
      path.push_back(static_cast<std::size_t>(found - known.begin()));
      if (found == known.end()) {
        known.push_back(own);
      }
    }
  }

  std::optional<mpz_class> count(const std::function<bool()>& stop) {
    std::sort(paths_.begin(), paths_.end());
    build(0, 0, paths_.size());
    std::vector<Words> below(1);
    below.front()[0] = 1;
    for (std::size_t depth = dims_.size(); depth-- > 0;) {
      const auto factors = words_of(dims_[depth], stop);
      if (!factors) {
        return std::nullopt;
      }
      std::vector<Words> here(nodes_[depth].size());
      for (std::size_t node = 0; node < here.size(); ++node) {
        if (!sum_up(nodes_[depth][node], *factors, below, stop, here[node])) {
          return std::nullopt;
        }
      }
      below = std::move(here);
    }
    return weigh(below.front(), stop);
  }

 private:
  using Path = std::vector<std::size_t>;  // per dim of dims_: index in owns_
  // The ways to unroll a dim, each with the node that follows; at the last dim all lead to 0.
  using Node = std::vector<std::pair<std::size_t, std::size_t>>;

  // The node of the paths [begin, end), which agree in the dims before `depth`.
  std::size_t build(std::size_t depth, std::size_t begin, std::size_t end) {
    if (depth == dims_.size()) {
      return 0;
    }
    Node node;
    while (begin < end) {
      const std::size_t own = paths_[begin][depth];
      std::size_t next = begin;
      while (next < end && paths_[next][depth] == own) {
        ++next;
      }
      node.emplace_back(own, build(depth + 1, begin, next));
      begin = next;
    }
    const auto [entry, is_new] = ids_[depth].emplace(std::move(node), nodes_[depth].size());
    if (is_new) {
      nodes_[depth].push_back(entry->first);
    }
    return entry->second;
  }

  std::optional<std::vector<Words>> words_of(DimId dim, const std::function<bool()>& stop) const {
    std::vector<Words> all;
    Polls polls{stop};
    for (const Unrolling& own : owns_[dim]) {
      Words& words = all.emplace_back();
      const auto add = [&](const Extents& split) {
        mpz_class& weight = words[code(split)];
        weight += weight_of_split(space_, dim, split);
        return polls.go_on(work_of(weight, weight));
      };
      const bool is_done = visit_splits(space_, stages_.placements().used_fanouts(), own, dim, add,
                                        [&] { return polls.go_on(kWorkOfSum); });
      if (!is_done) {
        return std::nullopt;
      }
    }
    return all;
  }

  std::uint64_t code(const Extents& extents) const {
    std::uint64_t code = 0;
    for (const std::size_t here : extents) {
      code = code * base_ + here;
    }
    return code;
  }

  // The sum over the children of (words of this dim) * (words of the other dims).
  static bool sum_up(const Node& node, const std::vector<Words>& factors,
                     const std::vector<Words>& below, const std::function<bool()>& stop,
                     Words& sum) {
    std::map<std::size_t, Words> by_child;
    for (const auto& [own, child] : node) {
      for (const auto& [extents, number] : factors[own]) {
        by_child[child][extents] += number;
      }
    }
    Polls polls{stop, kWorkOfPoll};
    for (const auto& [child, factor] : by_child) {
      for (const auto& [extents, number] : below[child]) {
        for (const auto& [more, times] : factor) {
          if (!polls.go_on(work_of(number, times))) {
            return false;
          }
          mpz_addmul(sum[extents + more].get_mpz_t(), number.get_mpz_t(), times.get_mpz_t());
        }
      }
    }
    return true;
  }

  // The words with distinguishable extents, each counted once per permutation of the extents of its
  // dims.
  std::optional<mpz_class> weigh(const Words& words, const std::function<bool()>& stop) const {
    std::vector<std::map<std::size_t, mpz_class>> known(stages_.size());
    mpz_class sum;
    Polls polls{stop};
    for (const auto& [extents, number] : words) {
      mpz_class product = number;
      std::uint64_t left = extents;
      for (std::size_t stage = stages_.size(); stage-- > 0; left /= base_) {
        const std::size_t here = left % base_;
        mpz_class& ways = known[stage][here];
        if (ways == 0) {
          ways = stages_.ways(stage, here) * factorial(here);
        }
        product *= ways;
      }
      sum += product;
      if (!polls.go_on(work_of(product, product))) {
        return std::nullopt;
      }
    }
    mpz_class copies = 1;
    for (const DimId d : dims_) {
      copies *= factorial(space_.domains()[d].size() - 1);
    }
    return mpz_class(sum / copies);
  }

  const Mapspace& space_;
  ExtentStages stages_;
  std::vector<DimId> dims_;  // longest domains first, so that sums are long and products few
  std::uint64_t base_ = 1;
  PerDim<std::vector<Unrolling>> owns_;
  std::vector<Path> paths_;
  std::vector<std::vector<Node>> nodes_;  // per depth
  std::vector<std::map<Node, std::size_t>> ids_;
};

}  // namespace

std::optional<mpz_class> count_extent_nests(const Mapspace& space,
                                            const std::function<bool()>& stop) {
  std::map<std::vector<FanoutId>, ExtentCount> counts;
  for (const UnrollingClass& unrolling_class : space.unrolling_classes()) {
    if (stop()) {
      return std::nullopt;
    }
    counts.try_emplace(used_fanouts(unrolling_class), space, unrolling_class)
        .first->second.add(unrolling_class.first);
  }
  mpz_class sum;
  for (auto& entry : counts) {
    const auto nests = entry.second.count(stop);
    if (!nests) {
      return std::nullopt;
    }
    sum += *nests;
  }
  return sum;
}

}  // namespace mapsim::nests
