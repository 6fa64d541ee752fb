// SPDX-License-Identifier: Apache-2.0
#include "mapper/balanced/search.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <queue>

#include "costmodel/crossing.hpp"
#include "costmodel/evaluate.hpp"
#include "mapper/balanced/care.hpp"
#include "mapper/balanced/labels.hpp"
#include "mapper/balanced/rebuild.hpp"
#include "mapper/balanced/relaxation.hpp"

namespace mapsim::balanced {

using exact::Key;
using exact::kInfinity;
using exact::Node;
using exact::Skeleton;
using exact::Step;

namespace {

// What one search may take: doubles of the relaxation (1.6 GB) and labels (about 2 GB).
constexpr std::size_t kMostNodes = 200'000'000;
constexpr std::size_t kMostLabels = 10'000'000;

// Drops the last bits of the mantissa, so that rounding noise does not order what is equal.
double without_noise(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0x3FF});
}

bool within(DimSet inner, DimSet outer) { return (inner & outer) == inner; }

struct Queued {
  Key key;
  Labels::Id label = 0;
  friend bool operator<(const Queued& a, const Queued& b) {
    return a.key != b.key ? a.key > b.key : a.label < b.label;
  }
};

class Search {
 public:
  Search(const Skeleton& skeleton, const UnrollingGroup& group, const Objective& objective,
         std::size_t most = Tiles::kAll)
      : skeleton_{skeleton},
        objective_{objective},
        tiles_{skeleton.space(), group, skeleton.used(), most},
        chains_{tiles_},
        flows_{skeleton.problem().workload(), tiles_, chains_},
        components_{
            exact::tracked(skeleton.problem(), objective).ports ? 1 + skeleton.ports().size() : 1},
        valuation_{skeleton, objective, 0} {
    for (const exact::Placing& placing : skeleton.placings()) {
      terms_.push_back(
          make_terms(skeleton, tiles_, placing, exact::tracked(skeleton.problem(), objective)));
    }
    for (const exact::Room& room : skeleton.rooms()) {
      const bool carried = room.contended && room.bits < kInfinity;
      slot_of_room_.push_back(carried ? std::optional{components_ + rooms_++} : std::nullopt);
    }
    labels_ = Labels{components_ + rooms_};
    scratch_.resize(components_ + 1);
  }

  // What the relaxation says.
  Key root() {
    relaxation_.emplace(skeleton_, tiles_, terms_, components_);
    start();
    return queue_.empty() ? Key{} : queue_.top().key;
  }

  Outcome run(const exact::Quest& quest, const exact::Patience& patience) {
    Outcome outcome;
    const std::size_t rows = skeleton_.phases() * skeleton_.pointers();
    if (tiles_.size() * rows > kMostNodes / components_) {
      outcome.complete = false;
      outcome.bound = {0, 0};
      return outcome;
    }
    relaxation_.emplace(skeleton_, tiles_, terms_, components_);
    outcome.states = static_cast<std::int64_t>(relaxation_->nodes());
    limit_ = quest.limit;
    care_ = dims_that_matter(skeleton_, tiles_);
    start();
    outcome.bound = queue_.empty() ? Key{} : queue_.top().key;
    outcome.root = outcome.bound;
    outcome.searched = !queue_.empty();
    std::int64_t told = 0;
    while (!queue_.empty()) {
      const Queued top = queue_.top();
      queue_.pop();
      if (exact::beyond(top.key, limit_)) {
        break;
      }
      if (labels_[top.label].dominated) {
        continue;
      }
      outcome.bound = top.key;
      if ((outcome.labels & 0xFF) == 0 && quest.tick && outcome.labels > told) {
        quest.tick(outcome.bound, outcome.labels - told);
        told = outcome.labels;
      }
      if (((outcome.labels & 0xFF) == 0 && patience.over()) || outcome.labels >= quest.labels ||
          labels_.size() > kMostLabels) {
        outcome.complete = false;
        keep_best(outcome);
        return outcome;
      }
      if (labels_[top.label].step.kind == Step::Kind::kEnd) {
        keep_best(outcome);
        return outcome;
      }
      ++outcome.labels;
      expand(top.label);
    }
    outcome.bound = std::max(outcome.bound, limit_);
    return outcome;
  }

 private:
  const Workload& workload() const { return skeleton_.problem().workload(); }
  DimSet dims_of(TensorId t) const { return workload().tensors[t].dims(); }

  void keep_best(Outcome& outcome) const {
    if (best_ != Labels::kNone) {
      outcome.best = rebuild(skeleton_, tiles_, labels_.trace(best_));
      outcome.key = best_key_;
    }
  }

