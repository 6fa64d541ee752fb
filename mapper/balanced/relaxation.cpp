// SPDX-License-Identifier: Apache-2.0
#include "mapper/balanced/relaxation.hpp"

#include <algorithm>
#include <array>

#include "costmodel/crossing.hpp"

namespace mapsim::balanced {

using exact::kInfinity;
using exact::Node;
using exact::Sharing;
using exact::Skeleton;

namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Instances that the largest piece keeps busy at least, of parallel loops from `first` inwards.
std::int64_t busy_of(const std::vector<std::int64_t>& split, std::size_t first) {
  std::int64_t busy = 1;
  for (std::size_t i = split.size(); i-- > first;) {
    busy = (split[i] - 1) * busy + 1;
  }
  return busy;
}

constexpr std::size_t kNoRun = static_cast<std::size_t>(-1);

// Distinct coordinates of a window of two dims, summed over tiles of these extents. A window whose
// instances' blocks lie apart has at least as many as one of unit strides whose blocks do not.
double window_points(const Rank& rank, const std::array<std::int64_t, 2>& bounds,
                     const std::array<std::int64_t, 2>& extents, bool apart) {
  const auto points = [&](std::int64_t a, std::int64_t b) {
    if (apart) {
      return a + b - 1;
    }
    PerDim<std::int64_t> tile(kMaxDims, 1);
    tile[rank.terms[0].dim] = a;
    tile[rank.terms[1].dim] = b;
    return rank_points(rank, tile);
  };
  const auto over_second = [&](std::int64_t a) {
    const std::int64_t rest = bounds[1] % extents[1];
    return bounds[1] / extents[1] * points(a, extents[1]) + (rest > 0 ? points(a, rest) : 0);
  };
  const std::int64_t rest = bounds[0] % extents[0];
  return static_cast<double>(bounds[0] / extents[0] * over_second(extents[0]) +
                             (rest > 0 ? over_second(rest) : 0));
}

}  // namespace

Relaxation::Relaxation(const Skeleton& skeleton, const Tiles& tiles, const Gates& gates,
                       const std::vector<Terms>& terms, std::size_t components,
                       const Patience& patience)
    : skeleton_{skeleton},
      tiles_{tiles},
      gates_{gates},
      terms_{terms},
      components_{components},
      rows_(skeleton.phases() * skeleton.pointers(), 0),
      to_go_(components),
      bits_(terms.size()) {
  for (std::size_t phase = 0; phase < skeleton.phases(); ++phase) {
    for (std::size_t pointers = 0; pointers < skeleton.pointers(); ++pointers) {
      if (skeleton.reachable(phase, pointers)) {
        rows_[phase * skeleton.pointers() + pointers] = nodes_;
        nodes_ += tiles.size();
      }
    }
  }
  for (std::size_t component = 0; component < components; ++component) {
    to_go_[component].assign(nodes_, kInfinity);
    complete_ = complete_ && fill(component, patience);
  }
  costs_.clear();
  flows_.clear();
}

// Extents that the rules allow the tile of a placing; nullopt: none.
std::optional<Allowed> Relaxation::allowed(std::size_t placing, DimId d) const {
  const exact::Placing& of = skeleton_.placings()[placing];
  std::optional<Allowed> all = Allowed{};
  if (of.to == exact::Placing::kMac || skeleton_.stops(of.tensor)[of.to].latch) {
    return all;
  }
  for (const ExtentRule& rule : skeleton_.space().constraints().extents) {
    if (rule.level == skeleton_.stops(of.tensor)[of.to].level && rule.tensor == of.tensor &&
        rule.dim == d) {
      all = all ? both(*all, rule.extents) : all;
    }
  }
  return all;
}

