// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/loop_chains.hpp"

#include <algorithm>

#include "core/arithmetic.hpp"

namespace mapsim::imperfect {

LoopChains::LoopChains(const ExtentLattice& tiles)
    : tiles_{&tiles}, chains_(tiles.dims()), ids_(tiles.dims()) {
  for (const DimId d : chains_.ids()) {
    find(d, {});
  }
}

LoopChains::Id LoopChains::find(DimId d, std::vector<Link> links) {
  const auto [entry, is_new] = ids_[d].try_emplace(links, static_cast<Id>(chains_[d].size()));
  if (is_new) {
    chains_[d].push_back(std::move(links));
  }
  return entry->second;
}

LoopChains::Id LoopChains::loop(DimId d, Id id, std::int64_t extent) {
  if (this->extent(d, id) == extent) {
    return id;
  }
  std::vector<Link> links = chains_[d][id];
  while (!links.empty() && links.back().fanout == Link::kTemporal &&
         links.back().extent % extent == 0) {
    links.pop_back();
  }
  links.push_back({extent, Link::kTemporal});
  return find(d, std::move(links));
}

LoopChains::Id LoopChains::cross(DimId d, Id id, std::size_t fanout) {
  if (tiles_->factor(fanout, d) == 1) {
    return id;
  }
  std::vector<Link> links = chains_[d][id];
  std::int64_t at = extent(d, id);
  for (const Unroll& unroll : tiles_->unrolls(fanout)) {
    if (unroll.dim == d) {
      at = ceil_div(at, unroll.factor);
      links.push_back({at, fanout});
    }
  }
  return find(d, std::move(links));
}

LoopChains::Id LoopChains::drop_loops(DimId d, Id id) {
  std::vector<Link> links = chains_[d][id];
  while (!links.empty() && links.back().fanout == Link::kTemporal) {
    links.pop_back();
  }
  return find(d, std::move(links));
}

void ExactFlows::add(DimId d, std::int64_t extent, std::size_t fanout) {
  if (extent == reached_[d]) {
    return;
  }
  NestLoop loop;
  loop.dim = d;
  loop.outer = reached_[d];
  loop.extent = extent;
  loop.bound = ceil_div(loop.outer, extent);
  if (fanout != Link::kTemporal) {
    loop.fanout = tiles_.used()[fanout];
  }
  loops_.push_back(loop);
  fanouts_.push_back(fanout);
  reached_[d] = extent;
}

void ExactFlows::add_chain(DimId d, LoopChains::Id id) {
  for (const Link& link : chains_.links(d, id)) {
    add(d, link.extent, link.fanout);
  }
}

// Do the loops over d so far make tiles of one size?
bool ExactFlows::divides(DimId d) const {
  return std::all_of(loops_.begin(), loops_.end(), [d](const NestLoop& loop) {
    return loop.dim != d || loop.outer % loop.extent == 0;
  });
}

// Adds the parallel loops past which a keep is deferred. Dims of its tensor are locked until these
// fanouts are crossed, so their loops follow at once. Other dims may still be cut before. There the
// largest of the parallel loops is added at this point; it has at most as many working instances as
// all of them have, wherever they come.
bool ExactFlows::add_ahead(const BoundaryCoefficients& coefficients, DimId d, bool relevant) {
  std::int64_t most = 1;
  std::size_t at = 0;
  int loops_here = 0;
  for (std::size_t f = coefficients.parent.crossed; f < coefficients.fanouts; ++f) {
    if (tiles_.factor(f, d) == 1) {
      continue;
    }
    if (relevant && tiles_.behind(f, d, extent_of(tiles_.domain(d), reached_[d])).last ==
                        ExtentLattice::kNone) {
      return false;
    }
    for (const Unroll& unroll : tiles_.unrolls(f)) {
      if (unroll.dim == d && relevant) {
        add(d, ceil_div(reached_[d], unroll.factor), f);
      } else if (unroll.dim == d) {
        ++loops_here;
        at = unroll.factor > most ? f : at;
        most = std::max(most, unroll.factor);
      }
    }
  }
  if (most > 1) {
    is_bound_ = is_bound_ || loops_here > 1 || !divides(d);
    add(d, ceil_div(reached_[d], most), at);
  }
  return true;
}

double ExactFlows::volume(const BoundaryCoefficients& coefficients, const exact::Sharing& sharing,
                          bool slides) {
  uses_.resize(loops_.size());
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    uses_[i] = fanouts_[i] == Link::kTemporal ? sharing.temporal : sharing.uses[fanouts_[i]];
  }
  const Crossing crossing{loops_, uses_, slides ? moving_ : kNoLoop, sharing.together};
  return static_cast<double>(
      mapsim::volume(workload_, workload_.tensors[coefficients.tensor], crossing));
}

bool ExactFlows::at(const BoundaryCoefficients& coefficients, std::size_t tile,
                    const PerDim<LoopChains::Id>& ids, SlidingLoop slide, BoundaryFlow& flow) {
  loops_.clear();
  fanouts_.clear();
  moving_ = kNoLoop;
  is_bound_ = false;
  reached_.resize(tiles_.dims());
  const DimSet relevant = workload_.tensors[coefficients.tensor].dims();
  for (const DimId d : ids.ids()) {
    reached_[d] = tiles_.bound(d);
    add_chain(d, ids[d]);
    const std::size_t before = loops_.size();
    add(d, tiles_.extent(d, tile), Link::kTemporal);
    if (index_of(d) == slide.dim && loops_.size() > before) {
      moving_ = before;
    }
    if (!add_ahead(coefficients, d, relevant.contains(d))) {
      return false;
    }
  }
  const bool slides = coefficients.slides && moving_ != kNoLoop;
  flow = BoundaryFlow{};
  flow.is_bound = is_bound_;
  const auto find = [&](EndFlow& end, const exact::Sharing& sharing, const exact::Sharing& met) {
    end.crossing = volume(coefficients, sharing, slides);
    end.returning = coefficients.output ? end.crossing - volume(coefficients, met, false) : 0;
  };
  find(flow.parent, coefficients.parent, coefficients.met_parent);
  find(flow.child, coefficients.child, coefficients.met_child);
  find(flow.busy_parent, coefficients.busy_parent, coefficients.met_busy_parent);
  find(flow.busy_child, coefficients.busy_child, coefficients.met_busy_child);
  double entering = flow.child.crossing;
  for (const auto& [per_addition, sharing] : coefficients.reductions) {
    const double leaving = volume(coefficients, sharing, slides);
    flow.networks_pj += per_addition * (entering - leaving);
    entering = leaving;
  }
  return true;
}

std::int64_t ExactFlows::steps(DimId d, LoopChains::Id id) {
  loops_.clear();
  fanouts_.clear();
  reached_.resize(tiles_.dims());
  reached_[d] = tiles_.bound(d);
  add_chain(d, id);
  add(d, 1, Link::kTemporal);
  uses_.clear();
  for (const std::size_t fanout : fanouts_) {
    uses_.push_back(fanout == Link::kTemporal ? LoopUse::kSum : LoopUse::kFirst);
  }
  return visits(workload_, d, Crossing{loops_, uses_, kNoLoop, true});
}

}  // namespace mapsim::imperfect
