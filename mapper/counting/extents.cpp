// SPDX-License-Identifier: Apache-2.0
#include "mapper/counting/extents.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "mapper/counting/counting.hpp"
#include "mapper/mapspace/builder.hpp"

namespace mapsim::nests {

mpz_class below(const mpz_class& bound, Rng& rng) {
  const std::size_t bits = mpz_sizeinbase(bound.get_mpz_t(), 2);
  mpz_class x = bound;
  while (x >= bound) {
    x = 0;
    for (std::size_t drawn = 0; drawn < bits; drawn += 32) {
      x = (x << 32) + static_cast<unsigned long>(rng.next() >> 32);
    }
    mpz_fdiv_r_2exp(x.get_mpz_t(), x.get_mpz_t(), bits);
  }
  return x;
}

namespace {

// `count` of the numbers first, ..., first + size - 1, ascending; all sets are equally likely.
std::vector<std::size_t> draw_positions(std::size_t first, std::size_t size, std::size_t count,
                                        Rng& rng) {
  std::vector<std::size_t> all(size);
  std::iota(all.begin(), all.end(), first);
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(all[i], all[i + rng.below(size - i)]);
  }
  all.resize(count);
  std::sort(all.begin(), all.end());
  return all;
}

// The ways to put a chain's levels [level, end) on the points [point, points).
double spread_from(const Chain& chain, std::size_t level, std::size_t end, std::size_t point,
                   std::size_t points) {
  if (level == end) {
    return 1;
  }
  const ChainLevel& place = chain[static_cast<LevelId>(level)];
  double ways = place.required ? 0 : spread_from(chain, level + 1, end, point, points);
  for (std::size_t at = point; at < points && !place.choices.empty(); ++at) {
    ways +=
        static_cast<double>(place.choices.size()) * spread_from(chain, level + 1, end, at, points);
  }
  return ways;
}

// Draws one of these ways and adds it to `keeps`.
void draw_chain(const Chain& chain, std::size_t level, std::size_t end,
                std::vector<PerLevel<TensorSet>>& keeps, Rng& rng) {
  std::size_t point = 0;
  for (; level < end; ++level) {
    const auto id = static_cast<LevelId>(level);
    const ChainLevel& place = chain[id];
    double rest = rng.uniform() * spread_from(chain, level, end, point, keeps.size());
    if (!place.required) {
      rest -= spread_from(chain, level + 1, end, point, keeps.size());
      if (rest < 0) {
        continue;
      }
    }
    for (std::size_t at = point; at < keeps.size() && !place.choices.empty(); ++at) {
      rest -= static_cast<double>(place.choices.size()) *
              spread_from(chain, level + 1, end, at, keeps.size());
      if (rest < 0 || at + 1 == keeps.size()) {
        keeps[at][id] = keeps[at][id] | place.choices[rng.below(place.choices.size())];
        point = at;
        break;
      }
    }
  }
}

void merge(const PerLevel<TensorSet>& from, PerLevel<TensorSet>& to) {
  for (const LevelId l : to.ids()) {
    to[l] = to[l] | from[l];
  }
}

// Does every point from first to last have a keep?
bool are_occupied(const std::vector<PerLevel<TensorSet>>& keeps, std::size_t first,
                  std::size_t last) {
  return std::all_of(keeps.begin() + static_cast<std::ptrdiff_t>(first),
                     keeps.begin() + static_cast<std::ptrdiff_t>(last), [](const auto& levels) {
                       return std::any_of(levels.begin(), levels.end(),
                                          [](TensorSet set) { return !set.empty(); });
                     });
}

}  // namespace

