// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "core/arithmetic.hpp"
#include "mapper/bounds/unrolling_bound.hpp"

// Bounds of residency patterns (docs/decisions/0050-residency-patterns.md).
//
// A bound that minimises each port by itself may use DRAM as one mapping does and the registers as
// another one does. If all ports are equally busy, it lies far below any mapping. For a fixed
// pattern, and a fixed choice of the tensor that moves furthest in at the serving level,
// UnrollingBound knows the least traffic of every boundary. So it bounds the energy and the bits of
// all ports for the same mappings at once, and the busiest port bounds the latency. Every step of
// UnrollingBound is monotone in the traffic and holds for any nonnegative weights. The busiest
// instance of a port moves at least the mean over the instances that the unrolling uses.

namespace mapsim::exact {

class UnrollingBound::Patterns {
 public:
  Patterns(UnrollingBound& bound, const std::vector<BoundWeights>& weights,
           const ObjectiveKeyOf& key_of, const Incumbent& known, bool first_only)
      : bound_{bound},
        weights_{weights},
        key_of_{key_of},
        known_{known},
        first_only_{first_only},
        tensors_(bound.paths_.size()),
        path_costs_(tensors_.size()),
        taken_(tensors_.size(), 0),
        sums_(tensors_.size() + 1) {
    for (const TensorId t : tensors_.ids()) {
      find_paths(t);
    }
  }

  std::vector<Pattern> find() {
    sums_.front() = vector_of([this] {
      return bound_.weights_.operations * bound_.macs_ * bound_.problem_.mac_energy().count();
    });
    choose(0);
    std::sort(found_.begin(), found_.end(),
              [](const Pattern& a, const Pattern& b) { return a.bound < b.bound; });
    return std::move(found_);
  }

 private:
  using Vector = std::vector<double>;  // one value per weights
  struct Path {
    std::vector<std::size_t> boundaries;  // of the paths
    std::size_t node = 0;                 // node that serves the compute units
    Vector but_last;  // accesses of the compute units and all boundaries but the last one
    Vector last;      // the last boundary, with the least traffic over it
  };
  struct PathCost {
    std::size_t path = 0;
    Vector cost;
  };