const Relaxation::Row& Relaxation::bits(std::size_t placing) {
  Row& bits = bits_[placing];
  if (!bits.empty()) {
    return bits;
  }
  const Terms& terms = terms_[placing];
  bits.assign(tiles_.size(), terms.stored_bits);
  PerDim<std::vector<std::int64_t>> known(tiles_.dims());  // per rung; 0: it cannot cross
  for (const DimId d : known.ids()) {
    const std::optional<Allowed> rule = allowed(placing, d);
    for (std::size_t rung = 0; rung < tiles_.ladder(d).size(); ++rung) {
      known[d].push_back(
          rule ? tiles_.least_behind(d, rung, terms.parent.crossed, terms.fanouts, *rule) : 0);
    }
  }
  const auto extent = [&known](DimId d, std::size_t rung) { return known[d][rung]; };
  for (const Rank& rank : skeleton_.problem().workload().tensors[terms.tensor].ranks) {
    if (rank.terms.size() == 1) {
      const DimId d = rank.terms.front().dim;
      tiles_.sweep(d, [&](std::size_t rung, std::size_t first, std::size_t last) {
        const auto here = static_cast<double>(extent(d, rung));
        for (std::size_t tile = first; tile < last; ++tile) {
          bits[tile] = here > 0 ? bits[tile] * here : kInfinity;
        }
      });
      continue;
    }
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      PerDim<std::int64_t> extents(tiles_.dims(), 1);
      bool crosses = true;
      for (const Term& term : rank.terms) {
        extents[term.dim] = extent(term.dim, tiles_.digit(term.dim, tile));
        crosses = crosses && extents[term.dim] > 0;
      }
      bits[tile] =
          crosses ? bits[tile] * static_cast<double>(rank_points(rank, extents)) : kInfinity;
    }
  }
  return bits;
}

// Elements of the dims that stand alone in their rank; of the first instance its share.
double Relaxation::constant(TensorId t, const Sharing& sharing) const {
  double points = 1;
  for (const Rank& rank : skeleton_.problem().workload().tensors[t].ranks) {
    for (const Term& term : rank.terms) {
      points *= rank.terms.size() == 1 ? static_cast<double>(tiles_.bound(term.dim)) : 1;
      for (std::size_t f = 0; f < sharing.uses.size(); ++f) {
        if (sharing.uses[f] == LoopUse::kFirst) {
          points /= static_cast<double>(tiles_.factor(f, term.dim));
        }
      }
    }
  }
  return points;
}

// Distinct sums that the instances meet in the whole run, without windows: exact.
double Relaxation::met(TensorId t, const Sharing& sharing) const {
  double points = constant(t, sharing);
  const DimSet relevant = skeleton_.problem().workload().tensors[t].dims();
  for (std::size_t f = 0; f < sharing.uses.size(); ++f) {
    for (std::size_t i = 0; i < tiles_.dims(); ++i) {
      const auto d = static_cast<DimId>(i);
      if (!relevant.contains(d) && sharing.uses[f] == LoopUse::kSum) {
        points *= static_cast<double>(tiles_.factor(f, d));
      }
    }
  }
  return points;
}

// n_d >= D / what one combination covers. Of fanouts still to come, some of whose parallel loops
// may stand below the loops that lead to the tile: before them a block is no larger than its share,
// and of what is left the largest piece keeps so many busy at least, the last instance of each loop
// having one below it.
std::int64_t Relaxation::visits(DimId d, std::int64_t extent, const Sharing& sharing) const {
  std::int64_t together = 1;
  std::vector<std::int64_t> split;  // instances per parallel loop, outermost first
  for (std::size_t f = 0; f < sharing.uses.size(); ++f) {
    if (f < sharing.crossed) {
      together *= sharing.uses[f] == LoopUse::kSum ? 1 : tiles_.factor(f, d);
    } else if (sharing.uses[f] == LoopUse::kSum) {
      for (const auto& loop : tiles_.unrolls(f)) {
        if (loop.dim == d) {
          split.push_back(loop.factor);
        }
      }
    }
  }
  std::int64_t block = extent;
  std::int64_t least = ceil_div(tiles_.bound(d) * busy_of(split, 0), together * block);
  for (std::size_t i = 0; i < split.size(); ++i) {
    block = ceil_div(block, split[i]);
    least = std::min(least, ceil_div(tiles_.bound(d) * busy_of(split, i + 1), together * block));
  }
  return least;
}