ExtentNests::ExtentNests(const Mapspace& space, const UnrollingClass& unrolling_class)
    : space_{&space}, class_{&unrolling_class}, stages_{space, unrolling_class} {
  std::size_t extents = 0;
  mpz_class copies = 1;  // how often each nest occurs among words of distinguishable extents
  for (const DimId d : space.domains().ids()) {
    const bool is_unrolled =
        std::any_of(unrolling_class.factors.begin(), unrolling_class.factors.end(),
                    [d](const auto& factors) { return factors[d] > 1; });
    (is_unrolled ? unrolled_ : free_).push_back(d);
    const std::size_t of_dim = space.domains()[d].size() - 1;
    extents += is_unrolled ? 0 : of_dim;
    copies *= factorial(of_dim);
  }
  const std::size_t stages = stages_.size();
  // A word of the free dims, cut into stages anywhere.
  Extents cut(stages, 0);
  const std::function<void(std::size_t, std::size_t, const mpz_class&)> add =
      [&](std::size_t stage, std::size_t left, const mpz_class& ways) {
        for (std::size_t here = stage + 1 == stages ? left : 0; here <= left; ++here) {
          cut[stage] = here;
          if (stage + 1 == stages) {
            words_.front()[cut] = ways;
          } else {
            add(stage + 1, left - here, ways * binomial(left, here));
          }
        }
      };
  words_.emplace_back();
  add(0, extents, 1);
  std::for_each(unrolled_.begin(), unrolled_.end(), [this](DimId d) { add_dim(d); });

  find_ways();
  for (const auto& [end, number] : words_.back()) {
    copies_ += weight(end, number);
  }
  count_ = copies_ / copies;
}

// Per stage and number of extents: the ways for keeps and barriers, and to order the extents.
void ExtentNests::find_ways() {
  Extents most(stages_.size(), 0);
  for (const auto& entry : words_.back()) {
    for (std::size_t stage = 0; stage < most.size(); ++stage) {
      most[stage] = std::max(most[stage], entry.first[stage]);
    }
  }
  for (std::size_t stage = 0; stage < most.size(); ++stage) {
    std::vector<mpz_class>& found = ways_.emplace_back();
    for (std::size_t extents = 0; extents <= most[stage]; ++extents) {
      found.push_back(stages_.ways(stage, extents));
      orders_.resize(std::max(orders_.size(), extents + 1));
      orders_[extents] = factorial(extents);
    }
  }
}

mpz_class ExtentNests::weight(const Extents& end, const mpz_class& number) const {
  mpz_class product = number;
  for (std::size_t stage = 0; stage < end.size(); ++stage) {
    product *= ways_[stage][end[stage]] * orders_[end[stage]];
  }
  return product;
}

std::vector<Extents> ExtentNests::splits_of(DimId dim) const {
  return splits(*space_, stages_.placements().used_fanouts(), of_dim(class_->first, dim), dim);
}

// Adds the extents of one more dim to the words of each stage.
void ExtentNests::add_dim(DimId dim) {
  Words longer;
  for (const Extents& split : splits_of(dim)) {
    const mpz_class weight = weight_of_split(*space_, dim, split);
    for (const auto& [extents, number] : words_.back()) {
      Extents sum = extents;
      for (std::size_t stage = 0; stage < sum.size(); ++stage) {
        sum[stage] += split[stage];
      }
      longer[sum] += weight * number;
    }
  }
  words_.push_back(std::move(longer));
}

Extents ExtentNests::draw_end(Rng& rng) const {
  mpz_class rest = below(copies_, rng);
  for (const auto& [end, number] : words_.back()) {
    const mpz_class here = weight(end, number);
    if (rest < here) {
      return end;
    }
    rest -= here;
  }
  return {};
}

// Removes the unrolled dims from the words in reverse order, then inserts their letters one by one.
std::vector<std::vector<DimId>> ExtentNests::draw_words(Extents extents, Rng& rng) const {
  std::vector<Extents> drawn(unrolled_.size());
  for (std::size_t i = unrolled_.size(); i-- > 0;) {
    mpz_class rest = below(words_[i + 1].at(extents), rng);
    for (const Extents& split : splits_of(unrolled_[i])) {
      Extents before = extents;
      bool possible = true;
      for (std::size_t stage = 0; stage < extents.size() && possible; ++stage) {
        possible = split[stage] <= extents[stage];
        before[stage] -= possible ? split[stage] : 0;
      }
      const auto known = possible ? words_[i].find(before) : words_[i].end();
      if (known == words_[i].end()) {
        continue;
      }
      const mpz_class here = weight_of_split(*space_, unrolled_[i], split) * known->second;
      if (rest < here) {
        drawn[i] = split;
        extents = before;
        break;
      }
      rest -= here;
    }
  }
  std::vector<DimId> letters;
  for (const DimId d : free_) {
    letters.insert(letters.end(), space_->domains()[d].size() - 1, d);
  }
  for (std::size_t i = letters.size(); i > 1; --i) {
    std::swap(letters[i - 1], letters[rng.below(i)]);
  }
  std::vector<std::vector<DimId>> words;
  auto from = letters.begin();
  for (std::size_t stage = 0; stage < extents.size(); ++stage) {
    std::vector<DimId> word(from, from + static_cast<std::ptrdiff_t>(extents[stage]));
    from += static_cast<std::ptrdiff_t>(extents[stage]);
    for (std::size_t i = 0; i < unrolled_.size(); ++i) {
      const std::size_t count = drawn[i][stage];
      for (const std::size_t at : draw_positions(0, word.size() + count, count, rng)) {
        word.insert(word.begin() + static_cast<std::ptrdiff_t>(at), unrolled_[i]);
      }
    }
    words.push_back(std::move(word));
  }
  return words;
}

