// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/divisor_lattice.hpp"

#include <algorithm>
#include <utility>

namespace mapsim::exact {

namespace {

// Lists the chains bound >= block >= ... >= extent in which each divides the one before. For equal
// blocks extents ascend.
void list_positions(std::size_t tracked, std::vector<std::int64_t> blocks, std::int64_t bound,
                    const std::vector<std::int64_t>& domain, std::vector<Position>& found) {
  for (const std::int64_t extent : domain) {
    if (bound % extent != 0) {
      continue;
    }
    if (tracked == 0) {
      found.push_back({blocks, extent});
    } else {
      std::vector<std::int64_t> longer = blocks;
      longer.push_back(extent);
      list_positions(tracked - 1, std::move(longer), extent, domain, found);
    }
  }
}

// Does no extent with the same blocks lie between the two, as a divisor of one and a multiple of
// the other?
bool is_step(const std::vector<Position>& positions, std::size_t from, std::size_t to) {
  for (std::size_t i = to + 1; i < from; ++i) {
    if (positions[i].blocks == positions[to].blocks &&
        positions[from].extent % positions[i].extent == 0 &&
        positions[i].extent % positions[to].extent == 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

DivisorLattice::DivisorLattice(const PerDim<std::int64_t>& bounds,
                               const PerDim<std::size_t>& tracked, DimSet windows,
                               const PerDim<std::vector<std::int64_t>>& domains)
    : TileIndex(bounds.size()),
      bounds_{bounds},
      positions_(bounds.size()),
      loops_(bounds.size()),
      step_ranges_(bounds.size()),
      loop_ranges_(bounds.size()) {
  PerDim<std::size_t> radices(bounds.size());
  for (const DimId d : bounds.ids()) {
    list_positions(tracked[d], {}, bounds[d], domains[d], positions_[d]);
    radices[d] = positions_[d].size();
  }
  set_radices(radices, windows);
  for (const DimId d : bounds.ids()) {
    const auto& positions = positions_[d];
    for (std::size_t from = 0; from < positions.size(); ++from) {
      const std::size_t first_step = steps_[d].size();
      const std::size_t first_loop = loops_[d].size();
      for (std::size_t to = 0; to < from; ++to) {
        if (positions[from].blocks == positions[to].blocks &&
            positions[from].extent % positions[to].extent == 0) {
          loops_[d].push_back({from, to});
          if (is_step(positions, from, to)) {
            steps_[d].push_back({from, to});
          }
        }
      }
      step_ranges_[d].push_back({first_step, steps_[d].size()});
      loop_ranges_[d].push_back({first_loop, loops_[d].size()});
    }
  }
  ones_.push_back(0);
  for (const DimId d : bounds.ids()) {
    std::vector<std::size_t> longer;
    for (const std::size_t tile : ones_) {
      for (std::size_t digit = 0; digit < radix(d); ++digit) {
        if (positions_[d][digit].extent == 1) {
          longer.push_back(tile + digit * stride(d));
        }
      }
    }
    ones_ = std::move(longer);
  }
  std::sort(ones_.begin(), ones_.end());
}

std::vector<std::size_t> DivisorLattice::crossing(const DivisorLattice& inner) const {
  PerDim<std::vector<std::size_t>> digits(dims());
  for (const DimId d : positions_.ids()) {
    for (const Position& here : positions_[d]) {
      std::vector<std::int64_t> blocks = here.blocks;
      if (inner.positions_[d].front().blocks.size() > blocks.size()) {
        blocks.push_back(here.extent);
      }
      const auto there = std::find_if(
          inner.positions_[d].begin(), inner.positions_[d].end(), [&](const Position& position) {
            return position.blocks == blocks && position.extent == here.extent;
          });
      digits[d].push_back(static_cast<std::size_t>(there - inner.positions_[d].begin()));
    }
  }
  auto tiles = filled(std::size_t{0});
  for (const DimId d : positions_.ids()) {
    sweep(d, [&](std::size_t digit, std::size_t first, std::size_t last) {
      for (std::size_t tile = first; tile < last; ++tile) {
        tiles[tile] += digits[d][digit] * inner.stride(d);
      }
    });
  }
  return tiles;
}

}  // namespace mapsim::exact
