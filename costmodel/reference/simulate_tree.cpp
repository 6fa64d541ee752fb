// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/simulate_tree.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "costmodel/reference/branch.hpp"
#include "costmodel/reference/point_set.hpp"
#include "costmodel/reference/step_sets.hpp"

namespace mapsim {

namespace {

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

// A level that keeps a tensor of one einsum below loops of a group.
struct Place {
  LevelId level{};
  std::size_t node = 0;
  std::size_t position = 0;
  std::size_t moving = kNoLoop;
  bool slides = true;
  HeldPoints held;
};

// What is around all places: values of points, or kAbsent.
struct Store {
  LevelId level{};
  std::vector<double> values;
};

struct Holding {
  bool active = false;
  PointSet made;                // in this instance of the scope
  std::vector<PointSet> needs;  // per step
};

class TreeMachine {
 public:
  TreeMachine(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
              const std::vector<PerTensor<DenseTensor>>& operands, std::int64_t max_steps)
      : arch_{arch},
        chain_{chain},
        tree_{tree},
        shape_{shape_of(arch, chain, tree)},
        max_steps_{max_steps},
        holdings_(chain.intermediates.size()) {
    counts_.intermediates.resize(chain.intermediates.size());
    for (const Workload& workload : chain.einsums) {
      boxes_.push_back(whole_box(workload));
      counts_.einsums.push_back(empty_counts(arch, workload));
    }
    for (const Intermediate& t : chain.intermediates) {
      const ChainTensor made{t.producer, chain.einsums[t.producer].output()};
      passed_.push_back(
          {shape_.scopes[passed_.size()].level, std::vector<double>(size_of(made), kAbsent)});
    }
    for (std::size_t e = 0; e < chain.einsums.size(); ++e) {
      own_.emplace_back();
      places_.emplace_back();
      projections_.emplace_back();
      for (const TensorId t : chain.einsums[e].tensors.ids()) {
        const bool output = t == chain.einsums[e].output();
        own_[e].push_back({LevelId{0}, output ? std::vector<double>(size_of({e, t}), kAbsent)
                                              : operands[e][t].values});
        places_[e].push_back(places_of({e, t}));
        projections_[e].push_back(projection_of({e, t}));
      }
    }
    for (std::size_t e = 0; e < chain.einsums.size(); ++e) {
      branches_.emplace_back(arch, chain, tree, shape_, e, projections_[e]);
    }
    snapshots_.resize(tree.nodes.size());
  }

  TreeSimulation run() {
    enter(0, boxes_[tree_.nodes[0].einsum]);
    return result();
  }

 private:
  const Workload& einsum(std::size_t e) const { return chain_.einsums[e]; }
  const Tensor& tensor(const ChainTensor& use) const {
    return chain_.einsums[use.einsum].tensors[use.tensor];
  }
  bool is_output(const ChainTensor& use) const { return use.tensor == einsum(use.einsum).output(); }
  ChainTensor maker(std::size_t i) const {
    const std::size_t producer = chain_.intermediates[i].producer;
    return {producer, einsum(producer).output()};
  }
  std::size_t size_of(const ChainTensor& use) const {
    return static_cast<std::size_t>(Projection{einsum(use.einsum), use.tensor}.box_size());
  }
  // An intermediate has the coordinates that its producer gives it.
  Projection projection_of(const ChainTensor& use) const {
    const auto i = chain_.intermediate_of(use);
    if (!i) {
      return {einsum(use.einsum), use.tensor};
    }
    const ChainTensor made = maker(*i);
    return {einsum(use.einsum), use.tensor, box_shape(einsum(made.einsum), tensor(made))};
  }

  std::vector<Place> places_of(const ChainTensor& use) const {
    std::vector<Place> places;
    for (const OwnKeep& keep : shape_.keeps) {
      if (keep.use == use && !tree_.nodes[keep.node].children.empty()) {
        places.push_back({keep.level,
                          keep.node,
                          keep.position,
                          keep.moving,
                          arch_.levels[keep.level].sliding,
                          {}});
      }
    }
    return places;
  }

  // A node begins with a box of its einsum; what it kept of an earlier one is gone.
  void enter(std::size_t n, const IterationBox& box) {
    boxes_[tree_.nodes[n].einsum] = box;
    const std::size_t i = shape_.nodes[n].producer_of;
    if (i != kNoNode) {
      counts_.intermediates[i].made += count_of(points(maker(i), box));
    }
    if (tree_.nodes[n].children.empty()) {
      run_branch(tree_.nodes[n].einsum);
      return;
    }
    pass(n, 0, kNoLoop);
    for_each_place(n, [&](const ChainTensor& use, std::size_t p) {
      Place& place = places_[use.einsum][index_of(use.tensor)][p];
      if (is_output(use)) {
        drain(use, p, place.held.points);
      }
      place.held = {};
    });
  }