  void start() {
    for (const std::size_t pointers : skeleton_.starts()) {
      Label label;
      label.step = {Step::Kind::kStart, {0, pointers, tiles_.size() - 1}, 0};
      label.chains = PerDim<Chains::Id>(tiles_.dims(), chains_.none());
      label.steps = steps_of(label.chains, 0);
      const Labels::Id id = labels_.add(label);
      double* values = labels_.values(id);
      bool fits = true;
      for (const TensorId t : workload().tensors.ids()) {
        fits = fits && occupy_start(t, pointers, values);
      }
      if (fits) {
        offer();
      } else {
        labels_.retract();
      }
    }
  }

  // The outermost level holds every tensor whole.
  bool occupy_start(TensorId t, std::size_t pointers, double* values) {
    const Tensor& tensor = workload().tensors[t];
    const bool narrow = skeleton_.stop(pointers, t).narrow;
    const double bits = static_cast<double>(footprint(tensor, bounds_of(workload()))) *
                        static_cast<double>((narrow ? tensor.bits : tensor.partial_bits).count());
    for (std::size_t r = 0; r < slot_of_room_.size(); ++r) {
      const exact::Room& room = skeleton_.rooms()[r];
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

  // Temporal steps of the first instance, fanouts from `fanout` on still to be crossed: at least.
  double steps_of(const PerDim<Chains::Id>& chains, std::size_t fanout) {
    double product = 1;
    for (const DimId d : chains.ids()) {
      std::int64_t steps = flows_.steps(d, chains[d]);
      for (std::size_t f = fanout; f < tiles_.used().size(); ++f) {
        steps = (steps + tiles_.factor(f, d) - 1) / tiles_.factor(f, d);
      }
      product *= static_cast<double>(steps);
    }
    return product;
  }

  Key key_of(const double* components, double steps) const {
    return valuation_.key(
        components, steps * static_cast<double>(skeleton_.problem().arch().compute.issue_interval));
  }

  // Puts the newest label into the queue, or takes it back.
  void offer() {
    const auto id = static_cast<Labels::Id>(labels_.size()) - 1;
    const Label& label = labels_.newest();
    const double* values = labels_.values(id);
    for (std::size_t k = 0; k < components_; ++k) {
      scratch_[k] = values[k];
      if (label.step.kind != Step::Kind::kEnd) {
        scratch_[k] += relaxation_->at(label.step.node, k);
      }
    }
    scratch_[components_] = 0;  // edges are not counted, which is a bound
    Key key = key_of(scratch_.data(), label.steps);
    if (!(key.first < kInfinity) || exact::beyond(key, limit_)) {
      labels_.retract();
      return;
    }
    if (label.step.kind == Step::Kind::kEnd) {
      key = std::max(key, true_key(id));
      if (!(key.first < kInfinity) || exact::beyond(key, limit_)) {
        labels_.retract();
        return;
      }
      if (best_ == Labels::kNone || key < best_key_) {
        best_ = id;
        best_key_ = key;
      }
      limit_ = std::min(limit_, key);
    } else if (labels_.newest_is_dominated()) {
      labels_.retract();
      return;
    }
    queue_.push({{without_noise(key.first), without_noise(key.second)}, id});
  }

  // Of the mapping itself.
  Key true_key(Labels::Id id) const {
    const Evaluation evaluation =
        evaluate(skeleton_.problem(), rebuild(skeleton_, tiles_, labels_.trace(id)));
    const Cost* cost = std::get_if<Cost>(&evaluation);
    if (cost == nullptr || !is_within_limits(objective_, *cost)) {
      return {};
    }
    return key_of_cost(objective_, *cost);
  }

  void expand(Labels::Id id) {
    const Label from = labels_[id];
    const Node at = from.step.node;
    if (at.phase + 1 < skeleton_.phases()) {
      cross(id, from);
    } else if (at.tile == 0 && skeleton_.end(at.pointers)) {
      end(id, from);
    }
    const DimSet frozen = skeleton_.frozen(at.phase, at.pointers);
    for (std::size_t i = from.next_dim; i < tiles_.dims(); ++i) {
      const auto d = static_cast<DimId>(i);
      if (!frozen.contains(d) && !from.settled.contains(d) && tiles_.digit(d, at.tile) > 0) {
        Label next = after(id, from, {Step::Kind::kLoop, at, 0});
        next.step.node.tile -= tiles_.stride(d);
        next.since = from.placed ? DimSet{} : from.since;
        next.since.insert(d);
        next.placed = false;
        next.at_point = false;
        next.run = Run::kNone;
        next.next_dim = i;
        labels_.add(next);
        offer();
      }
    }
    place(id, from);
    jump(id, from);
  }

  static Label after(Labels::Id id, const Label& from, Step step) {
    Label next = from;
    next.step = step;
    next.before = id;
    next.dominated = false;
    next.next = Labels::kNone;
    next.next_dim = 0;
    return next;
  }

  void end(Labels::Id id, const Label& from) {
    labels_.add(after(id, from, {Step::Kind::kEnd, from.step.node, 0}));
    double* values = labels_.values(static_cast<Labels::Id>(labels_.size()) - 1);
    values[0] +=
        skeleton_.problem().mac_energy().count() * static_cast<double>(skeleton_.problem().macs());
    for (const std::size_t placing : *skeleton_.end(from.step.node.pointers)) {
      Flow flow;
      flows_.at(terms_[placing], 0, from.chains, {}, flow);
      if (!account(terms_[placing], flow, components_, values, 1)) {
        labels_.retract();
        return;
      }
    }
    offer();
  }

  // A point stands here: chains go on to the tile.
  void settle_point(Label& label) {
    for (const DimId d : label.chains.ids()) {
      label.chains[d] = chains_.loop(d, label.chains[d], tiles_.extent(d, label.step.node.tile));
    }
    label.at_point = true;
    label.placed = true;
  }

  void forget(Label& label) {
    const Node& at = label.step.node;
    const DimSet care = care_[at.phase * skeleton_.pointers() + at.pointers];
    for (const DimId d : label.chains.ids()) {
      if (!care.contains(d)) {
        label.chains[d] = chains_.forget_loops(d, label.chains[d]);
      }
    }
  }

  void cross(Labels::Id id, const Label& from) {
    const Node at = from.step.node;
    const exact::Event& event = skeleton_.event_after(at.phase);
    Label next = after(id, from, {Step::Kind::kCross, at, 0});
    bool is_point = event.fanout.has_value();
    for (const TensorId t : workload().tensors.ids()) {
      const exact::Stop& stop = skeleton_.stop(at.pointers, t);
      is_point = is_point || (!stop.latch && stop.level == event.level);
    }
    if (is_point) {
      settle_point(next);
      next.since = {};
      next.settled = {};
    }
    next.run = Run::kNone;
    ++next.step.node.phase;
    if (event.fanout) {
      const std::size_t tile = tiles_.cross(*event.fanout, at.tile);
      if (tile == Tiles::kNone) {
        return;
      }
      next.step.node.tile = tile;
      for (const DimId d : next.chains.ids()) {
        next.chains[d] = chains_.cross(d, next.chains[d], *event.fanout);
      }
      next.steps = std::max(next.steps, steps_of(next.chains, *event.fanout + 1));
    }
    forget(next);
    labels_.add(next);
    double* values = labels_.values(static_cast<Labels::Id>(labels_.size()) - 1);
    for (std::size_t r = 0; r < slot_of_room_.size(); ++r) {
      if (slot_of_room_[r] && skeleton_.rooms()[r].last_phase <= at.phase) {
        values[*slot_of_room_[r]] = 0;  // nothing more can come here
      }
    }
    offer();
  }

  // Adds a placing's costs and room to the newest label; false: it does not fit.
  bool pay(std::size_t placing, std::size_t tile, const PerDim<Chains::Id>& chains, Run run) {
    double* values = labels_.values(static_cast<Labels::Id>(labels_.size()) - 1);
    const Terms& terms = terms_[placing];
    const double bits = relaxation_->bits(placing)[tile];
    Flow flow;
    if (!(bits < kInfinity) || bits > terms.limit || !flows_.at(terms, tile, chains, run, flow) ||
        !account(terms, flow, components_, values, 1)) {
      return false;
    }
    if (flow.is_bound || terms.owes) {
      std::vector<std::size_t> debt{labels_.newest().owed, placing, tile, run.dim};
      debt.insert(debt.end(), chains.begin(), chains.end());
      labels_.newest().owed = debts_.try_emplace(debt, debts_.size() + 1).first->second;
    }
    const auto room = skeleton_.room_of(skeleton_.placings()[placing]);
    if (room && slot_of_room_[*room]) {
      double& used = values[*slot_of_room_[*room]];
      used += bits;
      return used <= skeleton_.rooms()[*room].bits;
    }
    return true;
  }

  // Does a keep of this placing stand where it is placed?
  bool stands_here(std::size_t placing, std::size_t phase) const {
    const exact::Placing& of = skeleton_.placings()[placing];
    const exact::Stop& stop = skeleton_.stops(of.tensor)[of.to];
    return !stop.latch && stop.phase == phase;
  }

  void place(Labels::Id id, const Label& from) {
    const Node at = from.step.node;
    const auto& places = skeleton_.places(at.phase, at.pointers);
    for (std::size_t m = 0; m < places.size(); ++m) {
      const std::size_t placing = places[m].placing;
      const TensorId t = skeleton_.placings()[placing].tensor;
      const bool moved_last =
          from.run != Run::kNone && dims_of(t).contains(static_cast<DimId>(from.run));
      if (!moved_last && !within(from.since, dims_of(t))) {
        continue;  // as good above the loop that does not move it, or better
      }
      Label next = after(id, from, {Step::Kind::kPlace, {at.phase, places[m].target, at.tile}, m});
      next.settled = next.at_point ? next.settled : DimSet{};
      next.placed = true;
      if (stands_here(placing, at.phase)) {
        settle_point(next);
        next.settled = next.settled | single_dims(workload().tensors[t]);
      }
      forget(next);
      labels_.add(next);
      if (pay(placing, at.tile, from.chains, {})) {
        offer();
      } else {
        labels_.retract();
      }
    }
  }

  void jump(Labels::Id id, const Label& from) {
    const Node at = from.step.node;
    const auto& jumps = skeleton_.jumps(at.phase, at.pointers);
    for (std::size_t m = 0; m < jumps.size(); ++m) {
      const Skeleton::Jump& jump = jumps[m];
      const DimSet above = from.placed ? DimSet{} : from.since;
      bool possible =
          !above.contains(jump.dim) && !(above.empty() && from.settled.contains(jump.dim));
      bool stands = false;
      DimSet moving;
      for (const std::size_t placing : jump.placings) {
        moving = moving | dims_of(skeleton_.placings()[placing].tensor);
        stands = stands || stands_here(placing, at.phase);
      }
      possible = possible && within(above, moving);
      for (std::size_t rung = tiles_.digit(jump.dim, at.tile); possible && rung-- > 0;) {
        const std::size_t tile =
            at.tile - (tiles_.digit(jump.dim, at.tile) - rung) * tiles_.stride(jump.dim);
        Label next = after(id, from, {Step::Kind::kJump, {at.phase, jump.target, tile}, m});
        next.since = above;
        next.since.insert(jump.dim);
        next.run = index_of(jump.dim);
        next.at_point = false;
        next.settled = {};
        next.placed = true;
        if (stands) {
          settle_point(next);
        }
        forget(next);
        labels_.add(next);
        bool fits = true;
        for (const std::size_t placing : jump.placings) {
          fits = fits && pay(placing, tile, from.chains, {index_of(jump.dim)});
        }
        if (fits) {
          offer();
        } else {
          labels_.retract();
        }
      }
    }
  }

  const Skeleton& skeleton_;
  const Objective& objective_;
  Tiles tiles_;
  Chains chains_;
  ExactFlows flows_;
  std::size_t components_;
  std::size_t rooms_ = 0;
  exact::Valuation valuation_;
  std::vector<Terms> terms_;
  std::vector<std::optional<std::size_t>> slot_of_room_;
  std::optional<Relaxation> relaxation_;
  std::vector<DimSet> care_;  // per phase and pointers
  Labels labels_{0};
  std::map<std::vector<std::size_t>, std::size_t> debts_;
  std::vector<double> scratch_;
  std::priority_queue<Queued> queue_;
  Key limit_;
  Labels::Id best_ = Labels::kNone;
  Key best_key_;
};

}  // namespace

Key key_of_cost(const Objective& objective, const Cost& cost) {
  const auto latency = static_cast<double>(latency_of(objective.mode, cost.latency).count());
  return {objective_value(objective, cost),
          objective.latency_power == 0 ? latency : cost.energy.total.count()};
}

Outcome search_group(const Skeleton& skeleton, const UnrollingGroup& group,
                     const Objective& objective, const exact::Quest& quest,
                     const exact::Patience& patience) {
  return Search(skeleton, group, objective).run(quest, patience);
}

Key coarse_bound(const Skeleton& skeleton, const UnrollingGroup& group, const Objective& objective,
                 std::size_t most) {
  return Search(skeleton, group, objective, most).root();
}

}  // namespace mapsim::balanced