void Relaxation::multiply_visits(TensorId t, const Sharing& sharing, Row& flow) const {
  const DimSet relevant = skeleton_.problem().workload().tensors[t].dims();
  for (std::size_t i = 0; i < tiles_.dims(); ++i) {
    const auto d = static_cast<DimId>(i);
    if (relevant.contains(d) || tiles_.ladder(d).size() == 1) {
      continue;
    }
    tiles_.sweep(d, [&](std::size_t rung, std::size_t first, std::size_t last) {
      const auto times = static_cast<double>(visits(d, tiles_.ladder(d)[rung], sharing));
      for (std::size_t tile = first; tile < last; ++tile) {
        flow[tile] *= times;
      }
    });
  }
}

void Relaxation::multiply_window(TensorId, const Rank& rank, const Sharing& sharing,
                                 std::size_t run, Row& flow) const {
  const Workload& workload = skeleton_.problem().workload();
  if (rank.terms.size() > 2) {  // every point once
    const auto points = static_cast<double>(rank_points(rank, bounds_of(workload)));
    std::for_each(flow.begin(), flow.end(), [points](double& x) { x *= points; });
    return;
  }
  const std::array<DimId, 2> dims{rank.terms[0].dim, rank.terms[1].dim};
  const std::array<std::int64_t, 2> bounds{tiles_.bound(dims[0]), tiles_.bound(dims[1])};
  bool apart = false;
  const auto covered = [&](std::size_t i, std::size_t rung) {
    std::int64_t extent = tiles_.ladder(dims[i])[rung];
    for (std::size_t f = 0; f < sharing.uses.size(); ++f) {
      const bool merged = sharing.uses[f] == LoopUse::kMerge;
      if (f < sharing.crossed && merged) {
        extent *= tiles_.factor(f, dims[i]);
        apart = apart || tiles_.factor(f, dims[i]) > 1;
      } else if (f >= sharing.crossed && !merged && index_of(dims[i]) != run) {
        extent = ceil_div(extent, tiles_.factor(f, dims[i]));
      }
    }
    return std::min(extent, bounds[i]);
  };
  const std::size_t second = tiles_.ladder(dims[1]).size();
  std::vector<double> known(tiles_.ladder(dims[0]).size() * second);
  for (std::size_t k = 0; k < known.size(); ++k) {
    const std::array<std::int64_t, 2> extents{covered(0, k / second), covered(1, k % second)};
    known[k] = window_points(rank, bounds, extents, apart);
  }
  for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
    flow[tile] *= known[tiles_.digit(dims[0], tile) * second + tiles_.digit(dims[1], tile)];
  }
}

const Relaxation::Row& Relaxation::flow(TensorId t, const Sharing& sharing, std::size_t run) {
  Row& flow = flows_[{t, sharing, run}];
  if (flow.empty()) {
    flow.assign(tiles_.size(), constant(t, sharing));
    multiply_visits(t, sharing, flow);
    for (const Rank& rank : skeleton_.problem().workload().tensors[t].ranks) {
      if (rank.terms.size() > 1) {
        multiply_window(t, rank, sharing, run, flow);
      }
    }
  }
  return flow;
}