  // Innermost places first.
  template <class Visit>
  void for_each_place(std::size_t n, const Visit& visit) {
    for (std::size_t e = 0; e < chain_.einsums.size(); ++e) {
      for (const TensorId t : einsum(e).tensors.ids()) {
        for (std::size_t p = places_[e][index_of(t)].size(); p-- > 0;) {
          if (places_[e][index_of(t)][p].node == n) {
            visit(ChainTensor{e, t}, p);
          }
        }
      }
    }
  }

  // Goes on below the first `position` loops; `advanced`: the loop of the node that has moved on
  // since what lies below was passed last, or kNoLoop: the node is entered.
  void pass(std::size_t n, std::size_t position, std::size_t advanced) {
    const auto& loops = shape_.nodes[n].loops;
    infer(n);
    auto& snapshots = snapshots_[n];
    snapshots.resize(loops.size() + 1);
    snapshots[position] = boxes_;
    for (const TensorScope& scope : shape_.scopes) {
      if (scope.node == n && scope.position == position) {
        forget(scope);
      }
    }
    fill_places(n, position, advanced);
    if (position < loops.size()) {
      run_loop(n, position, advanced);
    } else {
      infer(n);  // what was forgotten is to be made anew
      run_sequence(n);
    }
    for (const TensorScope& scope : shape_.scopes) {
      if (scope.node == n && scope.position == position) {
        measure(scope);
        forget(scope);
        holdings_[scope.intermediate].active = false;
      }
    }
  }

  void run_loop(std::size_t n, std::size_t l, std::size_t advanced) {
    const ShapeLoop& loop = shape_.nodes[n].loops[l];
    IterationBox& box = boxes_[tree_.nodes[n].einsum];
    const IterationBox whole = box;
    for (std::int64_t lo = whole[loop.dim].lo; lo < whole[loop.dim].hi; lo += loop.extent) {
      box = whole;
      box[loop.dim] = {lo, std::min(lo + loop.extent, whole[loop.dim].hi)};
      if (lo > whole[loop.dim].lo) {
        advanced = l;
        drain_places(n, l);
      }
      pass(n, l + 1, advanced);
    }
    box = whole;
  }

  bool exchanges(const Place& place, std::size_t advanced) const {
    return advanced == kNoLoop || (place.moving != kNoLoop && advanced <= place.moving);
  }

  // Loop l has advanced: sums that leave go up, from the innermost place on.
  void drain_places(std::size_t n, std::size_t l) {
    const std::size_t e = tree_.nodes[n].einsum;
    const ChainTensor use{e, einsum(e).output()};
    auto& places = places_[e][index_of(use.tensor)];
    for (std::size_t p = places.size(); p-- > 0;) {
      const Place& place = places[p];
      if (place.node != n || place.position <= l || !exchanges(place, l)) {
        continue;
      }
      if (l == place.moving && place.slides) {
        drain(use, p, without(place.held.points, points(use, boxes_[e])));
      } else {
        drain(use, p, place.held.points);
      }
    }
  }

  void drain(const ChainTensor& use, std::size_t p, const PointSet& leaving) {
    HeldPoints& held = places_[use.einsum][index_of(use.tensor)][p].held;
    for (const std::int64_t point : leaving) {
      const double value = held.at(point);
      if (std::isnan(value) && !is_held_inside(use, p, point)) {
        throw SimulationFault("a sum leaves to which nothing was added");
      }
      double& sum = above(use, p, point);
      sum = (std::isnan(sum) ? 0 : sum) + (std::isnan(value) ? 0 : value);
    }
    access(use, p).drains += count_of(leaving);
    access_above(use, p).updates += count_of(leaving);
    HeldPoints rest{without(held.points, leaving), {}};
    for (const std::int64_t point : rest.points) {
      rest.values.push_back(held.at(point));
    }
    held = std::move(rest);
  }

  // A window of sums that slides further in takes along what has not come up yet.
  bool is_held_inside(const ChainTensor& use, std::size_t p, std::int64_t point) const {
    const auto& places = places_[use.einsum][index_of(use.tensor)];
    return p + 1 < places.size() && std::binary_search(places[p + 1].held.points.begin(),
                                                       places[p + 1].held.points.end(), point);
  }

  void fill_places(std::size_t n, std::size_t position, std::size_t advanced) {
    for (std::size_t e = 0; e < chain_.einsums.size(); ++e) {
      for (const TensorId t : einsum(e).tensors.ids()) {
        for (std::size_t p = 0; p < places_[e][index_of(t)].size(); ++p) {
          const Place& place = places_[e][index_of(t)][p];
          if (place.node == n && place.position == position && exchanges(place, advanced)) {
            fill({e, t}, p, advanced);
          }
        }
      }
    }
  }

