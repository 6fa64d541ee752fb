// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/beam_search.hpp"

#include <algorithm>
#include <compare>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "mapper/label_search/steps.hpp"

namespace mapsim::exact {

namespace {

// Beam widths. In four of five searches the narrow beam finds a nest within some percent of the
// best. Where its energy is far above the bound at the start, the wide beam is worth its time.
constexpr std::size_t kNarrow = 4;
constexpr std::size_t kWide = 16;
constexpr double kFar = 1.3;

class Beam {
 public:
  Beam(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
       const PerTensorBound& per_tensor, const PathObjective& path_objective)
      : graph_{graph},
        unrolled_{unrolled},
        costs_{costs},
        per_tensor_{per_tensor},
        path_objective_{path_objective} {
    for (const BoundaryEdge& edge : graph.edges()) {
      capacity_of_.push_back(graph.capacity_of(edge));
    }
  }

  // The nest with the least key at an end. Sets least_ and promised_.
  BeamNest run(std::size_t width) {
    best_ = BeamNest{};
    least_ = {kInfinity, kInfinity};
    trail_.clear();
    std::vector<Label> labels;
    for (const std::size_t residency : graph_.starts()) {
      const Node node{0, residency, unrolled_.lattices.front().size() - 1};
      labels.push_back({node,
                        {0, per_tensor_.to_go(0, residency, node.tile)},
                        std::vector<double>(costs_.components() + graph_.capacities().size()),
                        leave_mark({Step::Kind::kStart, node, 0}, kNoMark)});
    }
    promised_ = kInfinity;
    for (const Label& label : labels) {
      promised_ = std::min(promised_, label.estimate.energy);
    }
    while (!labels.empty()) {
      keep_best(labels, width);
      next_.clear();
      for (const Label& label : labels) {
        expand(label);
      }
      std::swap(labels, next_);
    }
    return best_;
  }
  bool is_far() const { return least_.energy > kFar * promised_; }

 private:
  struct Estimate {
    // Objective of the latency so far, if the objective is latency alone; otherwise 0
    double time = 0;
    double energy = 0;  // of the whole nest [pJ]
    friend auto operator<=>(const Estimate&, const Estimate&) = default;
  };
  struct Label {
    Node node;
    Estimate estimate;
    std::vector<double> values;  // components of the cost so far, then bits used of each capacity
    std::size_t mark = 0;        // index in the trail
  };
  struct Mark {
    Step step;
    std::size_t before = 0;
  };
  static constexpr std::size_t kNoMark = static_cast<std::size_t>(-1);

  std::size_t leave_mark(const Step& step, std::size_t before) {
    trail_.push_back({step, before});
    return trail_.size() - 1;
  }
  std::vector<Step> trace(std::size_t mark) const {
    std::vector<Step> steps;
    for (; mark != kNoMark; mark = trail_[mark].before) {
      steps.push_back(trail_[mark].step);
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  static bool before(const Label& a, const Label& b) {
    return std::tie(a.estimate, a.node.residency, a.node.tile, a.node.stage) <
           std::tie(b.estimate, b.node.residency, b.node.tile, b.node.stage);
  }
  static bool is_same(const Label& a, const Label& b) {
    return a.node.stage == b.node.stage && a.node.residency == b.node.residency &&
           a.node.tile == b.node.tile;
  }

  // Keeps the best labels, at most one per node.
  static void keep_best(std::vector<Label>& labels, std::size_t width) {
    std::sort(labels.begin(), labels.end(), before);
    std::vector<Label> kept;
    for (Label& label : labels) {
      const bool known = std::any_of(kept.begin(), kept.end(),
                                     [&](const Label& other) { return is_same(label, other); });
      if (!known && kept.size() < width) {
        kept.push_back(std::move(label));
      }
    }
    labels = std::move(kept);
  }

  void expand(const Label& label) {
    const auto of_interest = [this](const Node& node) {
      return per_tensor_.to_go(node.stage, node.residency, node.tile) < kInfinity;
    };
    for_each_move(graph_, unrolled_, costs_, label.node, of_interest,
                  [&](const Step& step, std::span<const StepCost> costs_of_edges) {
                    const bool ends = step.kind == Step::Kind::kEnd;
                    const Node& to = step.node;
                    double energy = label.values[0];
                    for (const StepCost& step_cost : costs_of_edges) {
                      energy += step_cost.cost[0];
                    }
                    const double whole =
                        energy + (ends ? 0 : per_tensor_.to_go(to.stage, to.residency, to.tile));
                    if (Estimate{label.estimate.time, whole} < least_) {
                      follow(label, step, whole, costs_of_edges);
                    }
                  });
  }

  // `energy`: the estimate for the whole nest [pJ].
  void follow(const Label& label, const Step& step, double energy,
              std::span<const StepCost> costs_of_edges) {
    std::vector<double> values = label.values;
    const std::size_t components = costs_.components();
    for (const StepCost& step_cost : costs_of_edges) {
      for (std::size_t k = 0; k < components; ++k) {
        values[k] += step_cost.cost[k * step_cost.step];
      }
      if (step_cost.edge == BoundaryEdge::kMac || !capacity_of_[step_cost.edge]) {
        continue;
      }
      const std::size_t capacity = *capacity_of_[step_cost.edge];
      double& used = values[components + capacity];
      used += costs_.bits(step_cost.edge)[step_cost.tile];
      if (used > graph_.capacities()[capacity].bits) {
        return;
      }
    }
    const bool is_timed = !path_objective_.objective().function.uses_energy();
    const Estimate estimate{is_timed ? path_objective_.key(values.data()).first : 0, energy};
    if (!(estimate < least_)) {
      return;
    }
    if (step.kind != Step::Kind::kEnd) {
      next_.push_back({step.node, estimate, std::move(values), leave_mark(step, label.mark)});
      return;
    }
    const ObjectiveKey key = path_objective_.key(values.data());
    if (key < best_.key) {
      best_ = {key, trace(leave_mark(step, label.mark))};
      least_ = estimate;
    }
  }

  const StateGraph& graph_;
  const Unrolled& unrolled_;
  EdgeCosts& costs_;
  const PerTensorBound& per_tensor_;
  const PathObjective& path_objective_;
  std::vector<std::optional<std::size_t>> capacity_of_;  // per edge
  std::vector<Label> next_;
  std::vector<Mark> trail_;
  BeamNest best_;
  Estimate least_;               // of the best nest
  double promised_ = kInfinity;  // least estimate at the start [pJ]
};

}  // namespace

BeamNest beam_search(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
                     const PerTensorBound& per_tensor, const PathObjective& path_objective) {
  for (const CapacityConstraint& capacity : graph.capacities()) {
    if (capacity.level == LevelId{0} && capacity.bits < kInfinity) {
      return {};
    }
  }
  Beam beam(graph, unrolled, costs, per_tensor, path_objective);
  BeamNest best = beam.run(kNarrow);
  if (beam.is_far()) {
    BeamNest wide = beam.run(kWide);
    best = wide.key < best.key ? std::move(wide) : std::move(best);
  }
  return best;
}

}  // namespace mapsim::exact
