// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "costmodel/reference/loop_walk.hpp"
#include "costmodel/reference/nonzeros.hpp"
#include "costmodel/reference/point_set.hpp"

namespace mapsim {

// What one instance holds of a tensor: points, each with its value.
struct HeldPoints {
  PointSet points;
  std::vector<double> values;
  double& at(std::int64_t point);  // SimulationFault if the point is not here
};

// A level that keeps a tensor, or the compute units as its innermost holder.
struct Holder {
  std::optional<LevelId> level;  // nullopt: the compute units
  std::size_t depth = 0;         // loops above
  std::vector<LoopIndices> instances;
  std::vector<HeldPoints> buffers;          // one per instance
  std::vector<AccessCounts> accesses;       // one per instance
  std::vector<std::vector<bool>> received;  // outputs: points that ever came in from above
  std::vector<std::vector<bool>> handed;    // outputs: points that ever went in below
  std::int64_t footprint = 0;               // points of the first instance's first tile
  // With a data set, one per instance: what happened to the present tile (moved, gated or skipped),
  // what an element of it takes, and what happened to all accesses so far.
  std::vector<Nonzeros::Acts> acts;
  std::vector<MovedShare> shares;
  std::vector<SparseTensor::Accesses> nonzeros;
};

// How a tile moves when a loop advances (docs/model.md, rule 3).
enum class TileMove : std::uint8_t { kStays, kSlides, kWhole };

// All crossings of one tensor between a child and its parent, step by step. In each step all
// transfers plan(), then leave() from the innermost outwards, then enter() from the outermost
// inwards. At the end finish() from the innermost outwards.
class Transfer {
 public:
  Transfer(const Problem& problem, const LoopWalk& walk, TensorId tensor,
           const Projection& projection, Holder& parent, Holder& child,
           const Nonzeros* nonzeros = nullptr);

  // Counts the step's movements. `advanced`: the loop that advanced, nullopt at the first step.
  void plan(std::optional<std::size_t> advanced);
  void leave();
  void enter();
  void finish();
  // Forgets which sums have passed.
  void forget();

  const PerFanout<std::int64_t>& reductions() const { return reductions_; }
  void add_networks(PerFanout<PerTensor<NetworkCounts>>& networks) const;

 private:
  // The points that enter and leave one child instance in a step.
  struct Change {
    PointSet next, entering, leaving;
    PointSet returning;  // outputs: what enters and was here before, a partial sum by now
  };
  // Child instances that share a transfer, below one parent instance.
  struct Stream {
    std::size_t parent = 0;
    std::vector<std::size_t> children;
  };
  // The streams where fanouts from the innermost up to `fanout` have merged theirs.
  struct Stage {
    std::optional<FanoutId> fanout;  // nullopt: nothing merged yet
    std::vector<Stream> streams;
  };

  // The network of a fanout with a stated energy per hop.
  struct Network {
    FanoutId fanout{};
    std::vector<Stream> whole;              // one per transfer at its outer end
    std::vector<Stream> groups;             // instances that differ in irrelevant loops only
    std::vector<Stream> single;             // its instances
    std::vector<std::int64_t> half_hops;    // per group
    std::vector<std::size_t> copies;        // per stream of `whole`: which copy of the network
    std::vector<std::vector<bool>> handed;  // per copy, outputs: points that ever passed
    NetworkCounts counts;
  };

  // What passes the parent's end of a stream in a step, and of sums what has been there before.
  struct StreamFlow {
    PointSet points, returning;
  };

  void count_nonzeros();
  void count_leaving(std::size_t child);
  std::vector<Stream> parts_of(const Stream& stream) const;
  void count_at_parent(const Stream& stream, const StreamFlow& flow);
  void find_stages();
  void find_networks();
  std::vector<Stream> make_streams(const std::vector<bool>& merged) const;
  std::int64_t half_hops_to(const Network& network, const Stream& group) const;
  void count_networks();
  Stage make_stage(std::optional<FanoutId> fanout, const std::vector<bool>& merged) const;
  TileMove move_of(std::optional<std::size_t> advanced) const;
  void count_child(std::size_t instance);
  void count_streams();
  PointSet entering(const Stream& stream) const;

  const Problem& problem_;
  const LoopWalk& walk_;
  TensorId tensor_;
  bool is_output_;
  Projection projection_;
  Holder& parent_;
  Holder& child_;
  bool sliding_ = true;
  bool forgets_ = false;                // compute units without register reuse
  bool together_ = true;                // every merging fanout forwards
  std::optional<std::size_t> moving_;   // j: innermost temporal loop that moves the child's tile
  std::vector<Stage> stages_;           // innermost first; the last is the parent's end
  std::vector<std::size_t> parent_of_;  // per child instance
  TileMove move_ = TileMove::kStays;    // of the present step
  std::vector<Change> changes_;         // of the present step, per child instance
  PerFanout<std::int64_t> reductions_;
  std::vector<Network> networks_;
  const Nonzeros* nonzeros_ = nullptr;  // of the data set, if there is one
  std::vector<StreamFlow> flows_;       // of the present step, per stream at the parent's end
};

}  // namespace mapsim
