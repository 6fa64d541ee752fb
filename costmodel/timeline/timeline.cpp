// SPDX-License-Identifier: Apache-2.0
#include "costmodel/timeline/timeline.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <stdexcept>
#include <utility>

#include "costmodel/accesses.hpp"
#include "costmodel/nvdla/sheet_layer.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kMostGaps = 4096;  // of a port; older ones are forgotten
constexpr double kNothing = 1e-9;        // cycles: what rounding leaves of a length

struct StepSpan {
  double begin = 0;
  double end = 0;
};

// When a port is busy. A transfer takes the time that is free from a moment on, in pieces.
class PortTime {
 public:
  std::vector<StepSpan> take(double from, double length) {
    std::vector<StepSpan> pieces;
    std::deque<StepSpan> left;
    for (const StepSpan& gap : gaps_) {
      const double begin = std::max(gap.begin, from);
      if (length <= kNothing || gap.end <= begin) {
        left.push_back(gap);
        continue;
      }
      const StepSpan piece{begin, std::min(gap.end, begin + length)};
      pieces.push_back(piece);
      length -= piece.end - piece.begin;
      for (const StepSpan rest : {StepSpan{gap.begin, piece.begin}, StepSpan{piece.end, gap.end}}) {
        if (rest.end > rest.begin) {
          left.push_back(rest);
        }
      }
    }
    gaps_ = std::move(left);
    if (length > kNothing) {
      const double begin = std::max(end_, from);
      if (begin > end_) {
        gaps_.push_back({end_, begin});
      }
      pieces.push_back({begin, begin + length});
      end_ = begin + length;
    }
    while (gaps_.size() > kMostGaps) {
      gaps_.pop_front();
    }
    return pieces;
  }
  // What was free before is of no use to anyone.
  void forget_until(double moment) {
    while (!gaps_.empty() && gaps_.front().end <= moment) {
      gaps_.pop_front();
    }
  }
  // Nothing before this moment.
  void restart(double moment) {
    gaps_.clear();
    end_ = moment;
  }

 private:
  std::deque<StepSpan> gaps_;
  double end_ = 0;
};

struct Port {
  LevelId level{};
  PortKind kind = PortKind::kRead;
  double cycles_per_bit = 0;
  PortTime time;
  PortSum sum;
};

bool has_limited_port(const Problem& problem, LevelId level) {
  return std::any_of(kPorts.begin(), kPorts.end(), [&](PortKind port) {
    return rate_of(problem.arch().levels[level].bandwidth, port).has_value();
  });
}

PerLevel<bool> followed_levels(const Problem& problem) {
  PerLevel<bool> followed(problem.arch().levels.size(), false);
  for (const LevelId l : followed.ids()) {
    followed[l] = has_limited_port(problem, l);
  }
  return followed;
}

double bits_of(const Problem& problem, const Cost& cost, LevelId level, PortKind port) {
  double bits = 0;
  for (const TensorId t : problem.workload().tensors.ids()) {
    bits += problem.moved_bits(t, bits_through(cost.counts.levels[level][t], port));
  }
  return bits;
}

class Schedule {
 public:
  Schedule(const Problem& problem, const Mapping& mapping, const Cost& cost,
           const TimelineOptions& options, const TakeSlice& take)
      : problem_{problem},
        cost_{cost},
        options_{options},
        take_{take},
        walk_{problem, mapping, followed_levels(problem)},
        tracks_{timeline_tracks(problem, mapping, cost)},
        states_(walk_.boundaries().size()) {
    for (const Resource& resource : cost.latency.resources) {
      if (resource.kind != PortKind::kCompute) {
        add_port(resource);
      }
    }
    cycles_per_step_ = static_cast<double>(cost.latency.compute.total().count()) /
                       static_cast<double>(cost.counts.steps);
    summary_.moved = PerLevel<PerTensor<AccessCounts>>(
        problem.arch().levels.size(), PerTensor<AccessCounts>(problem.workload().tensors.size()));
  }

  TimelineSummary run();

