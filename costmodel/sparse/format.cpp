// SPDX-License-Identifier: Apache-2.0
#include "costmodel/sparse/format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/arithmetic.hpp"

namespace mapsim {

namespace {

bool stores_all(RankFormat format) {
  return format == RankFormat::kDense || format == RankFormat::kOffsets;
}

// Ranks of a tile as a format groups them.
struct Groups {
  std::vector<std::int64_t> children;   // of a fiber, per code
  std::vector<std::int64_t> positions;  // of fibers, per code
  std::vector<TileShape> child;         // shapes of one of them
};

Groups groups_of(const TensorFormat& format, const TileShape& shape) {
  const std::size_t ranks = shape.size();
  const std::size_t codes = format.ranks.size();
  const auto rank_at = [&](std::size_t i) { return format.columns ? ranks - 1 - i : i; };
  Groups groups;
  TileShape below = shape;
  std::int64_t positions = 1;
  for (std::size_t code = 0; code < codes; ++code) {
    groups.positions.push_back(positions);
    const std::size_t end = code + 1 == codes ? ranks : code + 1;
    std::int64_t children = 1;
    for (std::size_t i = code; i < end; ++i) {
      children *= std::exchange(below[rank_at(i)], 1);
    }
    groups.children.push_back(children);
    groups.child.push_back(below);
    positions *= children;
  }
  return groups;
}

// Bits of a coordinate among n, or of an offset up to n: a given width as often as it takes.
double width_of(const RankCode& code, std::int64_t n) {
  const auto most = static_cast<std::uint64_t>(code.format == RankFormat::kOffsets ? n : n - 1);
  const std::int64_t least = std::bit_width(most);
  return real(code.bits > 0 ? code.bits * std::max<std::int64_t>(1, ceil_div(least, code.bits))
                            : least);
}

// Places that a coordinate of a given width tells apart: of n:m structure those of a block, if it
// is one of all ranks or of the innermost one alone and blocks lie along that.
std::int64_t places_of(const TensorFormat& format, std::size_t code, const DensityModel& occupancy,
                       std::int64_t children) {
  const std::size_t ranks = occupancy.box().size();
  const std::size_t codes = format.ranks.size();
  const bool is_structured = !occupancy.is_uniform() && !occupancy.is_data();
  const bool by_block = is_structured && format.ranks[code].bits > 0 && code + 1 == codes &&
                        (codes == 1 || (codes == ranks && occupancy.block_rank() ==
                                                              (format.columns ? 0 : ranks - 1)));
  return by_block ? std::min(children, occupancy.pattern().block) : children;
}

// Runs of zeros that are too long for their field take entries of their own: of n children, those
// that come after s = 2^r, 2 * 2^r, ... empty ones. Zeros are uniform. What comes after s adds at
// most as many entries as there are children, times the chance of s empty ones.
double padding_entries(const DensityModel& occupancy, std::int64_t run_bits, std::int64_t children,
                       std::int64_t child_points) {
  constexpr double kLeast = 1e-18;                  // of the entries
  if (run_bits >= 62 || !occupancy.is_uniform()) {  // of structure: counts_runs()
    return 0;
  }
  EmptyByPoints empty{occupancy};
  double entries = 0;
  const std::int64_t run = std::int64_t{1} << run_bits;
  for (std::int64_t s = run; s < children; s += run) {
    const double left = empty.at(s * child_points);
    if (real(children) * left <= kLeast * entries) {
      break;
    }
    entries += real(children - s) * (left - empty.at((s + 1) * child_points));
  }
  return entries;
}

// Exact, of one tile's elements.
class TileReader {
 public:
  TileReader(const TensorFormat& format, const TileShape& shape)
      : format_{format}, shape_{shape}, groups_{groups_of(format, shape)} {
    std::int64_t stride = 1;
    strides_.resize(shape.size());
    for (std::size_t r = shape.size(); r-- > 0;) {
      strides_[r] = stride;
      stride *= shape[r];
    }
  }

