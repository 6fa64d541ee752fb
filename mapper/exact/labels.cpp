// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/labels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <queue>

namespace mapsim::exact {

bool needs_time(const Problem& problem, Objective objective) {
  return objective != Objective::kEnergy || problem.leakage(Cycles{1}) > Picojoules{0};
}

Key Valuation::key(const double* components) const {
  double energy = components[0];
  if (!(energy < kInfinity)) {
    return {kInfinity, 0};
  }
  if (!timed_) {
    return {energy, 0};
  }
  double cycles = compute_cycles_;
  for (std::size_t q = 0; q < ports_.size(); ++q) {
    cycles = std::max(cycles, std::ceil(components[1 + q] / ports_[q].bits_per_cycle));
  }
  energy += leakage_per_cycle_ * cycles;
  switch (objective_) {
    case Objective::kEnergy:
      return {energy, cycles};
    case Objective::kLatency:
      return {cycles, energy};
    case Objective::kEdp:
      return {energy * cycles, energy};
  }
  return {};
}

Key root_key(const Skeleton& skeleton, const Unrolled& unrolled, const Bound& bound,
             const Valuation& valuation, std::size_t components) {
  Key best;
  std::vector<double> values(components);
  for (const std::size_t pointers : skeleton.starts()) {
    for (std::size_t k = 0; k < components; ++k) {
      values[k] = bound.at({0, pointers, unrolled.lattices.front().size() - 1}, k);
    }
    best = std::min(best, valuation.key(values.data()));
  }
  return best;
}

namespace {

// Drops the last bits of the mantissa, so that rounding noise does not order what is equal.
// Relative 2^-42: an optimum is one to 12 digits.
double without_noise(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0x3FF});
}

struct Label {
  Step step;
  std::int64_t before = -1;  // the label that it extends
  bool dominated = false;
};

struct Queued {
  Key key;
  std::int64_t label = 0;
  // std::priority_queue pops the largest: smaller keys first, of equal ones the newest.
  friend bool operator<(const Queued& a, const Queued& b) {
    return a.key != b.key ? a.key > b.key : a.label < b.label;
  }
};

class LabelSearch {
 public:
  LabelSearch(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs, const Bound& bound,
              const Valuation& valuation)
      : skeleton_{skeleton},
        unrolled_{unrolled},
        costs_{costs},
        bound_{bound},
        valuation_{valuation},
        components_{costs.components()},
        width_{components_},
        slot_of_room_(skeleton.rooms().size()),
        labels_at_(bound.nodes().size(), kNone) {
    for (std::size_t r = 0; r < skeleton.rooms().size(); ++r) {
      if (skeleton.rooms()[r].contended && skeleton.rooms()[r].bits < kInfinity) {
        slot_of_room_[r] = width_++;
      }
    }
    scratch_.resize(components_);
  }

  LabelResult run(Key limit, const std::atomic<bool>* stop) {
    LabelResult result;
    limit_ = limit;
    start();
    while (!queue_.empty()) {
      const Queued top = queue_.top();
      queue_.pop();
      if ((result.expanded & 0xFF) == 0 && stop != nullptr && stop->load()) {
        result.stopped = true;
        result.bound = top.key;
        return result;
      }
      if (beyond(top.key, limit_)) {
        break;
      }
      if (labels_[index(top.label)].dominated) {
        continue;
      }
      if (labels_[index(top.label)].step.kind == Step::Kind::kEnd) {
        result.key = valuation_.key(&values_[index(top.label) * width_]);
        result.bound = result.key;
        result.steps = trace(top.label);
        return result;
      }
      ++result.expanded;
      expand(top.label);
    }
    result.bound = limit_;
    return result;
  }

 private:
  static constexpr std::int64_t kNone = -1;
  static std::size_t index(std::int64_t label) { return static_cast<std::size_t>(label); }

  const Lattice& lattice(std::size_t phase) const {
    return unrolled_.lattices[skeleton_.crossed(phase)];
  }

  // A new label after `before`, with its values copied, to be amended and then offered.
  std::int64_t extend(std::int64_t before, Step step) {
    const auto id = static_cast<std::int64_t>(labels_.size());
    labels_.push_back({step, before, false});
    next_.push_back(kNone);
    values_.resize(values_.size() + width_);
    if (before >= 0) {
      std::copy_n(values_.begin() + before * static_cast<std::int64_t>(width_), width_,
                  values_.end() - static_cast<std::int64_t>(width_));
    }
    return id;
  }
  void retract() {
    labels_.pop_back();
    next_.pop_back();
    values_.resize(values_.size() - width_);
  }