 private:
  // The tiles of a tensor that its child holds.
  struct State {
    double ready = 0;    // the present tile is there
    double begun = 0;    // ... and was first used
    bool used = false;   // ... at all
    double drained = 0;  // the tile before has left
    double drained_before = 0;
    PerDim<TileWalk::Range> tile{};
  };

  void add_port(const Resource& resource);
  bool stretch(std::int64_t steps);
  void leave_out(std::int64_t ordinal);
  void step();
  void fill(const Exchange& exchange);
  void drain(const Exchange& exchange);
  void compute();
  void end_tile(std::size_t boundary);
  double pass(LevelId level, TensorId tensor, Access access, Slice::Kind kind,
              std::int64_t elements, double from);
  bool hides(const TileBoundary& boundary) const {
    return !boundary.child || problem_.arch().levels[*boundary.child].hides();
  }
  double parent_ready(const TileBoundary& boundary) const;
  std::size_t track_of_tiles(const TileBoundary& boundary) const;

  const Problem& problem_;
  const Cost& cost_;
  const TimelineOptions& options_;
  const TakeSlice& take_;
  TileWalk walk_;
  std::vector<Track> tracks_;
  std::vector<Port> ports_;
  std::vector<State> states_;
  double cycles_per_step_ = 1;
  double computed_ = 0;      // end of the last tile step
  std::int64_t passed_ = 0;  // temporal steps so far, walked or not
  TimelineSummary summary_;
};

void Schedule::add_port(const Resource& resource) {
  Port port{resource.level, resource.kind, 0, {}, {}};
  port.sum.model_bits = bits_of(problem_, cost_, resource.level, resource.kind);
  port.sum.model_cycles = static_cast<double>(resource.time.count());
  if (port.sum.model_bits > 0) {
    port.cycles_per_bit = port.sum.model_cycles / port.sum.model_bits;
  }
  port.sum.track =
      static_cast<std::size_t>(std::find_if(tracks_.begin(), tracks_.end(),
                                            [&](const Track& track) {
                                              return track.kind == Track::Kind::kPort &&
                                                     track.level == port.level &&
                                                     track.port == port.kind;
                                            }) -
                               tracks_.begin());
  ports_.push_back(std::move(port));
}

std::size_t Schedule::track_of_tiles(const TileBoundary& boundary) const {
  return static_cast<std::size_t>(std::find_if(tracks_.begin(), tracks_.end(),
                                               [&](const Track& track) {
                                                 return track.kind == Track::Kind::kTiles &&
                                                        track.level == *boundary.child &&
                                                        track.tensor == boundary.tensor;
                                               }) -
                                  tracks_.begin());
}

// One end of a transfer: the time that it takes of each port there. Returns when all is through.
double Schedule::pass(LevelId level, TensorId tensor, Access access, Slice::Kind kind,
                      std::int64_t elements, double from) {
  if (elements == 0) {
    return from;
  }
  summary_.moved[level][tensor].*rule_of(access).elements += elements;
  const double bits =
      static_cast<double>(elements) *
      problem_.moved_bits(tensor, width_of(cost_.counts.levels[level][tensor], access));
  double through = from;
  for (Port& port : ports_) {
    if (port.level != level || !passes(access, port.kind)) {
      continue;
    }
    const double length = bits * port.cycles_per_bit;
    port.sum.bits += bits;
    port.sum.cycles += length;
    std::int64_t amount = elements;  // all in the first piece, so that sums hold
    double carried = bits;
    for (const StepSpan& piece : port.time.take(from, length)) {
      take_({kind, port.sum.track, piece.begin, piece.end, tensor, level, std::exchange(amount, 0),
             std::exchange(carried, 0)});
      through = std::max(through, piece.end);
    }
  }
  return through;
}

double Schedule::parent_ready(const TileBoundary& boundary) const {
  for (std::size_t b = 0; b < states_.size(); ++b) {
    const TileBoundary& above = walk_.boundaries()[b];
    if (above.tensor == boundary.tensor && above.child == boundary.parent) {
      return states_[b].ready;
    }
  }
  return 0;
}

