// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "interop/timeloop_boundary.hpp"
#include "interop/timeloop_tiles.hpp"

namespace mapsim {

// How the first child's tile has moved since the last visit.
struct TileMotion {
  enum class Kind : std::uint8_t { kWhole, kNew, kNothing };
  Offsets offsets;
  Offsets before;                   // kNew: offsets of the tile whose points are still held
  std::vector<std::int64_t> trips;  // children in use: iterations of the loops over them
  Kind kind = Kind::kWhole;
};

// The points that a child fetches: a tile without the points that it holds. Equal sets of points
// compare equal.
struct Delta {
  TileSet tile;
  TileSet held;  // empty: no points
  std::int64_t size() const;
  bool empty() const { return size() == 0; }
  friend auto operator<=>(const Delta&, const Delta&) = default;
};
Delta make_delta(const TileMaker& tiles, const TileMotion& motion);

// The last step, for links between neighbours.
struct PreviousStep {
  Delta delta;
  std::vector<std::int64_t> trips;
};

// The traffic of one step to all children.
struct Deliveries {
  std::vector<TimeloopTransfers> transfers;
  double link_words = 0;
  double words() const;
};

// All children of a boundary: which of them share a transfer, and over which wires.
class Children {
 public:
  Children(const TimeloopDesign& design, const TimeloopBoundary& boundary, bool packed);
  std::size_t loops() const { return loops_.size(); }
  std::int64_t nominal() const;                     // children if no loop is partial
  PerDim<std::vector<std::int64_t>> steps() const;  // offsets of the children, dim by dim

  // Hops of `words` that all children fetch together, each of them `own`, by mapsim's rule:
  // children that differ only in irrelevant loops form a group (docs/model.md#networks).
  double word_hops(const Tensor& tensor, double words, double own,
                   const std::vector<std::int64_t>& trips) const;
  // Every child fetches `delta`, moved to its place. Given the last step, a neighbour that held the
  // points serves a child.
  Deliveries uniformly(const Tensor& tensor, const Delta& delta,
                       const std::vector<std::int64_t>& trips, const PreviousStep* before);
  // Every child fetches the points that its own tile needs.
  Deliveries exactly(const TileMaker& tiles, const TileMotion& motion) const;

 private:
  struct Loop {
    DimId dim{};
    std::int64_t bound = 1;
    std::int64_t stride = 1;
  };
  using Place = std::vector<std::int64_t>;  // per rank
  struct Group {
    std::int64_t multicast = 0;
    std::int64_t scatter = 0;
    double hops = 0;  // of all its trees
  };
  struct Sharing {
    std::vector<Group> groups;
    std::int64_t linked = 0;
  };
  using LinkKey = std::pair<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>, Place>;

  std::vector<Offsets> places(const std::vector<std::int64_t>& trips) const;
  std::vector<Place> moves(const Tensor& tensor, const std::vector<std::int64_t>& trips) const;
  std::vector<bool> served_by_neighbours(const std::vector<Place>& now,
                                         const std::vector<Place>& before, const Place& by) const;
  template <class Key>
  std::vector<Group> group(const std::vector<Key>& keys, const std::vector<bool>& served) const;
  double hops(const std::vector<std::size_t>& ids) const;

  std::size_t dims_ = 0;
  std::vector<Loop> loops_;  // outermost first
  std::size_t columns_ = 1;  // of the mesh
  std::size_t rows_ = 1;
  std::size_t width_ = 1;  // columns of the numbering that places are told by
  std::map<std::vector<std::int64_t>, Sharing> shared_;
  std::map<LinkKey, Sharing> linked_;
};

}  // namespace mapsim
