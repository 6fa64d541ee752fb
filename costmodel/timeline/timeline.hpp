// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "costmodel/timeline/tile_walk.hpp"

namespace mapsim {

// A mapping in time: what its compute units and the ports of its memories do, cycle by cycle, by
// one schedule that the machine can run (docs/trace.md):
//  - a transfer takes each port that it passes for its bits at the port's rate, in the time that
//    the port has free;
//  - a level with a second buffer fetches the next tile while the present one is in use; any other
//    fetches it when the present one has been used and drained;
//  - a tile is there when its parent's tile is, and the compute units wait for it.
// The times of a port add up to those of the cost model, so the whole takes at least its steady
// latency.

// A row of the picture: the compute units, a port of finite rate, or the tiles of a tensor that a
// level holds.
struct Track {
  enum class Kind : std::uint8_t { kCompute, kPort, kTiles };
  Kind kind = Kind::kCompute;
  LevelId level{};
  PortKind port = PortKind::kCompute;
  TensorId tensor{};
};

struct Slice {
  enum class Kind : std::uint8_t {
    kSteps,      // the compute units work on a tile step
    kWait,       // ... wait for `tensor`, which is on its way into `level`
    kNotWalked,  // ... and what the trace leaves out
    kRead,
    kReadback,
    kFill,
    kUpdate,
    kDrain,
    kTile  // `tile` of `tensor` is in use in `level`
  };
  Kind kind = Kind::kSteps;
  std::size_t track = 0;
  double begin = 0;  // cycles
  double end = 0;
  TensorId tensor{};
  LevelId level{};
  std::int64_t amount = 0;  // elements that move; temporal steps of the compute units
  double bits = 0;          // through the port
  PerDim<TileWalk::Range> tile{};
};

struct TimelineOptions {
  std::int64_t first = 10'000;  // tile steps that are walked from the start
  std::int64_t samples = 20;    // of the rest: this many stretches of first / samples
  const std::atomic<bool>* stop = nullptr;
};

struct PortSum {
  std::size_t track = 0;
  double bits = 0;  // of all slices
  double cycles = 0;
  double model_bits = 0;  // of the cost model
  double model_cycles = 0;
};

struct TimelineSummary {
  bool stopped = false;
  bool complete = false;  // every tile step was walked
  std::int64_t walked = 0;
  std::int64_t tile_steps = 0;
  std::int64_t first = 0;  // walked tile steps from the start
  std::int64_t samples = 0;
  std::int64_t steps = 0;  // temporal steps of the walked tile steps
  double end = 0;          // cycles
  double waiting = 0;      // cycles that the compute units wait
  std::vector<PortSum> ports;
  PerLevel<PerTensor<AccessCounts>> moved;  // elements of the first instances, where followed
};

std::vector<Track> timeline_tracks(const Problem& problem, const Mapping& mapping,
                                   const Cost& cost);

using TakeSlice = std::function<void(const Slice& slice)>;

// Delivers slices one by one, those of a track in any order, and holds a bounded number of them.
// Throws std::invalid_argument for mappings that no schedule of tiles describes: sums in a sliding
// window, the times of NVDLA's workbook.
TimelineSummary timeline(const Problem& problem, const Mapping& mapping, const Cost& cost,
                         const TimelineOptions& options, const TakeSlice& take);

}  // namespace mapsim