// Of a placing at every tile, [component * tiles + tile]. With a run: [..] is the tile from which
// the loop over dim `run` starts, and the tile below may be any.
const Relaxation::Row& Relaxation::costs(std::size_t placing, std::size_t run) {
  Row& costs = costs_[{placing, run}];
  if (!costs.empty()) {
    return costs;
  }
  const Terms& terms = terms_[placing];
  const Tensor& tensor = skeleton_.problem().workload().tensors[terms.tensor];
  const bool windowless = std::all_of(tensor.ranks.begin(), tensor.ranks.end(),
                                      [](const Rank& rank) { return rank.terms.size() == 1; });
  const Row& parent = flow(terms.tensor, terms.parent, run);
  const Row& child = flow(terms.tensor, terms.child, run);
  const Row& busy_parent = components_ > 1 ? flow(terms.tensor, terms.busy_parent, run) : parent;
  const Row& busy_child = components_ > 1 ? flow(terms.tensor, terms.busy_child, run) : child;
  const auto again = [&](double all, double once) {
    return terms.output && windowless ? std::max(0.0, all - once) : 0.0;
  };
  const double met_parent = met(terms.tensor, terms.met_parent);
  const double met_child = met(terms.tensor, terms.met_child);
  const double met_busy_parent = met(terms.tensor, terms.met_busy_parent);
  const double met_busy_child = met(terms.tensor, terms.met_busy_child);
  costs.assign(components_ * tiles_.size(), 0.0);
  for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
    Flow flow{parent[tile], child[tile], busy_parent[tile], busy_child[tile]};
    flow.parent_again = again(flow.parent, met_parent);
    flow.child_again = again(flow.child, met_child);
    flow.busy_parent_again = again(flow.busy_parent, met_busy_parent);
    flow.busy_child_again = again(flow.busy_child, met_busy_child);
    flow.is_bound = true;
    if (!account(terms, flow, components_, &costs[tile], tiles_.size())) {
      for (std::size_t k = 0; k < components_; ++k) {
        costs[k * tiles_.size() + tile] = kInfinity;
      }
    }
  }
  return costs;
}

// Inside out: later phases first, and within one the pointers that moves lead to.
// False: patience is over.
bool Relaxation::fill(std::size_t component, const Patience& patience) {
  double* to_go = to_go_[component].data();
  for (std::size_t phase = skeleton_.phases(); phase-- > 0;) {
    for (std::size_t pointers = skeleton_.pointers(); pointers-- > 0;) {
      if (patience.over()) {
        return false;
      }
      if (skeleton_.reachable(phase, pointers)) {
        fill_row(component, phase, pointers, to_go + row(phase, pointers));
      }
    }
  }
  return true;
}

void Relaxation::fill_row(std::size_t component, std::size_t phase, std::size_t pointers,
                          double* row) {
  const double* to_go = to_go_[component].data();
  const std::size_t tiles = tiles_.size();
  if (phase + 1 < skeleton_.phases()) {
    relax_event(component, phase, pointers, row);
  } else {
    relax_end(component, pointers, row);
  }
  for (const Skeleton::Place& place : skeleton_.places(phase, pointers)) {
    const double* below = to_go + this->row(phase, place.target);
    const double* cost = &costs(place.placing, kNoRun)[component * tiles];
    const double* taken = bits(place.placing).data();
    const double limit = terms_[place.placing].limit;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const double value =
          taken[tile] <= limit && taken[tile] < kInfinity ? cost[tile] + below[tile] : kInfinity;
      row[tile] = std::min(row[tile], value);
    }
  }
  for (const Skeleton::Jump& jump : skeleton_.jumps(phase, pointers)) {
    const auto target = skeleton_.after_loop(phase, jump.target, jump.dim, 1);
    relax_jump(component, jump, to_go + this->row(phase, *target), row);
  }
  relax_loops(component, phase, pointers, row);
}

void Relaxation::relax_event(std::size_t component, std::size_t phase, std::size_t pointers,
                             double* row) const {
  const auto behind = skeleton_.after_event(phase, pointers);
  if (!behind) {
    return;
  }
  const double* below = to_go_[component].data() + this->row(phase + 1, *behind);
  std::copy_n(below, tiles_.size(), row);
  if (skeleton_.ends_region(phase)) {
    gates_.close_beginnings(phase + 1, row);
  }
  if (const auto fanout = skeleton_.event_after(phase).fanout) {
    relax_crossing(*fanout, row);
  }
  if (skeleton_.ends_region(phase)) {
    gates_.close_ends(phase, row);
  }
}

void Relaxation::relax_end(std::size_t component, std::size_t pointers, double* row) {
  const auto& end = skeleton_.end(pointers);
  if (!end) {
    return;
  }
  row[0] = component == 0 ? skeleton_.problem().mac_energy().count() *
                                static_cast<double>(skeleton_.problem().macs())
                          : 0.0;
  for (const std::size_t placing : *end) {
    row[0] += costs(placing, kNoRun)[component * tiles_.size()];
  }
}

