// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/per_tensor_bound.hpp"

#include <algorithm>
#include <numeric>

#include "core/caught.hpp"

namespace mapsim::exact {

PerTensorBound::PerTensorBound(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs)
    : graph_{graph},
      unrolled_{unrolled},
      deadline_{costs.deadline()},
      operations_{costs.mac({}, 0)[0]} {
  const std::size_t tensors = graph.problem().workload().tensors.size();
  for (std::size_t t = 0; t < tensors; ++t) {
    tensors_.emplace_back(graph, unrolled, static_cast<TensorId>(t), operations_, costs.deadline());
  }
  for_each_tensor([&](TensorId t) {
    costs.prepare(t);
    tensors_[index_of(t)].find_to_go(costs);
  });
}

void PerTensorBound::find_cost_so_far(EdgeCosts& costs) {
  for_each_tensor([&](TensorId t) { tensors_[index_of(t)].find_cost_so_far(costs); });
}

// One task per tensor.
template <class Visit>
void PerTensorBound::for_each_tensor(const Visit& visit) const {
  Caught caught;
#pragma omp taskloop grainsize(1) shared(caught, visit)
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    caught.run([&] { visit(static_cast<TensorId>(t)); });
  }
  caught.rethrow();
}

double PerTensorBound::root() const {
  const std::size_t whole = unrolled_.lattices.front().size() - 1;
  double least = kInfinity;
  for (const std::size_t residency : graph_.starts()) {
    least = std::min(least, to_go(0, residency, whole));
  }
  return least;
}

void PerTensorBound::add_cost_so_far(std::size_t stage, std::size_t residency,
                                     std::span<const std::uint32_t> tiles,
                                     std::vector<double>& sum) const {
  sum.assign(tiles.size(), 0.0);
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const double* of_tensor =
        tensors_[t].so_far(stage, graph_.residence_index(residency, static_cast<TensorId>(t)));
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      sum[i] += of_tensor[tiles[i]];
    }
  }
}

double PerTensorBound::to_go(std::size_t stage, std::size_t residency, std::size_t tile) const {
  double sum = operations_;
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    sum +=
        tensors_[t].to_go(stage, graph_.residence_index(residency, static_cast<TensorId>(t)))[tile];
  }
  return sum;
}

PerTensorBound::Selection::Selection(const PerTensorBound& per_tensor, double most)
    : per_tensor_{per_tensor},
      held_{per_tensor.deadline_},
      most_{most},
      parts_(per_tensor.tensors_.size() + 1) {}

// Consecutive rows mostly differ in the residences of the first tensors, so sums over the last
// tensors are kept from row to row.
std::span<const std::uint32_t> PerTensorBound::Selection::tiles(std::size_t stage,
                                                                std::size_t residency) {
  const std::size_t tensors = per_tensor_.tensors_.size();
  if (stage != stage_) {
    start(stage);
  }
  bool known = true;
  for (std::size_t i = tensors; i-- > 0;) {
    const std::size_t residence =
        per_tensor_.graph_.residence_index(residency, static_cast<TensorId>(i));
    known = known && parts_[i].residence == residence;
    if (!known) {
      parts_[i].residence = residence;
      extend(i);
    }
  }
  return parts_.front().tiles;
}

void PerTensorBound::Selection::start(std::size_t stage) {
  stage_ = stage;
  Part& all = parts_.back();
  held_.grow_to(parts_.size() * per_tensor_.tiles(stage) *
                (sizeof(std::uint32_t) + sizeof(double)));
  all.tiles.resize(per_tensor_.tiles(stage));
  std::iota(all.tiles.begin(), all.tiles.end(), std::uint32_t{0});
  all.sums.assign(all.tiles.size(), per_tensor_.operations_);
  double rest = 0;
  for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
    const std::vector<double>& least = per_tensor_.tensors_[i].least(stage);
    parts_[i].residence = kNone;
    parts_[i].rest = rest;
    rest += *std::min_element(least.begin(), least.end());
  }
}

// Adds tensor i, at its residence, to the part of the tensors after it.
void PerTensorBound::Selection::extend(std::size_t i) {
  const TensorBound& tensor = per_tensor_.tensors_[i];
  const Part& from = parts_[i + 1];
  Part& to = parts_[i];
  to.tiles.clear();
  to.sums.clear();
  if (!(tensor.least(stage_)[to.residence] + per_tensor_.operations_ + to.rest <= most_)) {
    return;
  }
  const double* so_far = tensor.so_far(stage_, to.residence);
  const double* to_go = tensor.to_go(stage_, to.residence);
  const double most = most_ - to.rest;
  to.tiles.resize(from.tiles.size());
  to.sums.resize(from.tiles.size());
  std::size_t count = 0;
  for (std::size_t k = 0; k < from.tiles.size(); ++k) {
    const std::uint32_t tile = from.tiles[k];
    const double sum = from.sums[k] + (so_far[tile] + to_go[tile]);
    to.tiles[count] = tile;
    to.sums[count] = sum;
    count += sum <= most ? 1 : 0;
  }
  to.tiles.resize(count);
  to.sums.resize(count);
}

}  // namespace mapsim::exact