  StoredTile read(const std::vector<char>& tile) {
    if (format_.columns) {
      ordered_.resize(tile.size());
      for (std::size_t i = 0; i < tile.size(); ++i) {
        ordered_[i] = tile[static_cast<std::size_t>(by_columns(static_cast<std::int64_t>(i)))];
      }
    }
    const std::vector<char>& ordered = format_.columns ? ordered_ : tile;
    StoredTile stored{1, 0};
    std::vector<char> exists{1};  // fibers of the code
    for (std::size_t code = 0; code < format_.ranks.size(); ++code) {
      std::vector<char> children = nonempty(ordered, points_of(groups_.child[code]));
      add(code, exists, children, stored);
      if (stores_all(format_.ranks[code].format)) {
        const auto each = static_cast<std::size_t>(groups_.children[code]);
        for (std::size_t i = 0; i < children.size(); ++i) {
          children[i] = exists[i / each];
        }
      }
      exists = std::move(children);
    }
    stored.elements =
        real(std::count(exists.begin(), exists.end(), 1)) * real(points_of(groups_.child.back()));
    return stored;
  }

 private:
  std::int64_t by_columns(std::int64_t i) const {
    std::int64_t element = 0;
    for (std::size_t r = 0; r < shape_.size(); ++r) {  // the first rank varies fastest
      element += i % shape_[r] * strides_[r];
      i /= shape_[r];
    }
    return element;
  }

  static std::vector<char> nonempty(const std::vector<char>& tile, std::int64_t points) {
    std::vector<char> any(tile.size() / static_cast<std::size_t>(points), 0);
    for (std::size_t i = 0; i < tile.size(); ++i) {
      any[i / static_cast<std::size_t>(points)] |= tile[i];
    }
    return any;
  }

  void add(std::size_t code, const std::vector<char>& exists, const std::vector<char>& children,
           StoredTile& stored) const {
    const RankCode& rank = format_.ranks[code];
    const std::int64_t each = groups_.children[code];
    const double fibers = real(std::count(exists.begin(), exists.end(), 1));
    const double full = real(std::count(children.begin(), children.end(), 1));
    switch (rank.format) {
      case RankFormat::kDense:
        break;
      case RankFormat::kBitmask:
        stored.format_bits += fibers * real(each);
        break;
      case RankFormat::kOffsets:
        stored.format_bits += fibers * real(each + 1) * width_of(rank, points_of(shape_));
        break;
      case RankFormat::kCoordinates:
        stored.format_bits += full * width_of(rank, each);
        break;
      case RankFormat::kRuns: {
        std::int64_t run = 0;
        double entries = full;
        for (std::size_t i = 0; i < children.size(); ++i) {
          run = i % static_cast<std::size_t>(each) == 0 ? 0 : run;
          entries += children[i] != 0 && rank.bits < 62 ? real(run >> rank.bits) : 0;
          run = children[i] != 0 ? 0 : run + 1;
        }
        stored.format_bits += entries * real(rank.bits);
        break;
      }
    }
  }