void Schedule::end_tile(std::size_t b) {
  const TileBoundary& boundary = walk_.boundaries()[b];
  const State& state = states_[b];
  if (boundary.child && state.used) {
    take_({Slice::Kind::kTile, track_of_tiles(boundary), state.begun, computed_, boundary.tensor,
           *boundary.child, 0, 0, state.tile});
  }
}

void Schedule::fill(const Exchange& exchange) {
  const TileBoundary& boundary = walk_.boundaries()[exchange.boundary];
  State& state = states_[exchange.boundary];
  const bool is_output = boundary.tensor == problem_.workload().output();
  // With a second buffer from when the present tile is in use and the one before it has left.
  double from = hides(boundary) ? std::max(state.begun, state.drained_before)
                                : std::max(computed_, state.drained);
  from = std::max(from, parent_ready(boundary));
  double through = from;
  through = std::max(
      through,
      pass(boundary.parent, boundary.tensor, is_output ? Access::kReadback : Access::kRead,
           is_output ? Slice::Kind::kReadback : Slice::Kind::kRead, exchange.enters.parent, from));
  if (boundary.child) {
    through = std::max(through, pass(*boundary.child, boundary.tensor, Access::kFill,
                                     Slice::Kind::kFill, exchange.enters.child, from));
  }
  if (is_output && !hides(boundary)) {
    through = std::max(through, state.drained);
  } else if (is_output) {
    through = std::max(through, state.drained_before);
  }
  end_tile(exchange.boundary);
  state.ready = through;
  state.used = false;
  if (boundary.child) {
    state.tile = walk_.tile(boundary.child_depth);
  }
}

void Schedule::drain(const Exchange& exchange) {
  const TileBoundary& boundary = walk_.boundaries()[exchange.boundary];
  State& state = states_[exchange.boundary];
  double from = computed_;
  for (std::size_t b = 0; b < states_.size(); ++b) {  // what comes up from further in comes first
    const TileBoundary& inner = walk_.boundaries()[b];
    if (inner.tensor == boundary.tensor && boundary.child && inner.parent == *boundary.child) {
      from = std::max(from, states_[b].drained);
    }
  }
  double through = pass(boundary.parent, boundary.tensor, Access::kUpdate, Slice::Kind::kUpdate,
                        exchange.leaves.parent, from);
  if (boundary.child) {
    through = std::max(through, pass(*boundary.child, boundary.tensor, Access::kDrain,
                                     Slice::Kind::kDrain, exchange.leaves.child, from));
  }
  state.drained_before = std::exchange(state.drained, through);
}

// The tile step itself, as soon as all its tiles are there.
void Schedule::compute() {
  double begin = computed_;
  std::optional<std::size_t> waited;
  for (std::size_t b = 0; b < states_.size(); ++b) {
    if (states_[b].ready > begin) {
      begin = states_[b].ready;
      waited = b;
    }
  }
  if (waited) {
    const TileBoundary& boundary = walk_.boundaries()[*waited];
    take_({Slice::Kind::kWait, 0, computed_, begin, boundary.tensor,
           boundary.child.value_or(boundary.parent)});
    summary_.waiting += begin - computed_;
  }
  for (State& state : states_) {
    if (!std::exchange(state.used, true)) {
      state.begun = begin;
    }
  }
  const std::int64_t steps = walk_.inner_steps();
  computed_ = begin + static_cast<double>(steps) * cycles_per_step_;
  take_({Slice::Kind::kSteps, 0, begin, computed_, TensorId{}, LevelId{}, steps});
  passed_ += steps;
  summary_.steps += steps;
  ++summary_.walked;
  double oldest = computed_;
  for (const State& state : states_) {
    oldest = std::min(oldest, state.begun);
  }
  for (Port& port : ports_) {
    port.time.forget_until(oldest);
  }
}

// Sums leave from the innermost level outwards, tiles come from the outermost one inwards.
void Schedule::step() {
  const std::vector<Exchange>& exchanges = walk_.exchanges();
  for (auto it = exchanges.rbegin(); it != exchanges.rend(); ++it) {
    if (walk_.boundaries()[it->boundary].tensor == problem_.workload().output()) {
      drain(*it);
    }
  }
  for (const Exchange& exchange : exchanges) {
    fill(exchange);
  }
  compute();
}