  void fill(const ChainTensor& use, std::size_t p, std::size_t advanced) {
    Place& place = places_[use.einsum][index_of(use.tensor)][p];
    const std::size_t inside = place.moving == kNoLoop ? 0 : place.moving + 1;
    const PointSet next = points(use, snapshots_[place.node][inside][use.einsum]);
    const bool slides = place.slides && advanced != kNoLoop && advanced == place.moving;
    const bool output = is_output(use);
    const PointSet staying = slides || output ? common(place.held.points, next) : PointSet{};
    HeldPoints now{next, std::vector<double>(next.size(), kAbsent)};
    for (const std::int64_t point : staying) {
      now.at(point) = place.held.at(point);
    }
    const PointSet entering = without(next, staying);
    std::int64_t back = 0;
    for (const std::int64_t point : entering) {
      double& value = above(use, p, point);
      now.at(point) = value;
      if (!std::isnan(value)) {
        ++back;
        value = output ? 0 : value;  // a sum moves
      } else if (!output) {
        throw SimulationFault("a value is read that was not made");
      }
    }
    access(use, p).fills += back;
    (output ? access_above(use, p).readbacks : access_above(use, p).reads) += back;
    place.held = std::move(now);
    TensorCounts& at = counts_.einsums[use.einsum].levels[place.level][use.tensor];
    at.kept = true;
    at.footprint = std::max(at.footprint, count_of(next));
  }

  void run_branch(std::size_t e) {
    WalkedBranch& branch = branches_[e];
    steps_ -= branch.steps();
    branch.run(tile_of(boxes_[e]), max_steps_ - steps_, [&](TensorId t, std::int64_t point) {
      return &above({e, t}, places_[e][index_of(t)].size(), point);
    });
    steps_ += branch.steps();
  }

  // Backwards from the sink: of each branch what the later ones need of it in this step and is not
  // held.
  void infer(std::size_t n) {
    const auto& children = tree_.nodes[n].children;
    for (std::size_t c = children.size(); c-- > 0;) {
      const std::size_t e = tree_.nodes[children[c]].einsum;
      if (c + 1 < children.size()) {
        boxes_[e] = whole_box(einsum(e));
        const std::size_t i = shape_.nodes[children[c]].producer_of;
        if (i != kNoNode && shape_.scopes[i].home == n) {
          boxes_[e] = missing(i);
        }
      }
      infer(children[c]);
    }
  }
  IterationBox need(std::size_t i) const {
    const Intermediate& t = chain_.intermediates[i];
    const Tensor& out = tensor(maker(i));
    IterationBox hull(einsum(t.producer).dims.size());
    for (const DimId d : hull.ids()) {
      hull[d] = {0, einsum(t.producer).dims[d].bound};
    }
    for (std::size_t r = 0; r < out.ranks.size(); ++r) {
      const DimId d = out.ranks[r].terms.front().dim;
      IndexRange& at = hull[d];
      at = {std::numeric_limits<std::int64_t>::max(), 0};
      for (const ChainTensor& use : t.readers) {
        const IterationBox& box = boxes_[use.einsum];
        if (!is_empty(box)) {
          const IndexRange one = needed_points(einsum(use.einsum), tensor(use).ranks[r], box,
                                               einsum(t.producer).dims[d].bound);
          at = {std::min(at.lo, one.lo), std::max(at.hi, one.hi)};
        }
      }
    }
    return hull;
  }
  IterationBox missing(std::size_t i) const {
    const IterationBox all = need(i);
    const Holding& holding = holdings_[i];
    if (!holding.active || is_empty(all)) {
      return all;
    }
    const ChainTensor made = maker(i);
    const PointSet rest = without(points(made, all), holding.made);
    const auto ranges = as_box(rest, box_shape(einsum(made.einsum), tensor(made)));
    if (!ranges) {
      throw SimulationFault("what a step must make is no box");
    }
    IterationBox box = all;
    for (std::size_t r = 0; r < ranges->size(); ++r) {
      box[tensor(made).ranks[r].terms.front().dim] = (*ranges)[r];
    }
    return box;
  }

  void run_sequence(std::size_t n) {
    for (const TensorScope& scope : shape_.scopes) {
      if (scope.home == n) {
        holdings_[scope.intermediate].needs.push_back(
            points(maker(scope.intermediate), need(scope.intermediate)));
      }
    }
    const std::vector<IterationBox> step = boxes_;
    for (const std::size_t child : tree_.nodes[n].children) {
      const IterationBox& box = step[tree_.nodes[child].einsum];
      if (!is_empty(box)) {
        enter(child, box);
      }
      boxes_ = step;
    }
    for (const TensorScope& scope : shape_.scopes) {
      if (scope.home == n) {
        Holding& holding = holdings_[scope.intermediate];
        PointSet all = holding.made;
        all.insert(all.end(), holding.needs.back().begin(), holding.needs.back().end());
        holding.made = united(std::move(all));
      }
    }
  }