// Loops that lead to a later group of the region's order go first: what lies behind them is done.
void Relaxation::relax_loops(std::size_t component, std::size_t phase, std::size_t pointers,
                             double* row) const {
  const DimSet frozen = skeleton_.frozen(phase, pointers);
  DimSet staying;
  for (std::size_t i = 0; i < tiles_.dims(); ++i) {
    const auto d = static_cast<DimId>(i);
    const auto target = skeleton_.after_loop(phase, pointers, d, 1);
    if (frozen.contains(d) || !target) {
      continue;
    }
    if (*target == pointers) {
      staying.insert(d);
      continue;
    }
    const double* below = to_go_[component].data() + this->row(phase, *target);
    const std::size_t stride = tiles_.stride(d);
    tiles_.sweep(d, [&](std::size_t rung, std::size_t first, std::size_t last) {
      const std::size_t step = tiles_.is_shared(d, rung) ? 0 : stride;
      for (std::size_t tile = first; tile < last && rung > 0; ++tile) {
        row[tile] = std::min(row[tile], below[tile - step]);
      }
    });
  }
  for (std::size_t i = 0; i < tiles_.dims(); ++i) {
    if (staying.contains(static_cast<DimId>(i))) {
      relax_loops(static_cast<DimId>(i), row);
    }
  }
}

// The least of what lies behind: of a coarse lattice, of all rungs that the extents may lead to.
void Relaxation::relax_crossing(std::size_t fanout, double* row) const {
  Row behind(row, row + tiles_.size());
  if (!tiles_.is_coarse()) {
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      const std::size_t crossed = tiles_.cross(fanout, tile);
      row[tile] = crossed == Tiles::kNone ? kInfinity : behind[crossed];
    }
    return;
  }
  for (std::size_t i = 0; i < tiles_.dims(); ++i) {
    const auto d = static_cast<DimId>(i);
    const std::size_t stride = tiles_.stride(d);
    tiles_.sweep(d, [&](std::size_t rung, std::size_t first, std::size_t last) {
      const Tiles::Behind& range = tiles_.behind(fanout, d, rung);
      for (std::size_t tile = first; tile < last; ++tile) {
        double least = kInfinity;
        for (std::size_t r = range.first; range.last != Tiles::kNone && r <= range.last; ++r) {
          least = std::min(least, behind[tile - rung * stride + r * stride]);
        }
        row[tile] = least;
      }
    });
    behind.assign(row, row + tiles_.size());
  }
}

// A run from one rung to any below it costs what its start says; between extents that share a rung
// there are runs, too.
void Relaxation::relax_jump(std::size_t component, const Skeleton::Jump& jump, const double* below,
                            double* row) {
  const std::size_t tiles = tiles_.size();
  Row least(below, below + tiles);
  Row cost(tiles, 0.0);
  for (const std::size_t placing : jump.placings) {
    const double* one = &costs(placing, index_of(jump.dim))[component * tiles];
    const double* taken = bits(placing).data();
    const double limit = terms_[placing].limit;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      cost[tile] += one[tile];
      least[tile] = taken[tile] <= limit && taken[tile] < kInfinity ? least[tile] : kInfinity;
    }
  }
  relax_loops(jump.dim, least.data());
  const std::size_t stride = tiles_.stride(jump.dim);
  tiles_.sweep(jump.dim, [&](std::size_t rung, std::size_t first, std::size_t last) {
    const std::size_t step = tiles_.is_shared(jump.dim, rung) ? 0 : stride;
    for (std::size_t tile = first; tile < last && rung > 0; ++tile) {
      row[tile] = std::min(row[tile], cost[tile] + least[tile - step]);
    }
  });
}

// A loop costs nothing: the value of a tile is the least over the tiles that loops lead to.
void Relaxation::relax_loops(DimId dim, double* row) const {
  const std::size_t stride = tiles_.stride(dim);
  tiles_.sweep(dim, [&](std::size_t rung, std::size_t first, std::size_t last) {
    for (std::size_t tile = first; tile < last && rung > 0; ++tile) {
      row[tile] = std::min(row[tile], row[tile - stride]);
    }
  });
}

}  // namespace mapsim::balanced