// False: it was stopped, or the walk is at its end.
bool Schedule::stretch(std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) {
    summary_.stopped = options_.stop != nullptr && *options_.stop;
    if (summary_.stopped || !walk_.advance()) {
      return false;
    }
    step();
  }
  return true;
}

// Goes to a tile step further on. What lies between takes as long as the cost model says; where it
// ends, the tiles of the step are there and every port is free.
void Schedule::leave_out(std::int64_t ordinal) {
  for (std::size_t b = 0; b < states_.size(); ++b) {
    end_tile(b);
  }
  const std::int64_t before = walk_.seek(ordinal);
  const double share =
      static_cast<double>(before - passed_) / static_cast<double>(cost_.counts.steps);
  const double begin = computed_;
  computed_ += share * static_cast<double>(cost_.latency.steady.count());
  take_({Slice::Kind::kNotWalked, 0, begin, computed_, TensorId{}, LevelId{}, before - passed_});
  passed_ = before;
  for (std::size_t b = 0; b < states_.size(); ++b) {
    const TileBoundary& boundary = walk_.boundaries()[b];
    states_[b] = {computed_, computed_, false,
                  computed_, computed_, walk_.tile(boundary.child_depth)};
  }
  for (Port& port : ports_) {
    port.time.restart(computed_);
  }
  compute();  // of that step: how its tiles came is not told
}

TimelineSummary Schedule::run() {
  summary_.tile_steps = walk_.tile_steps();
  const std::int64_t all = summary_.tile_steps;
  const std::int64_t first = std::max<std::int64_t>(options_.first, 1);
  summary_.complete = all <= 2 * first;
  summary_.first = summary_.complete ? all : first;
  bool going = stretch(summary_.first);
  if (summary_.complete && going) {
    walk_.advance();  // the end: what is left is drained
    for (auto it = walk_.exchanges().rbegin(); it != walk_.exchanges().rend(); ++it) {
      drain(*it);
    }
  } else if (going) {
    const std::int64_t samples = std::clamp<std::int64_t>(options_.samples, 1, first);
    const std::int64_t length = first / samples;
    for (std::int64_t i = 0; i < samples && going; ++i) {
      // Evenly over what remains, the last one up to the end.
      const double place = static_cast<double>(i + 1) / static_cast<double>(samples);
      const auto room = static_cast<double>(all - first - length);
      leave_out(first + static_cast<std::int64_t>(place * room));
      going = stretch(length - 1);
      ++summary_.samples;
    }
  }
  for (std::size_t b = 0; b < states_.size(); ++b) {
    end_tile(b);
    summary_.end = std::max({summary_.end, computed_, states_[b].drained});
  }
  for (const Port& port : ports_) {
    summary_.ports.push_back(port.sum);
  }
  return summary_;
}

}  // namespace

std::vector<Track> timeline_tracks(const Problem& problem, const Mapping& mapping,
                                   const Cost& cost) {
  std::vector<Track> tracks{Track{}};
  const TileWalk walk{problem, mapping, followed_levels(problem)};
  for (const LevelId l : problem.arch().levels.ids()) {
    for (const Resource& resource : cost.latency.resources) {
      if (resource.kind != PortKind::kCompute && resource.level == l) {
        tracks.push_back({Track::Kind::kPort, l, resource.kind, TensorId{}});
      }
    }
    for (const TileBoundary& boundary : walk.boundaries()) {
      if (boundary.child == l) {
        tracks.push_back({Track::Kind::kTiles, l, PortKind::kCompute, boundary.tensor});
      }
    }
  }
  return tracks;
}

TimelineSummary timeline(const Problem& problem, const Mapping& mapping, const Cost& cost,
                         const TimelineOptions& options, const TakeSlice& take) {
  require_no_zeros(problem.arch(), "a timeline");
  if (sheet_times(problem)) {
    throw std::invalid_argument(
        "the times of NVDLA's workbook (mode: sheet) are of a whole layer, not of tiles");
  }
  return Schedule{problem, mapping, cost, options, take}.run();
}

}  // namespace mapsim