  const TensorFormat& format_;
  const TileShape& shape_;
  Groups groups_;
  std::vector<std::int64_t> strides_;
  std::vector<char> ordered_;  // a tile by columns
};

StoredTile mean_of_data(const TensorFormat& format, const DensityModel& occupancy,
                        const TileShape& shape) {
  TileReader reader{format, shape};
  StoredTile sum;
  double tiles = 0;
  occupancy.for_each_tile(shape, [&](const std::vector<char>& tile) {
    const StoredTile stored = reader.read(tile);
    sum.elements += stored.elements;
    sum.format_bits += stored.format_bits;
    tiles += 1;
  });
  return {sum.elements / tiles, sum.format_bits / tiles};
}

}  // namespace

bool is_compressed(const TensorFormat& format) {
  return format.ideal || std::any_of(format.ranks.begin(), format.ranks.end(),
                                     [](const RankCode& c) { return !stores_all(c.format); });
}

bool counts_runs(const TensorFormat& format, const DensityModel& occupancy) {
  if (occupancy.is_uniform() || occupancy.is_data()) {
    return true;
  }
  const std::size_t last = occupancy.box().size() - 1;
  const std::int64_t longest = 2 * (occupancy.pattern().block - occupancy.pattern().kept);
  bool counted = true;
  for (std::size_t code = 0; code < format.ranks.size(); ++code) {
    const std::int64_t bits = format.ranks[code].bits;
    counted = counted && (format.ranks[code].format != RankFormat::kRuns ||
                          (code == last && occupancy.block_rank() == (format.columns ? 0 : last) &&
                           (bits >= 62 || longest < std::int64_t{1} << bits)));
  }
  return counted;
}

bool is_proportional(const TensorFormat& format, const DensityModel& occupancy) {
  if (format.ideal || format.ranks.empty()) {
    return true;
  }
  const RankCode& code = format.ranks[0];
  return format.ranks.size() == 1 &&
         (code.format == RankFormat::kBitmask ||
          (code.format == RankFormat::kCoordinates && code.bits > 0 &&
           width_of(code, places_of(format, 0, occupancy, occupancy.size())) == real(code.bits)));
}

StoredTile stored_on_average(const TensorFormat& format, const DensityModel& occupancy,
                             const TileShape& shape, const TileShape& places) {
  const double points = real(points_of(shape));
  if (format.ideal || format.ranks.empty()) {
    return {points * (format.ideal ? occupancy.density() : 1), 0};
  }
  if (occupancy.is_data() && points > 1) {
    return mean_of_data(format, occupancy, shape);
  }
  const Groups groups = groups_of(format, shape);
  const Groups all = groups_of(format, places);
  StoredTile stored{points, 0};
  double share = 1;  // of the positions of fibers where there is one
  for (std::size_t code = 0; code < format.ranks.size(); ++code) {
    const RankCode& rank = format.ranks[code];
    const double positions = real(groups.positions[code]);
    const double fibers = positions * share;
    const double children = real(groups.children[code]);
    if (rank.format == RankFormat::kBitmask) {
      stored.format_bits += fibers * children;
    } else if (rank.format == RankFormat::kOffsets) {
      stored.format_bits += fibers * (children + 1) * width_of(rank, points_of(shape));
    }
    if (stores_all(rank.format)) {
      stored.elements = fibers * children * real(points_of(groups.child[code]));
      continue;
    }
    share = points > 1 ? 1 - occupancy.empty(groups.child[code]) : occupancy.density();
    const double full = positions * children * share;
    stored.elements = full * real(points_of(groups.child[code]));
    if (rank.format == RankFormat::kCoordinates) {
      const std::int64_t among = places_of(format, code, occupancy, all.children[code]);
      stored.format_bits += full * width_of(rank, among);
    } else if (rank.format == RankFormat::kRuns) {
      stored.format_bits +=
          real(rank.bits) *
          (full + positions * padding_entries(occupancy, rank.bits, groups.children[code],
                                              points_of(groups.child[code])));
    }
  }
  return stored;
}

StoredTile stored_at_most(const TensorFormat& format, const DensityModel& occupancy,
                          const TileShape& shape, double share, double width) {
  const double points = real(points_of(shape));
  if (format.ideal || format.ranks.empty()) {
    return {points, 0};
  }
  if (occupancy.is_data()) {
    TileReader reader{format, shape};
    StoredTile most;
    occupancy.for_each_tile(shape, [&](const std::vector<char>& tile) {
      const StoredTile stored = reader.read(tile);
      const auto bits = [width](const StoredTile& of) {
        return of.elements * width + of.format_bits;
      };
      most = bits(stored) > bits(most) ? stored : most;
    });
    return most;
  }
  const Groups groups = groups_of(format, shape);
  const double nonzeros = real(occupancy.at_most(shape, share));
  StoredTile stored{points, 0};
  double fibers = 1;
  for (std::size_t code = 0; code < format.ranks.size(); ++code) {
    const RankCode& rank = format.ranks[code];
    const auto children = real(groups.children[code]);
    const double positions = real(groups.positions[code]) * children;
    const double full = stores_all(rank.format) ? fibers * children : std::min(nonzeros, positions);
    switch (rank.format) {
      case RankFormat::kDense:
        break;
      case RankFormat::kBitmask:
        stored.format_bits += fibers * children;
        break;
      case RankFormat::kOffsets:
        stored.format_bits += fibers * (children + 1) * width_of(rank, points_of(shape));
        break;
      case RankFormat::kCoordinates:
        stored.format_bits +=
            full * width_of(rank, places_of(format, code, occupancy, groups.children[code]));
        break;
      case RankFormat::kRuns:
        stored.format_bits += real(rank.bits) * full;
        if (occupancy.is_uniform()) {
          stored.format_bits += real(rank.bits) * std::min(full, fibers) *
                                std::floor(std::ldexp(children, -static_cast<int>(rank.bits)));
        }
        break;
    }
    fibers = full;
    stored.elements = full * real(points_of(groups.child[code]));
  }
  return stored;
}

}  // namespace mapsim