  void forget(const TensorScope& scope) {
    holdings_[scope.intermediate] = {true, {}, {}};
    auto& values = passed_[scope.intermediate].values;
    std::fill(values.begin(), values.end(), kAbsent);
    branches_[chain_.intermediates[scope.intermediate].producer].forget_sums();
  }

  void measure(const TensorScope& scope) {
    const LiveSet held = live_set(holdings_[scope.intermediate].needs);
    LiveSet& most = counts_.intermediates[scope.intermediate].held;
    most = {std::max(most.live, held.live), std::max(most.carried, held.carried)};
  }

  PointSet points(const ChainTensor& use, const IterationBox& box) const {
    return is_empty(box) ? PointSet{}
                         : projections_[use.einsum][index_of(use.tensor)].points(tile_of(box));
  }
  // The parent's value of a point, and its counts.
  double& above(const ChainTensor& use, std::size_t p, std::int64_t point) {
    if (p > 0) {
      return places_[use.einsum][index_of(use.tensor)][p - 1].held.at(point);
    }
    const auto i = chain_.intermediate_of(use);
    Store& store = i ? passed_[*i] : own_[use.einsum][index_of(use.tensor)];
    return store.values[static_cast<std::size_t>(point)];
  }
  AccessCounts& access_above(const ChainTensor& use, std::size_t p) {
    if (p > 0) {
      return access(use, p - 1);
    }
    const auto i = chain_.intermediate_of(use);
    const LevelId level = i ? passed_[*i].level : LevelId{0};
    return counts_.einsums[use.einsum].levels[level][use.tensor].total;
  }
  AccessCounts& access(const ChainTensor& use, std::size_t p) {
    const Place& place = places_[use.einsum][index_of(use.tensor)][p];
    return counts_.einsums[use.einsum].levels[place.level][use.tensor].total;
  }

  TreeSimulation result();

  const Arch& arch_;
  const EinsumChain& chain_;
  const MappingTree& tree_;
  TreeShape shape_;
  std::int64_t max_steps_;
  std::int64_t steps_ = 0;
  std::vector<Holding> holdings_;                        // per intermediate
  std::vector<Store> passed_;                            // per intermediate
  std::vector<std::vector<Store>> own_;                  // per einsum and tensor
  std::vector<std::vector<std::vector<Place>>> places_;  // ... outermost first
  std::vector<std::vector<Projection>> projections_;
  std::vector<IterationBox> boxes_;  // per einsum, of the present step
  std::vector<std::vector<std::vector<IterationBox>>>
      snapshots_;                      // per node and position, the boxes there
  std::deque<WalkedBranch> branches_;  // per einsum
  TreeCounts counts_;
};

TreeSimulation TreeMachine::result() {
  TreeSimulation result;
  for (std::size_t e = 0; e < chain_.einsums.size(); ++e) {
    Counts& counts = counts_.einsums[e];
    branches_[e].add_to(counts);
    for (const TensorId t : einsum(e).tensors.ids()) {
      const auto i = chain_.intermediate_of({e, t});
      const Store& store = i ? passed_[*i] : own_[e][index_of(t)];
      TensorCounts& at = counts.levels[store.level][t];
      at.kept = true;
      at.footprint =
          i ? counts_.intermediates[*i].held.live : count_of(points({e, t}, whole_box(einsum(e))));
    }
    const TensorId output = einsum(e).output();
    const auto i = chain_.intermediate_of({e, output});
    DenseTensor dense{box_shape(einsum(e), einsum(e).tensors[output]), {}};
    std::int64_t distinct = 0;
    for (const double value : i ? passed_[*i].values : own_[e][index_of(output)].values) {
      distinct += std::isnan(value) ? 0 : 1;
      dense.values.push_back(std::isnan(value) ? 0 : value);
    }
    finish_counts(einsum(e), i ? counts_.intermediates[*i].made : distinct, counts);
    result.outputs.push_back(std::move(dense));
  }
  result.counts = std::move(counts_);
  return result;
}

}  // namespace

TreeSimulation simulate_tree(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                             const std::vector<PerTensor<DenseTensor>>& operands,
                             std::int64_t max_steps) {
  require_no_zeros(arch, "fused mappings");
  return TreeMachine{arch, chain, tree, operands, max_steps}.run();
}

}  // namespace mapsim