  void start() {
    for (const std::size_t pointers : skeleton_.starts()) {
      const Node node{0, pointers, unrolled_.lattices.front().size() - 1};
      const std::int64_t id = extend(kNone, {Step::Kind::kStart, node, 0});
      double* values = &values_[index(id) * width_];
      bool fits = true;
      for (const TensorId t : skeleton_.problem().workload().tensors.ids()) {
        fits = fits && occupy_start(t, pointers, values);
      }
      if (fits) {
        offer(id);
      } else {
        retract();
      }
    }
  }

  // The outermost level holds every tensor whole.
  bool occupy_start(TensorId t, std::size_t pointers, double* values) {
    const Tensor& tensor = skeleton_.problem().workload().tensors[t];
    const bool narrow = skeleton_.stop(pointers, t).narrow;
    const PerDim<std::int64_t> bounds = bounds_of(skeleton_.problem().workload());
    const double bits = static_cast<double>(footprint(tensor, bounds)) *
                        static_cast<double>((narrow ? tensor.bits : tensor.partial_bits).count());
    for (std::size_t r = 0; r < slot_of_room_.size(); ++r) {
      const Room& room = skeleton_.rooms()[r];
      if (room.level != LevelId{0} || (room.role && *room.role != tensor.role)) {
        continue;
      }
      const double used = bits + (slot_of_room_[r] ? values[*slot_of_room_[r]] : 0);
      if (used > room.bits) {
        return false;
      }
      if (slot_of_room_[r]) {
        values[*slot_of_room_[r]] = used;
      }
    }
    return true;
  }

  void offer(std::int64_t id) {
    Label& label = labels_[index(id)];
    const double* values = &values_[index(id) * width_];
    for (std::size_t k = 0; k < components_; ++k) {
      scratch_[k] = values[k];
      if (label.step.kind != Step::Kind::kEnd) {
        scratch_[k] += bound_.at(label.step.node, k);
      }
    }
    Key key = valuation_.key(scratch_.data());
    if (!(key.first < kInfinity) || beyond(key, limit_)) {
      retract();
      return;
    }
    key = {without_noise(key.first), without_noise(key.second)};
    if (label.step.kind == Step::Kind::kEnd) {
      limit_ = std::min(limit_, key);
    } else if (dominated(id)) {
      retract();
      return;
    }
    queue_.push({key, id});
  }

  // Is there a label at the same node that has paid no more and uses no more? If not, the new one
  // joins the node's list and strikes out what it dominates.
  bool dominated(std::int64_t id) {
    std::int64_t& head = labels_at_[bound_.nodes().at(labels_[index(id)].step.node)];
    for (std::int64_t other = head; other != kNone; other = next_[index(other)]) {
      if (!labels_[index(other)].dominated && no_worse(other, id)) {
        return true;
      }
    }
    for (std::int64_t other = head; other != kNone; other = next_[index(other)]) {
      if (!labels_[index(other)].dominated && no_worse(id, other)) {
        labels_[index(other)].dominated = true;
      }
    }
    next_[index(id)] = head;
    head = id;
    return false;
  }
  bool no_worse(std::int64_t a, std::int64_t b) const {
    const double* x = &values_[index(a) * width_];
    const double* y = &values_[index(b) * width_];
    if (x[0] > y[0] * (1 + 1e-13)) {
      return false;
    }
    for (std::size_t k = 1; k < width_; ++k) {
      if (x[k] > y[k]) {
        return false;
      }
    }
    return true;
  }

  void expand(std::int64_t id) {
    const Node at = labels_[index(id)].step.node;
    if (at.phase + 1 < skeleton_.phases()) {
      cross_event(id, at);
    } else {
      end(id, at);
    }
    const DimSet frozen = skeleton_.frozen(at.phase, at.pointers);
    for (std::size_t d = 0; d < lattice(at.phase).dims(); ++d) {
      if (!frozen.contains(static_cast<DimId>(d))) {
        loop(id, at, static_cast<DimId>(d));
      }
    }
    place(id, at);
    jump(id, at);
  }

  void end(std::int64_t id, const Node& at) {
    const auto& ones = lattice(at.phase).ones();
    if (!skeleton_.end(at.pointers) || !std::binary_search(ones.begin(), ones.end(), at.tile)) {
      return;
    }
    const std::vector<double> mac = costs_.mac(*skeleton_.end(at.pointers), at.tile);
    const std::int64_t last = extend(id, {Step::Kind::kEnd, at, 0});
    for (std::size_t k = 0; k < components_; ++k) {
      values_[index(last) * width_ + k] += mac[k];
    }
    offer(last);
  }

