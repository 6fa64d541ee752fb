// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "core/index.hpp"
#include "costmodel/accesses.hpp"

namespace mapsim {

// The mean movement per element of a tile at one end of a boundary: its share of the elements that
// are stored there, and of the metadata bits.
struct MovedShare {
  double elements = 1;
  double format_bits = 0;
};

// The outcome of the accesses of one kind (costmodel/accesses.hpp), on average over all data sets:
// elements that are moved, or that a condition gates or skips, and the bits of those that are
// moved.
struct SparseAccess {
  double actual = 0, gated = 0, skipped = 0;  // elements, without zeros that are not stored
  double format_bits = 0;
};

// One tensor at one level, over all instances and of one of them.
struct SparseTensor {
  using Accesses = std::array<SparseAccess, kAccesses.size()>;
  Accesses total, busiest;
  double stored_bits = 0;  // capacity that its tile takes in one instance
  MovedShare up;           // of the tile as it comes in, or goes out
};

struct SparseCounts {
  PerLevel<PerTensor<SparseTensor>> levels;
  double operations = 0, gated = 0, skipped = 0;  // of the compute units
  double steps = 0;                               // steps of the busiest unit that take time
};

// Bits of an access that is made, of elements of this width.
inline double bits_of(const SparseTensor::Accesses& accesses, Access access, Bits width) {
  const SparseAccess& at = accesses[static_cast<std::size_t>(access)];
  return at.actual * static_cast<double>(width.count()) + at.format_bits;
}

}  // namespace mapsim
