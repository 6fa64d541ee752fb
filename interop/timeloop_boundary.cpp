// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_boundary.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "interop/timeloop_children.hpp"
#include "interop/timeloop_tiles.hpp"

namespace mapsim {

namespace {

struct WalkLoop {
  DimId dim{};
  std::int64_t bound = 1;
  std::int64_t residual = 1;
  std::int64_t stride = 1;  // extent of the tile of one iteration
  bool spatial = false;
  bool partial_inside = false;   // its last iteration is smaller: a loop inside is partial
  std::size_t group = kNoGroup;  // index among the loops over the children
  static constexpr std::size_t kNoGroup = ~std::size_t{0};
};

// Loops above the child, outermost first.
std::vector<WalkLoop> loops_above(const TimeloopDesign& design, const TimeloopBoundary& boundary) {
  std::vector<WalkLoop> loops;
  Offsets stride = extents_from(design, 0);
  std::size_t group = 0;
  const auto append = [&](const TimeloopLoop& loop, bool spatial, bool grouped) {
    stride[loop.dim] /= loop.bound;
    const bool partial = design.workload.dims[loop.dim].bound % stride[loop.dim] != 0;
    loops.push_back({loop.dim, loop.bound, loop.residual, stride[loop.dim], spatial, partial,
                     grouped ? group++ : WalkLoop::kNoGroup});
  };
  for (std::size_t b = 0; b < boundary.child; ++b) {
    for (const TimeloopLoop& loop : design.blocks[b].temporal) {
      append(loop, false, false);
    }
    for (const TimeloopLoop& loop : design.blocks[b].spatial) {
      append(loop, true, b >= boundary.parent);
    }
  }
  return loops;
}

bool is_imperfect(const TimeloopDesign& design) {
  const auto partial = [](const TimeloopLoop& loop) { return loop.residual != loop.bound; };
  return std::any_of(design.blocks.begin(), design.blocks.end(), [&](const TimeloopBlock& block) {
    return std::any_of(block.temporal.begin(), block.temporal.end(), partial) ||
           std::any_of(block.spatial.begin(), block.spatial.end(), partial);
  });
}

// Iteration `index` stands for `weight` iterations of the loops outside; its own transfers count
// `counted` times.
struct Sample {
  std::int64_t index = 0;
  std::int64_t weight = 1;
  std::int64_t counted = 1;
};

class Walk {
 public:
  Walk(const TimeloopDesign& design, const TimeloopBoundary& boundary, TimeloopRules rules)
      : rules_{rules},
        tensor_{design.workload.tensors[boundary.tensor]},
        imperfect_{is_imperfect(design)},
        holds_{boundary.child < design.blocks.size()},
        loops_{loops_above(design, boundary)},
        index_(loops_.size(), 0),
        tiles_{design.workload, tensor_, extents_from(design, boundary.child),
               rules.contains(TimeloopRule::kBoxHull)},
        children_{design, boundary, rules.contains(TimeloopRule::kPackedPlaces)},
        trips_(children_.loops(), 1),
        offsets_(design.workload.dims.size(), 0),
        last_(design.workload.dims.size(), 1) {
    const DimSet relevant = tensor_.dims();
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      if (!loops_[i].spatial && relevant.contains(loops_[i].dim)) {
        moving_ = i;
      }
    }
    const bool follows_history = rules.contains(TimeloopRule::kDirection) || uses_links();
    samples_ = !follows_history || rules.contains(TimeloopRule::kExtrapolation);
    // Without children beside each other, the last loop's samples are counted where they end.
    plain_end_ = !loops_.empty() && !loops_.back().spatial;
    crossing_.fanout = children_.nominal();
  }

  TimeloopCrossing run() {
    descend(0, 1, 1);
    for (const auto& [key, transfers] : sums_) {
      crossing_.transfers.push_back(transfers);
    }
    return crossing_;
  }

 private:
  bool has(TimeloopRule rule) const { return rules_.contains(rule); }
  bool uses_links() const {
    return has(TimeloopRule::kNeighbourLinks) && has(TimeloopRule::kWholeDelta) &&
           children_.loops() > 0;
  }

