// SPDX-License-Identifier: Apache-2.0
// Rows of a bound of which few tiles are of interest, found tile by tile.
#include <algorithm>
#include <vector>

#include "mapper/exact/bound.hpp"

namespace mapsim::exact {

void Bound::make_digits(const Unrolled& unrolled) {
  for (const Lattice& lattice : unrolled.lattices) {
    Digits made{PerDim<std::vector<std::uint16_t>>(lattice.dims()),
                PerDim<std::vector<std::uint32_t>>(lattice.dims())};
    for (const DimId d : made.digits.ids()) {
      if (lattice.positions(d).size() == 1) {
        continue;  // no loop runs over it
      }
      std::vector<std::uint16_t>& digits = made.digits[d];
      digits.resize(lattice.size());
      lattice.sweep(d, [&](std::size_t digit, std::size_t first, std::size_t last) {
        std::fill(&digits[first], digits.data() + last, static_cast<std::uint16_t>(digit));
      });
      if (!unrolled.windows.contains(d)) {
        continue;
      }
      std::vector<std::uint32_t>& rests = made.rests[d];
      rests.resize(lattice.size());
      std::uint32_t block = 0;
      lattice.sweep(d, [&](std::size_t digit, std::size_t first, std::size_t last) {
        block += digit == 0 && first > 0 ? static_cast<std::uint32_t>(last - first) : 0;
        for (std::size_t tile = first; tile < last; ++tile) {
          rests[tile] = block + static_cast<std::uint32_t>(tile - first);
        }
      });
    }
    digits_.push_back(std::move(made));
  }
}

// False: it leads to no node worth looking at.
bool Bound::relax_jump_of_tiles(const Skeleton& skeleton, Costs& costs, const Row& row,
                                const Digits& digits, const Skeleton::Jump& jump) {
  const Lattice& lattice = row.lattice;
  const auto& runs = lattice.runs(jump.dim);
  const auto behind = rows_behind(skeleton, row, jump.dim, jump.target, runs);
  if (behind.empty()) {
    return false;
  }
  std::vector<const double*> paid;
  for (const std::size_t placing : jump.placings) {
    const std::vector<double>& cost = costs.sliding(placing, jump.dim);
    paid.push_back(cost.data() + cost.size() / costs.components() * row.component);
  }
  double* here = begin(row);
  const std::size_t stride = lattice.stride(jump.dim);
  const std::size_t rests = lattice.size() / lattice.positions(jump.dim).size();
  for (const std::uint32_t tile : row.tiles) {
    const std::size_t digit = digits.digits[jump.dim][tile];
    const Lattice::Range range = lattice.runs_from(jump.dim, digit);
    for (std::size_t run = range.first; run < range.last; ++run) {
      if (behind[run] == nullptr) {
        continue;
      }
      double sum = behind[run][tile - (digit - runs[run].to) * stride];
      if (!(sum < here[tile])) {
        continue;
      }
      const std::size_t entry = run * rests + digits.rests[jump.dim][tile];
      for (const double* cost : paid) {
        sum += cost[entry];
      }
      here[tile] = std::min(here[tile], sum);
    }
  }
  return true;
}

// Loops to other pointers, then those that stay. False: there is none worth looking at.
bool Bound::relax_loops_of_tiles(const Skeleton& skeleton, const Row& row, const Digits& digits) {
  const Lattice& lattice = row.lattice;
  double* here = begin(row);
  bool leads_on = false;
  struct Way {
    DimId dim{};
    const std::uint16_t* digits = nullptr;
    std::vector<const double*> behind;  // per run; none: the row itself
  };
  std::vector<Way> ways;
  const DimSet frozen = skeleton.frozen(row.phase, row.pointers);
  for (const DimId d : digits.digits.ids()) {
    if (frozen.contains(d) || lattice.primes(d).empty()) {
      continue;
    }
    const bool neutral = skeleton.is_neutral(row.phase, row.pointers, d);
    ways.push_back({d, digits.digits[d].data(), {}});
    if (!neutral) {
      ways.back().behind = rows_behind(skeleton, row, d, row.pointers, lattice.primes(d));
      leads_on = leads_on || !ways.back().behind.empty();
      if (ways.back().behind.empty()) {
        ways.pop_back();
      }
    }
  }
  for (const std::uint32_t tile : row.tiles) {
    double least = here[tile];
    for (const Way& way : ways) {
      const std::size_t digit = way.digits[tile];
      const Lattice::Range range = lattice.primes_from(way.dim, digit);
      for (std::size_t r = range.first; r < range.last; ++r) {
        const double* there = way.behind.empty() ? here : way.behind[r];
        if (there != nullptr) {
          const std::size_t steps = digit - lattice.primes(way.dim)[r].to;
          least = std::min(least, there[tile - steps * lattice.stride(way.dim)]);
        }
      }
    }
    here[tile] = least;
  }
  return leads_on;
}

// As fill_row() has it.
bool Bound::fill_tiles(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
                       const Row& row) {
  const Digits& digits = digits_[skeleton.crossed(row.phase)];
  double* here = begin(row);
  bool leads_on = false;
  if (row.phase + 1 < skeleton.phases()) {
    const auto behind = skeleton.after_event(row.phase, row.pointers);
    if (behind && is_live(row.phase + 1, *behind)) {
      leads_on = true;
      const double* next = begin(row.component, row.phase + 1, *behind);
      const auto fanout = skeleton.event_after(row.phase).fanout;
      for (const std::uint32_t tile : row.tiles) {
        here[tile] = next[fanout ? unrolled.crossings[*fanout][tile] : tile];
      }
    }
  } else if (skeleton.end(row.pointers)) {
    leads_on = true;
    for (const std::size_t tile : row.lattice.ones()) {
      if (std::binary_search(row.tiles.begin(), row.tiles.end(), tile)) {
        here[tile] = costs.mac(*skeleton.end(row.pointers), tile)[row.component];
      }
    }
  }
  for (const Skeleton::Place& place : skeleton.places(row.phase, row.pointers)) {
    if (is_live(row.phase, place.target)) {
      leads_on = true;
      const double* below = begin(row.component, row.phase, place.target);
      const double* cost = &costs.plain(place.placing)[row.component * row.lattice.size()];
      for (const std::uint32_t tile : row.tiles) {
        here[tile] = std::min(here[tile], cost[tile] + below[tile]);
      }
    }
  }
  for (const Skeleton::Jump& jump : skeleton.jumps(row.phase, row.pointers)) {
    leads_on = relax_jump_of_tiles(skeleton, costs, row, digits, jump) || leads_on;
  }
  return relax_loops_of_tiles(skeleton, row, digits) || leads_on;
}

}  // namespace mapsim::exact
