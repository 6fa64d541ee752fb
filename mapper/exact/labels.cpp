// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/labels.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <queue>

namespace mapsim::exact {

namespace {

// Drops the last bits of the mantissa, so that rounding noise does not order what is equal.
// Relative 2^-42: an optimum is one to 12 digits.
double without_noise(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0x3FF});
}

struct Queued {
  Key key;
  LabelStore::Id label = 0;
  // std::priority_queue pops the largest: smaller keys first, of equal ones the newest.
  friend bool operator<(const Queued& a, const Queued& b) {
    return a.key != b.key ? a.key > b.key : a.label < b.label;
  }
};

class LabelSearch {
 public:
  explicit LabelSearch(Instance& instance)
      : skeleton_{instance.skeleton},
        unrolled_{instance.unrolled},
        costs_{instance.costs},
        bound_{instance.bound},
        valuation_{instance.valuation},
        components_{costs_.components()},
        slot_of_room_(slots(skeleton_, components_)),
        labels_(bound_.nodes().size(), components_ + rooms_carried()),
        scratch_(components_) {}

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
      if (labels_.is_dominated(top.label)) {
        continue;
      }
      if (labels_.step(top.label).kind == Step::Kind::kEnd) {
        result.key = valuation_.key(labels_.values(top.label));
        result.bound = result.key;
        result.steps = labels_.trace(top.label);
        return result;
      }
      ++result.expanded;
      expand(top.label);
    }
    result.bound = limit_;
    return result;
  }

 private:
  // Where a label's values have what is used of each contended room.
  static std::vector<std::optional<std::size_t>> slots(const Skeleton& skeleton, std::size_t next) {
    std::vector<std::optional<std::size_t>> slots;
    for (const Room& room : skeleton.rooms()) {
      const bool carried = room.contended && room.bits < kInfinity;
      slots.push_back(carried ? std::optional{next++} : std::nullopt);
    }
    return slots;
  }
  std::size_t rooms_carried() const {
    return static_cast<std::size_t>(
        std::count_if(slot_of_room_.begin(), slot_of_room_.end(),
                      [](const std::optional<std::size_t>& slot) { return slot.has_value(); }));
  }

  const Lattice& lattice(std::size_t phase) const {
    return unrolled_.lattices[skeleton_.crossed(phase)];
  }

  void start() {
    for (const std::size_t pointers : skeleton_.starts()) {
      const Node node{0, pointers, unrolled_.lattices.front().size() - 1};
      const LabelStore::Id id = labels_.extend(LabelStore::kNone, {Step::Kind::kStart, node, 0});
      double* values = labels_.values(id);
      bool fits = true;
      for (const TensorId t : skeleton_.problem().workload().tensors.ids()) {
        fits = fits && occupy_start(t, pointers, values);
      }
      if (fits) {
        offer(id);
      } else {
        labels_.retract();
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

  void offer(LabelStore::Id id) {
    const Step step = labels_.step(id);
    const double* values = labels_.values(id);
    for (std::size_t k = 0; k < components_; ++k) {
      scratch_[k] = values[k];
      if (step.kind != Step::Kind::kEnd) {
        scratch_[k] += bound_.at(step.node, k);
      }
    }
    Key key = valuation_.key(scratch_.data());
    if (!(key.first < kInfinity) || beyond(key, limit_)) {
      labels_.retract();
      return;
    }
    key = {without_noise(key.first), without_noise(key.second)};
    if (step.kind == Step::Kind::kEnd) {
      limit_ = std::min(limit_, key);
    } else if (labels_.dominated(id, bound_.nodes().at(step.node))) {
      labels_.retract();
      return;
    }
    queue_.push({key, id});
  }

  void expand(LabelStore::Id id) {
    const Node at = labels_.step(id).node;
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

  void end(LabelStore::Id id, const Node& at) {
    const auto& ones = lattice(at.phase).ones();
    if (!skeleton_.end(at.pointers) || !std::binary_search(ones.begin(), ones.end(), at.tile)) {
      return;
    }
    const std::vector<double> mac = costs_.mac(*skeleton_.end(at.pointers), at.tile);
    const LabelStore::Id last = labels_.extend(id, {Step::Kind::kEnd, at, 0});
    for (std::size_t k = 0; k < components_; ++k) {
      labels_.values(last)[k] += mac[k];
    }
    offer(last);
  }

  void cross_event(LabelStore::Id id, const Node& at) {
    const LabelStore::Id next =
        labels_.extend(id, {Step::Kind::kCross, cross(skeleton_, unrolled_, at), 0});
    for (std::size_t r = 0; r < slot_of_room_.size(); ++r) {
      if (slot_of_room_[r] && skeleton_.rooms()[r].last_phase <= at.phase) {
        labels_.values(next)[*slot_of_room_[r]] = 0;  // nothing more can come here
      }
    }
    offer(next);
  }

  void loop(LabelStore::Id id, const Node& at, DimId dim) {
    const Lattice& tiles = lattice(at.phase);
    const std::size_t digit = tiles.digit(dim, at.tile);
    for (const Lattice::Run& run : tiles.primes(dim)) {
      if (run.from == digit) {
        const std::size_t tile = at.tile - (run.from - run.to) * tiles.stride(dim);
        offer(labels_.extend(id, {Step::Kind::kLoop, {at.phase, at.pointers, tile}, 0}));
      }
    }
  }

  // Adds a placing's costs and room to label `id`; false: it does not fit.
  bool pay(LabelStore::Id id, std::size_t placing, const double* cost, std::size_t step,
           std::size_t tile) {
    double* values = labels_.values(id);
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

  void place(LabelStore::Id id, const Node& at) {
    const auto& places = skeleton_.places(at.phase, at.pointers);
    for (std::size_t m = 0; m < places.size(); ++m) {
      const LabelStore::Id next =
          labels_.extend(id, {Step::Kind::kPlace, {at.phase, places[m].target, at.tile}, m});
      const std::vector<double>& cost = costs_.plain(places[m].placing);
      if (pay(next, places[m].placing, &cost[at.tile], lattice(at.phase).size(), at.tile)) {
        offer(next);
      } else {
        labels_.retract();
      }
    }
  }

  void jump(LabelStore::Id id, const Node& at) {
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
        const LabelStore::Id next =
            labels_.extend(id, {Step::Kind::kJump, {at.phase, jumps[m].target, tile}, m});
        bool fits = true;
        for (const std::size_t placing : jumps[m].placings) {
          const double* cost = &costs_.sliding(placing, dim)[run * rests + tiles.rest(dim, tile)];
          fits = fits && pay(next, placing, cost, runs.size() * rests, tile);
        }
        if (fits) {
          offer(next);
        } else {
          labels_.retract();
        }
      }
    }
  }

  const Skeleton& skeleton_;
  const Unrolled& unrolled_;
  Costs& costs_;
  const Bound& bound_;
  const Valuation& valuation_;
  std::size_t components_;
  std::vector<std::optional<std::size_t>> slot_of_room_;
  LabelStore labels_;
  std::vector<double> scratch_;
  std::priority_queue<Queued> queue_;
  Key limit_;
};

}  // namespace

LabelResult search_labels(Instance& instance, Key limit, const std::atomic<bool>* stop) {
  return LabelSearch(instance).run(limit, stop);
}

}  // namespace mapsim::exact