// The keeps at the points of a stage: its ends, and `interior` points of its own with at least one
// keep.
std::vector<PerLevel<TensorSet>> ExtentNests::draw_keeps(std::size_t stage, std::size_t interior,
                                                         bool together, Rng& rng) const {
  const std::size_t first = stage > 0 ? 1 : 0;
  const PerLevel<TensorSet> none(space_->problem().arch().levels.size());
  std::vector<PerLevel<TensorSet>> keeps;
  do {
    keeps.assign(together ? 1 : interior + stages_.ends(stage), none);
    for (const Chain& chain : stages_.placements().chains()) {
      draw_chain(chain, stages_.placements().first_level(stage),
                 stages_.placements().end_level(stage), keeps, rng);
    }
  } while (!are_occupied(keeps, first, first + interior));
  return keeps;
}

// The loops of a word from `begin` to `end`: runs of a dim are one loop.
void ExtentNests::add_loops(const std::vector<DimId>& word, std::size_t begin, std::size_t end,
                            NestBuilder& nest) const {
  for (std::size_t i = begin; i < end;) {
    std::size_t run = i;
    while (run < end && word[run] == word[i]) {
      ++run;
    }
    const ExtentDomain& domain = space_->domains()[word[i]];
    nest.add_loop_to(word[i], domain[extent_of(domain, nest.extents()[word[i]]) - (run - i)]);
    i = run;
  }
}

Mapping ExtentNests::sample(Rng& rng) const {
  const Extents end = draw_end(rng);
  const auto words = draw_words(end, rng);
  const std::size_t fanouts = stages_.placements().used_fanouts().size();
  NestBuilder nest{*space_, stages_.placements(), class_->first};
  const PerLevel<TensorSet> none(space_->problem().arch().levels.size());
  Point at_fanouts{none, 0, 0};
  for (std::size_t stage = 0; stage <= fanouts; ++stage) {
    const std::size_t extents = end[stage];
    const bool together = stages_.ends(stage) > extents + 1;
    std::vector<std::size_t> gaps;
    if (!together) {
      mpz_class rest = below(ways_[stage][extents], rng);
      std::size_t points = 0;
      while (rest >=
             stages_.arrangements(stage)[points] * stages_.barriers(stage, extents, points)) {
        rest -= stages_.arrangements(stage)[points] * stages_.barriers(stage, extents, points);
        ++points;
      }
      gaps = draw_positions(stage > 0 ? 1 : 0, extents + 1 - stages_.ends(stage), points, rng);
    }
    auto keeps = draw_keeps(stage, gaps.size(), together, rng);
    auto next = keeps.begin();
    if (stage > 0) {
      merge(*next, at_fanouts.keeps);
      if (!together) {
        ++next;
        nest.add_point(at_fanouts);
        at_fanouts = {none, stage, stage};
      }
    }
    std::size_t done = 0;
    for (const std::size_t gap : gaps) {
      add_loops(words[stage], done, gap, nest);
      nest.add_point({*next++, stage, stage});
      done = gap;
    }
    add_loops(words[stage], done, extents, nest);
    if (stage < fanouts) {
      if (!together) {
        merge(*next, at_fanouts.keeps);
      }
      at_fanouts.end_fanout = stage + 1;
    }
  }
  return nest.mapping();
}

}  // namespace mapsim::nests