  // Which iterations of a temporal loop to visit, and what each stands for. The last one differs
  // if a loop inside is partial; Timeloop visits it then, but at the end of the loops counts what
  // iteration 1 brought.
  std::vector<Sample> samples(const WalkLoop& loop, std::int64_t trips, bool innermost) const {
    std::vector<Sample> chosen;
    if (!samples_) {
      for (std::int64_t i = 0; i < trips; ++i) {
        chosen.push_back({i, 1, 1});
      }
      return chosen;
    }
    chosen.push_back({0, 1, 1});
    if (!loop.partial_inside) {
      if (trips > 1) {
        chosen.push_back({1, trips - 1, trips - 1});
      }
      return chosen;
    }
    const bool repeats = innermost && trips >= 3 && has(TimeloopRule::kExtrapolation);
    if (trips >= 4) {
      chosen.push_back({1, trips - 3, repeats ? trips - 1 : trips - 3});
    }
    if (trips >= 3) {
      chosen.push_back({trips - 2, 1, repeats ? (trips == 3 ? 2 : 0) : 1});
    }
    if (trips >= 2) {
      chosen.push_back({trips - 1, 1, repeats ? 0 : 1});
    }
    return chosen;
  }

  void descend(std::size_t depth, std::int64_t weight, std::int64_t counted) {
    if (depth == loops_.size()) {
      visit(static_cast<double>(counted));
      return;
    }
    const WalkLoop& loop = loops_[depth];
    const std::int64_t trips = last_[loop.dim] != 0 ? loop.residual : loop.bound;
    const std::int64_t start = offsets_[loop.dim];
    const std::int64_t last = last_[loop.dim];
    const auto enter = [&](std::int64_t index, std::int64_t w, std::int64_t c) {
      index_[depth] = index;
      offsets_[loop.dim] = start + index * loop.stride;
      last_[loop.dim] = last != 0 && index + 1 >= loop.residual ? 1 : 0;
      descend(depth + 1, w, c);
    };
    if (loop.spatial) {
      if (loop.group != WalkLoop::kNoGroup) {
        trips_[loop.group] = trips;
      }
      enter(0, weight, counted);
    } else {
      const bool innermost = plain_end_ && depth + 1 == loops_.size();
      for (const Sample& sample : samples(loop, trips, innermost)) {
        enter(sample.index, weight * sample.weight, weight * sample.counted);
      }
    }
    index_[depth] = 0;
    offsets_[loop.dim] = start;
    last_[loop.dim] = last;
  }

  // What moves in this visit.
  TileMotion motion() {
    TileMotion now{offsets_, offsets_, trips_, TileMotion::Kind::kWhole};
    if (!holds_) {
      return now;
    }
    return has(TimeloopRule::kDirection) ? motion_by_history(now) : motion_by_loops(now);
  }

  // Ours: docs/model.md. Whole, unless only the moving loop, or loops inside it, have advanced.
  TileMotion motion_by_loops(TileMotion now) const {
    std::size_t advanced = loops_.size();
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      if (!loops_[i].spatial && index_[i] != 0) {
        advanced = i;
      }
    }
    if (advanced == loops_.size()) {
      return now;
    }
    if (!moving_ || advanced > *moving_) {
      now.kind = TileMotion::Kind::kNothing;
    } else if (advanced == *moving_) {
      now.kind = TileMotion::Kind::kNew;
      now.before[loops_[advanced].dim] -= loops_[advanced].stride;
    }
    return now;
  }

  // Timeloop's: new points only, as long as the vector of motion stays the same.
  TileMotion motion_by_history(TileMotion now) {
    const std::vector<std::int64_t> centre = tiles_.centre(offsets_);
    if (!before_) {
      before_ = std::pair{offsets_, centre};
      return now;
    }
    std::vector<std::int64_t> vector(centre.size());
    bool moves = false;
    for (std::size_t r = 0; r < centre.size(); ++r) {
      vector[r] = centre[r] - before_->second[r];
      moves = moves || vector[r] != 0;
    }
    now.before = before_->first;
    before_ = std::pair{offsets_, centre};
    if (!moves || !vector_ || *vector_ == vector) {
      now.kind = TileMotion::Kind::kNew;
      if (moves || has(TimeloopRule::kRest)) {
        vector_ = vector;
      }
    } else {
      vector_.reset();
    }
    return now;
  }

