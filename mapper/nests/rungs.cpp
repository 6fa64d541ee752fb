// SPDX-License-Identifier: Apache-2.0
#include "mapper/nests/rungs.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "mapper/nests/builder.hpp"
#include "mapper/nests/counting.hpp"

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

// `count` of first, first + 1, ..., first + size - 1, ascending; each set with the same
// probability.
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

// Ways to put a chain's levels [level, end) on points [point, points).
double spread_from(const Chain& chain, std::size_t level, std::size_t end, std::size_t point,
                   std::size_t points) {
  if (level == end) {
    return 1;
  }
  const Place& place = chain[static_cast<LevelId>(level)];
  double ways = place.required ? 0 : spread_from(chain, level + 1, end, point, points);
  for (std::size_t at = point; at < points && !place.choices.empty(); ++at) {
    ways +=
        static_cast<double>(place.choices.size()) * spread_from(chain, level + 1, end, at, points);
  }
  return ways;
}

// Draws one of them and adds it to `keeps`.
void draw_chain(const Chain& chain, std::size_t level, std::size_t end,
                std::vector<PerLevel<TensorSet>>& keeps, Rng& rng) {
  std::size_t point = 0;
  for (; level < end; ++level) {
    const auto id = static_cast<LevelId>(level);
    const Place& place = chain[id];
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

// Every point from first to last has a keep.
bool are_occupied(const std::vector<PerLevel<TensorSet>>& keeps, std::size_t first,
                  std::size_t last) {
  return std::all_of(keeps.begin() + static_cast<std::ptrdiff_t>(first),
                     keeps.begin() + static_cast<std::ptrdiff_t>(last), [](const auto& levels) {
                       return std::any_of(levels.begin(), levels.end(),
                                          [](TensorSet set) { return !set.empty(); });
                     });
}

}  // namespace

RungNests::RungNests(const Mapspace& space, const UnrollingGroup& group)
    : space_{&space}, group_{&group}, phases_{space, group} {
  std::size_t rungs = 0;
  mpz_class copies = 1;  // of each nest among words of rungs that are told apart
  for (const DimId d : space.ladders().ids()) {
    const bool is_unrolled = std::any_of(group.factors.begin(), group.factors.end(),
                                         [d](const auto& factors) { return factors[d] > 1; });
    (is_unrolled ? unrolled_ : free_).push_back(d);
    const std::size_t of_dim = space.ladders()[d].size() - 1;
    rungs += is_unrolled ? 0 : of_dim;
    copies *= factorial(of_dim);
  }
  const std::size_t phases = phases_.size();
  // A word of the free dims, cut anywhere into phases.
  Rungs cut(phases, 0);
  const std::function<void(std::size_t, std::size_t, const mpz_class&)> add =
      [&](std::size_t phase, std::size_t left, const mpz_class& ways) {
        for (std::size_t here = phase + 1 == phases ? left : 0; here <= left; ++here) {
          cut[phase] = here;
          if (phase + 1 == phases) {
            words_.front()[cut] = ways;
          } else {
            add(phase + 1, left - here, ways * binomial(left, here));
          }
        }
      };
  words_.emplace_back();
  add(0, rungs, 1);
  std::for_each(unrolled_.begin(), unrolled_.end(), [this](DimId d) { add_dim(d); });

  find_ways();
  for (const auto& [end, number] : words_.back()) {
    copies_ += weight(end, number);
  }
  count_ = copies_ / copies;
}

// Ways to put keeps and barriers into each phase, and to order its rungs, by how many there are.
void RungNests::find_ways() {
  Rungs most(phases_.size(), 0);
  for (const auto& entry : words_.back()) {
    for (std::size_t phase = 0; phase < most.size(); ++phase) {
      most[phase] = std::max(most[phase], entry.first[phase]);
    }
  }
  for (std::size_t phase = 0; phase < most.size(); ++phase) {
    std::vector<mpz_class>& found = ways_.emplace_back();
    for (std::size_t rungs = 0; rungs <= most[phase]; ++rungs) {
      found.push_back(phases_.ways(phase, rungs));
      orders_.resize(std::max(orders_.size(), rungs + 1));
      orders_[rungs] = factorial(rungs);
    }
  }
}

mpz_class RungNests::weight(const Rungs& end, const mpz_class& number) const {
  mpz_class product = number;
  for (std::size_t phase = 0; phase < end.size(); ++phase) {
    product *= ways_[phase][end[phase]] * orders_[end[phase]];
  }
  return product;
}

std::vector<Rungs> RungNests::splits_of(DimId dim) const {
  return splits(*space_, phases_.placements().used_fanouts(), of_dim(group_->first, dim), dim);
}

// The rungs of one more dim join the words of each phase.
void RungNests::add_dim(DimId dim) {
  Words longer;
  for (const Rungs& split : splits_of(dim)) {
    const mpz_class weight = weight_of_split(*space_, dim, split);
    for (const auto& [rungs, number] : words_.back()) {
      Rungs sum = rungs;
      for (std::size_t phase = 0; phase < sum.size(); ++phase) {
        sum[phase] += split[phase];
      }
      longer[sum] += weight * number;
    }
  }
  words_.push_back(std::move(longer));
}

Rungs RungNests::draw_end(Rng& rng) const {
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

// Unrolled dims leave the words in the reverse order, then come back letter by letter.
std::vector<std::vector<DimId>> RungNests::draw_words(Rungs rungs, Rng& rng) const {
  std::vector<Rungs> drawn(unrolled_.size());
  for (std::size_t i = unrolled_.size(); i-- > 0;) {
    mpz_class rest = below(words_[i + 1].at(rungs), rng);
    for (const Rungs& split : splits_of(unrolled_[i])) {
      Rungs before = rungs;
      bool possible = true;
      for (std::size_t phase = 0; phase < rungs.size() && possible; ++phase) {
        possible = split[phase] <= rungs[phase];
        before[phase] -= possible ? split[phase] : 0;
      }
      const auto known = possible ? words_[i].find(before) : words_[i].end();
      if (known == words_[i].end()) {
        continue;
      }
      const mpz_class here = weight_of_split(*space_, unrolled_[i], split) * known->second;
      if (rest < here) {
        drawn[i] = split;
        rungs = before;
        break;
      }
      rest -= here;
    }
  }
  std::vector<DimId> letters;
  for (const DimId d : free_) {
    letters.insert(letters.end(), space_->ladders()[d].size() - 1, d);
  }
  for (std::size_t i = letters.size(); i > 1; --i) {
    std::swap(letters[i - 1], letters[rng.below(i)]);
  }
  std::vector<std::vector<DimId>> words;
  auto from = letters.begin();
  for (std::size_t phase = 0; phase < rungs.size(); ++phase) {
    std::vector<DimId> word(from, from + static_cast<std::ptrdiff_t>(rungs[phase]));
    from += static_cast<std::ptrdiff_t>(rungs[phase]);
    for (std::size_t i = 0; i < unrolled_.size(); ++i) {
      const std::size_t count = drawn[i][phase];
      for (const std::size_t at : draw_positions(0, word.size() + count, count, rng)) {
        word.insert(word.begin() + static_cast<std::ptrdiff_t>(at), unrolled_[i]);
      }
    }
    words.push_back(std::move(word));
  }
  return words;
}

// What stands at the points of a phase: its ends and, with a keep at least, `interior` of its own.
std::vector<PerLevel<TensorSet>> RungNests::draw_keeps(std::size_t phase, std::size_t interior,
                                                       bool together, Rng& rng) const {
  const std::size_t first = phase > 0 ? 1 : 0;
  const PerLevel<TensorSet> none(space_->problem().arch().levels.size());
  std::vector<PerLevel<TensorSet>> keeps;
  do {
    keeps.assign(together ? 1 : interior + phases_.ends(phase), none);
    for (const Chain& chain : phases_.placements().chains()) {
      draw_chain(chain, phases_.placements().first_level(phase),
                 phases_.placements().end_level(phase), keeps, rng);
    }
  } while (!are_occupied(keeps, first, first + interior));
  return keeps;
}

// The loops of a word from `begin` to `end`: runs of a dim are one loop.
void RungNests::add_loops(const std::vector<DimId>& word, std::size_t begin, std::size_t end,
                          NestBuilder& nest) const {
  for (std::size_t i = begin; i < end;) {
    std::size_t run = i;
    while (run < end && word[run] == word[i]) {
      ++run;
    }
    const Ladder& ladder = space_->ladders()[word[i]];
    nest.add_loop_to(word[i], ladder[rung_of(ladder, nest.extents()[word[i]]) - (run - i)]);
    i = run;
  }
}

Mapping RungNests::sample(Rng& rng) const {
  const Rungs end = draw_end(rng);
  const auto words = draw_words(end, rng);
  const std::size_t fanouts = phases_.placements().used_fanouts().size();
  NestBuilder nest{*space_, phases_.placements(), group_->first};
  const PerLevel<TensorSet> none(space_->problem().arch().levels.size());
  Point at_fanouts{none, 0, 0};
  for (std::size_t phase = 0; phase <= fanouts; ++phase) {
    const std::size_t rungs = end[phase];
    const bool together = phases_.ends(phase) > rungs + 1;
    std::vector<std::size_t> gaps;
    if (!together) {
      mpz_class rest = below(ways_[phase][rungs], rng);
      std::size_t points = 0;
      while (rest >= phases_.arrangements(phase)[points] * phases_.barriers(phase, rungs, points)) {
        rest -= phases_.arrangements(phase)[points] * phases_.barriers(phase, rungs, points);
        ++points;
      }
      gaps = draw_positions(phase > 0 ? 1 : 0, rungs + 1 - phases_.ends(phase), points, rng);
    }
    auto keeps = draw_keeps(phase, gaps.size(), together, rng);
    auto next = keeps.begin();
    if (phase > 0) {
      merge(*next, at_fanouts.keeps);
      if (!together) {
        ++next;
        nest.add_point(at_fanouts);
        at_fanouts = {none, phase, phase};
      }
    }
    std::size_t done = 0;
    for (const std::size_t gap : gaps) {
      add_loops(words[phase], done, gap, nest);
      nest.add_point({*next++, phase, phase});
      done = gap;
    }
    add_loops(words[phase], done, rungs, nest);
    if (phase < fanouts) {
      if (!together) {
        merge(*next, at_fanouts.keeps);
      }
      at_fanouts.end_fanout = phase + 1;
    }
  }
  return nest.mapping();
}

}  // namespace mapsim::nests