  void cross_event(std::int64_t id, const Node& at) {
    const std::int64_t next = extend(id, {Step::Kind::kCross, cross(skeleton_, unrolled_, at), 0});
    for (std::size_t r = 0; r < slot_of_room_.size(); ++r) {
      if (slot_of_room_[r] && skeleton_.rooms()[r].last_phase <= at.phase) {
        values_[index(next) * width_ + *slot_of_room_[r]] = 0;  // nothing more can come here
      }
    }
    offer(next);
  }

  void loop(std::int64_t id, const Node& at, DimId dim) {
    const Lattice& tiles = lattice(at.phase);
    const std::size_t digit = tiles.digit(dim, at.tile);
    for (const Lattice::Run& run : tiles.primes(dim)) {
      if (run.from == digit) {
        const std::size_t tile = at.tile - (run.from - run.to) * tiles.stride(dim);
        offer(extend(id, {Step::Kind::kLoop, {at.phase, at.pointers, tile}, 0}));
      }
    }
  }

  // Adds a placing's costs and room to label `id`; false: it does not fit.
  bool pay(std::int64_t id, std::size_t placing, const double* cost, std::size_t step,
           std::size_t tile) {
    double* values = &values_[index(id) * width_];
    if (!(cost[0] < kInfinity)) {
      return false;
    }
    for (std::size_t k = 0; k < components_; ++k) {
      values[k] += cost[k * step];
    }
    const auto room = skeleton_.room_of(skeleton_.placings()[placing]);
    if (room && slot_of_room_[*room]) {
      double& used = values[*slot_of_room_[*room]];
      used += costs_.bits(placing)[tile];
      return used <= skeleton_.rooms()[*room].bits;
    }
    return true;
  }

  void place(std::int64_t id, const Node& at) {
    const auto& places = skeleton_.places(at.phase, at.pointers);
    for (std::size_t m = 0; m < places.size(); ++m) {
      const std::int64_t next =
          extend(id, {Step::Kind::kPlace, {at.phase, places[m].target, at.tile}, m});
      const std::vector<double>& cost = costs_.plain(places[m].placing);
      if (pay(next, places[m].placing, &cost[at.tile], lattice(at.phase).size(), at.tile)) {
        offer(next);
      } else {
        retract();
      }
    }
  }

  void jump(std::int64_t id, const Node& at) {
    const auto& jumps = skeleton_.jumps(at.phase, at.pointers);
    const Lattice& tiles = lattice(at.phase);
    for (std::size_t m = 0; m < jumps.size(); ++m) {
      const DimId dim = jumps[m].dim;
      const std::size_t digit = tiles.digit(dim, at.tile);
      const auto& runs = tiles.runs(dim);
      const std::size_t rests = tiles.size() / tiles.positions(dim).size();
      for (std::size_t run = 0; run < runs.size(); ++run) {
        if (runs[run].from != digit) {
          continue;
        }
        const std::size_t tile = at.tile - (digit - runs[run].to) * tiles.stride(dim);
        const std::int64_t next =
            extend(id, {Step::Kind::kJump, {at.phase, jumps[m].target, tile}, m});
        bool fits = true;
        for (const std::size_t placing : jumps[m].placings) {
          const double* cost = &costs_.sliding(placing, dim)[run * rests + tiles.rest(dim, tile)];
          fits = fits && pay(next, placing, cost, runs.size() * rests, tile);
        }
        if (fits) {
          offer(next);
        } else {
          retract();
        }
      }
    }
  }

  std::vector<Step> trace(std::int64_t id) const {
    std::vector<Step> steps;
    for (; id != kNone; id = labels_[index(id)].before) {
      steps.push_back(labels_[index(id)].step);
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  const Skeleton& skeleton_;
  const Unrolled& unrolled_;
  Costs& costs_;
  const Bound& bound_;
  const Valuation& valuation_;
  std::size_t components_;
  std::size_t width_;  // values of a label: components, then bits used of contended rooms
  std::vector<std::optional<std::size_t>> slot_of_room_;
  std::vector<std::int64_t> labels_at_;  // per node: head of its list
  std::vector<std::int64_t> next_;
  std::vector<Label> labels_;
  std::vector<double> values_;
  std::vector<double> scratch_;
  std::priority_queue<Queued> queue_;
  Key limit_;
};

}  // namespace

LabelResult search_labels(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
                          const Bound& bound, const Valuation& valuation, Key limit,
                          const std::atomic<bool>* stop) {
  return LabelSearch(skeleton, unrolled, costs, bound, valuation).run(limit, stop);
}

}  // namespace mapsim::exact