  void visit(double weight) {
    const TileMotion now = motion();
    const Delta delta = make_delta(tiles_, now);
    crossing_.first_child += static_cast<double>(delta.size()) * weight;
    if (!has(TimeloopRule::kWholeDelta)) {
      const double words = static_cast<double>(union_size(now));
      const double hops =
          children_.word_hops(tensor_, words, static_cast<double>(delta.size()), trips_);
      add({crossing_.fanout, 1, words * weight, hops * weight});
      crossing_.sent += static_cast<double>(delta.size() * crossing_.fanout) * weight;
      return;
    }
    Deliveries deliveries = imperfect_ && !has(TimeloopRule::kUniform)
                                ? children_.exactly(tiles_, now)
                                : children_.uniformly(tensor_, delta, trips_, nullptr);
    if (uses_links()) {
      if (previous_) {
        Deliveries linked = children_.uniformly(tensor_, delta, trips_, &*previous_);
        if (linked.words() < deliveries.words()) {
          deliveries = std::move(linked);
        }
      }
      previous_ = PreviousStep{delta, trips_};
    }
    for (TimeloopTransfers transfers : deliveries.transfers) {
      transfers.words *= weight;
      transfers.word_hops *= weight;
      crossing_.sent += transfers.words * static_cast<double>(transfers.multicast);
      add(transfers);
    }
    crossing_.link_words += deliveries.link_words * weight;
  }

  // Words that the children fetch together, as one tile.
  std::int64_t union_size(const TileMotion& now) const {
    if (now.kind == TileMotion::Kind::kNothing) {
      return 0;
    }
    const auto steps = children_.steps();
    const TileSet tile = tiles_.together(now.offsets, steps);
    const std::int64_t whole = size(tile);
    return now.kind == TileMotion::Kind::kWhole
               ? whole
               : whole - common_size(tile, tiles_.together(now.before, steps));
  }

  void add(const TimeloopTransfers& transfers) {
    TimeloopTransfers& sum = sums_[{transfers.multicast, transfers.scatter}];
    sum.multicast = transfers.multicast;
    sum.scatter = transfers.scatter;
    sum.words += transfers.words;
    sum.word_hops += transfers.word_hops;
  }

  TimeloopRules rules_;
  const Tensor& tensor_;
  bool imperfect_;
  bool holds_;  // the child keeps its tile from step to step
  bool samples_ = true;
  bool plain_end_ = false;
  std::vector<WalkLoop> loops_;
  std::vector<std::int64_t> index_;
  std::optional<std::size_t> moving_;
  TileMaker tiles_;
  Children children_;
  std::vector<std::int64_t> trips_;  // of the loops over the children, in this visit
  Offsets offsets_;                  // of the first child's tile
  PerDim<std::int64_t> last_;        // 1: every loop over the dim so far is in its last iteration
  std::optional<std::pair<Offsets, std::vector<std::int64_t>>> before_;
  std::optional<std::vector<std::int64_t>> vector_;
  std::optional<PreviousStep> previous_;
  std::map<std::pair<std::int64_t, std::int64_t>, TimeloopTransfers> sums_;
  TimeloopCrossing crossing_;
};

}  // namespace

double TimeloopCrossing::words() const {
  double sum = 0;
  for (const TimeloopTransfers& each : transfers) {
    sum += each.words;
  }
  return sum;
}

TimeloopCrossing cross(const TimeloopDesign& design, const TimeloopBoundary& boundary,
                       TimeloopRules rules) {
  return Walk{design, boundary, rules}.run();
}

std::int64_t timeloop_tile(const TimeloopDesign& design, TensorId tensor, std::size_t block,
                           bool hull) {
  const Offsets origin(design.workload.dims.size(), 0);
  return size(
      TileMaker{design.workload, design.workload.tensors[tensor], extents_from(design, block), hull}
          .at(origin));
}

std::int64_t timeloop_group_tile(const TimeloopDesign& design, TensorId tensor, std::size_t block) {
  Offsets extents = extents_from(design, block + 1);
  for (const TimeloopLoop& loop : design.blocks[block].spatial) {
    extents[loop.dim] *= loop.bound;
  }
  const Offsets origin(design.workload.dims.size(), 0);
  return size(
      TileMaker{design.workload, design.workload.tensors[tensor], extents, true}.at(origin));
}

}  // namespace mapsim
