// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "arch/sparsity.hpp"
#include "costmodel/sparse/occupancy.hpp"

namespace mapsim {

// What a tile takes in a format: elements that are stored, and bits that say where they are.
struct StoredTile {
  double elements = 0;
  double format_bits = 0;
};

// The mean over all data sets, and over the tiles of one (docs/sparsity.md#formats).
// Coordinates without a width are as wide as those of a tile of `places`.
StoredTile stored_on_average(const TensorFormat& format, const DensityModel& occupancy,
                             const TileShape& shape, const TileShape& places);
inline StoredTile stored_on_average(const TensorFormat& format, const DensityModel& occupancy,
                                    const TileShape& shape) {
  return stored_on_average(format, occupancy, shape, shape);
}
// What it takes at most in this share of data sets (1: in all), elements having `width` bits. In no
// smaller a tile is it more.
StoredTile stored_at_most(const TensorFormat& format, const DensityModel& occupancy,
                          const TileShape& shape, double share, double width);

// Whether a tile's elements and bits are proportional to its size, whatever its shape.
bool is_proportional(const TensorFormat& format, const DensityModel& occupancy);
// Are the entries of runs counted? Of n:m structure they are where every nonzero has one: in the
// last of as many codes as ranks, along which the blocks lie, if the field holds the zeros of two
// blocks.
bool counts_runs(const TensorFormat& format, const DensityModel& occupancy);
// Does it store a part of the elements only?
bool is_compressed(const TensorFormat& format);

}  // namespace mapsim