  template <class Cost>
  Vector vector_of(const Cost& cost) {
    Vector values;
    const BoundWeights energies = bound_.weights_;
    for (const BoundWeights& weights : weights_) {
      bound_.weights_ = weights;
      values.push_back(cost());
    }
    bound_.weights_ = energies;
    return values;
  }
  static void add(Vector& sum, const Vector& more) {
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k] += more[k];
    }
  }

  // Depth-first search over the boundaries of the paths.
  void find_paths(TensorId t) {
    Path path;
    path.but_last = Vector(weights_.size(), 0.0);
    path.last = path.but_last;
    extend(t, path);
  }
  void extend(TensorId t, const Path& path) {
    const TensorPaths& paths = bound_.paths_[t];
    if (paths.serves[path.node]) {
      Path whole = path;
      if (path.node != bound_.latch_) {
        add(whole.but_last, vector_of([&] { return bound_.accesses(t, path.node); }));
      }
      tensors_[t].push_back(std::move(whole));
    }
    for (std::size_t i = 0; i < paths.boundaries.size(); ++i) {
      const PathBoundary& boundary = paths.boundaries[i];
      if (boundary.from == path.node) {
        Path longer = path;
        longer.boundaries.push_back(i);
        longer.node = boundary.to;
        add(longer.but_last, path.last);
        longer.last = vector_of([&] {
          return bound_.boundary_cost(t, boundary, bound_.fills_at_least(t, boundary.to));
        });
        extend(t, longer);
      }
    }
  }

  // Chooses the serving nodes of the tensors from this one on.
  void choose(std::size_t tensor) {
    if (tensor == tensors_.size()) {
      bound_.for_each_order(
          [this](const Fills& fills, const std::vector<TensorId>&) { combine(fills); });
      return;
    }
    const auto t = static_cast<TensorId>(tensor);
    for (std::size_t node = 0; node <= bound_.latch_; ++node) {
      if (bound_.paths_[t].serves[node]) {
        bound_.chosen_[t] = {node, 0};
        choose(tensor + 1);
      }
    }
  }

  void combine(const Fills& fills) {
    for (const TensorId t : tensors_.ids()) {
      find_routes(t, fills[t]);
    }
    combine(0);
  }

  // The paths to the chosen node, across whose last boundary `fills` elements come.
  void find_routes(TensorId t, double fills) {
    path_costs_[t].clear();
    const std::size_t node = bound_.chosen_[t].node;
    const bool again = fills > bound_.fills_at_least(t, node);
    for (std::size_t p = 0; p < tensors_[t].size(); ++p) {
      const Path& path = tensors_[t][p];
      if (path.node != node) {
        continue;
      }
      PathCost path_cost{p, path.but_last};
      const bool more = again && !path.boundaries.empty();
      add(path_cost.cost, more ? vector_of([&] {
            return bound_.boundary_cost(t, bound_.paths_[t].boundaries[path.boundaries.back()],
                                        fills);
          })
                               : path.last);
      path_costs_[t].push_back(std::move(path_cost));
    }
    if (first_only_) {
      drop_dominated(path_costs_[t]);
    }
  }

  // Drops paths that another path dominates: the best pattern has none of them.
  static void drop_dominated(std::vector<PathCost>& path_costs) {
    const auto no_worse = [](const PathCost& a, const PathCost& b) {
      return std::equal(a.cost.begin(), a.cost.end(), b.cost.begin(),
                        [](double x, double y) { return x <= y; });
    };
    for (std::size_t i = 0; i < path_costs.size(); ++i) {
      const auto end =
          std::remove_if(path_costs.begin() + static_cast<std::ptrdiff_t>(i) + 1, path_costs.end(),
                         [&](const PathCost& other) { return no_worse(path_costs[i], other); });
      path_costs.erase(end, path_costs.end());
    }
  }

  void combine(std::size_t tensor) {
    const ObjectiveKey key = key_of_(sums_[tensor]);
    if (is_done_ || known_.rules_out(key)) {
      return;
    }
    if (tensor == tensors_.size()) {
      take(key);
      return;
    }
    for (const PathCost& path_cost : path_costs_[static_cast<TensorId>(tensor)]) {
      taken_[static_cast<TensorId>(tensor)] = path_cost.path;
      sums_[tensor + 1] = sums_[tensor];
      add(sums_[tensor + 1], path_cost.cost);
      combine(tensor + 1);
    }
  }

  // If several orders bound one pattern, the least of their keys counts.
  void take(const ObjectiveKey& key) {
    if (first_only_) {
      if (found_.empty() || key < found_.front().bound) {
        found_.assign(1, pattern(key));
        is_done_ = known_.is_front();
        known_.insert(key);
      }
      return;
    }
    const auto [entry, is_new] = indices_.try_emplace(taken_, found_.size());
    if (is_new) {
      found_.push_back(pattern(key));
      return;
    }
    ObjectiveKey& bound = found_[entry->second].bound;
    bound = known_.is_front()
                ? ObjectiveKey{std::min(bound.first, key.first), std::min(bound.second, key.second)}
                : std::min(bound, key);
  }
  Pattern pattern(const ObjectiveKey& key) const {
    Pattern pattern;
    pattern.bound = key;
    for (const TensorId t : tensors_.ids()) {
      const Path& path = tensors_[t][taken_[t]];
      pattern.serving.push_back(path.node);
      std::vector<PathBoundary> boundaries;
      for (const std::size_t boundary : path.boundaries) {
        boundaries.push_back(bound_.paths_[t].boundaries[boundary]);
      }
      pattern.boundaries.push_back(boundaries);
    }
    return pattern;
  }

  struct ByPaths {
    bool operator()(const PerTensor<std::size_t>& a, const PerTensor<std::size_t>& b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };

  UnrollingBound& bound_;
  const std::vector<BoundWeights>& weights_;
  const ObjectiveKeyOf& key_of_;
  Incumbent known_;
  bool first_only_;
  bool is_done_ = false;
  PerTensor<std::vector<Path>> tensors_;
  PerTensor<std::vector<PathCost>> path_costs_;
  PerTensor<std::size_t> taken_;  // path of each tensor
  std::vector<Vector> sums_;      // of the first tensors, per number of tensors
  std::vector<Pattern> found_;
  std::map<PerTensor<std::size_t>, std::size_t, ByPaths> indices_;  // in found_
};

std::vector<Pattern> UnrollingBound::patterns(const std::vector<BoundWeights>& weights,
                                              const ObjectiveKeyOf& key_of, const Incumbent& known,
                                              bool first_only) {
  return Patterns(*this, weights, key_of, known, first_only).find();
}

}  // namespace mapsim::exact
