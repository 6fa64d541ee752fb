// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/labels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "mapper/exact/prices.hpp"
#include "mapper/exact/room_use.hpp"

namespace mapsim::exact {

namespace {

// Drops the last bits of the mantissa, so that rounding noise does not order what is equal.
// Relative 2^-42: an optimum is one to 12 digits.
double without_noise(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0x3FF});
}

using Id = LabelStore::Id;

// Labels after which a search dives for the first time (then whenever they have doubled), and after
// which it prices the contended rooms, and so many nodes per label: ten passes of the bound are
// worth a long search only.
constexpr std::int64_t kDiveAfter = 1'000;
constexpr std::int64_t kPriceAfter = 2'000;
constexpr std::size_t kNodesPerLabel = 64;
constexpr double kGuess = 1.5;  // what the best needs, as often as the bound, until one is known
constexpr int kDives = 32;      // of those at one time, until one ends
constexpr std::int64_t kTick = 256;  // labels between two looks at the clock

class LabelSearch {
 public:
  LabelSearch(Instance& instance, const Quest& quest, const Patience& patience)
      : instance_{instance},
        skeleton_{instance.skeleton},
        quest_{quest},
        patience_{patience},
        components_{instance.costs.components()},
        rooms_(instance, quest.measured_room, components_ + (instance.array ? 1 : 0)),
        labels_(instance.bound.places(), rooms_.width()),
        scratch_(components_),
        limit_{quest.limit} {
    if (quest.covered) {
      for (const Staircase::Point& point : quest.covered->points()) {
        front_.insert(point.key, LabelStore::kNone);
      }
    }
  }

  LabelResult run() {
    start();
    std::int64_t next_dive = kDiveAfter;
    const std::int64_t price_at = quest_.price_after.value_or(std::max(
        kPriceAfter, static_cast<std::int64_t>(instance_.bound.nodes().size() / kNodesPerLabel)));
    while (!queue_.empty()) {
      const Queued top = pop();
      if (is_hopeless(top.key)) {
        if (quest_.covered) {
          continue;
        }
        break;
      }
      const bool ends = labels_.step(top.label).kind == Step::Kind::kEnd;
      if (ends && !quest_.covered) {
        return finish(top.key);
      }
      if (ends || labels_.is_dominated(top.label)) {
        continue;
      }
      if (is_over(top.key)) {
        push(top);
        if (!has_ending()) {
          dive();
        }
        stopped_ = true;
        return finish(top.key);
      }
      expand(top.label);
      if (expanded_ == next_dive) {
        dive();
        next_dive *= 2;
      }
      if (expanded_ >= price_at && !priced_) {
        price();
      }
    }
    return finish(limit_);
  }

 private:
  struct Queued {
    Key key;
    Id label = 0;
    // Heaps have the largest on top: smaller keys first, of equal ones the newest.
    friend bool operator<(const Queued& a, const Queued& b) {
      return a.key != b.key ? a.key > b.key : a.label < b.label;
    }
  };

  void push(const Queued& queued) {
    queue_.push_back(queued);
    std::push_heap(queue_.begin(), queue_.end());
  }
  Queued pop() {
    std::pop_heap(queue_.begin(), queue_.end());
    const Queued top = queue_.back();
    queue_.pop_back();
    return top;
  }

  bool is_hopeless(const Key& key) const {
    return !(key.first < kInfinity) || (quest_.covered ? front_.covers(key) : worse(key, limit_));
  }
  bool has_ending() const {
    return quest_.covered ? std::any_of(front_.points().begin(), front_.points().end(),
                                        [](const auto& p) { return p.tag != LabelStore::kNone; })
                          : best_ != LabelStore::kNone;
  }
  bool is_over(const Key& bound) {
    if (expanded_ >= quest_.labels) {
      return true;
    }
    if (expanded_ < next_tick_) {
      return false;
    }
    next_tick_ = expanded_ + kTick;
    if (quest_.tick) {
      quest_.tick(bound, expanded_ - ticked_);
      ticked_ = expanded_;
    }
    return patience_.over();
  }

  LabelResult finish(const Key& bound) const {
    LabelResult result{{}, bound, expanded_, stopped_};
    if (!quest_.covered && best_ != LabelStore::kNone) {
      result.endings.push_back({best_key_, labels_.trace(best_)});
    }
    for (const Staircase::Point& point : front_.points()) {
      if (point.tag != LabelStore::kNone) {
        result.endings.push_back({point.key, labels_.trace(point.tag)});
      }
    }
    return result;
  }

  void start() {
    for (const std::size_t pointers : skeleton_.starts()) {
      const Node node{0, pointers, instance_.unrolled.lattices.front().size() - 1};
      const Id id = labels_.extend(LabelStore::kNone, {Step::Kind::kStart, node, 0});
      if (instance_.array) {
        labels_.values(id)[components_] = kInfinity;
      }
      bool fits = true;
      for (const TensorId t : skeleton_.problem().workload().tensors.ids()) {
        fits = fits && occupy_start(t, pointers, labels_.values(id));
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
    for (std::size_t r = 0; r < skeleton_.rooms().size(); ++r) {
      const Room& room = skeleton_.rooms()[r];
      if (room.level != LevelId{0} || (room.role && *room.role != tensor.role)) {
        continue;
      }
      const double used = bits + (rooms_.slot(r) ? values[*rooms_.slot(r)] : 0);
      if (used > room.bits) {
        return false;
      }
      if (rooms_.slot(r)) {
        values[*rooms_.slot(r)] = used;
      }
    }
    return true;
  }

  // What the bounds leave of the mappings that go on from a label; valid until the next call.
  Outlook outlook_of(Id id) {
    const Step& step = labels_.step(id);
    const double* values = labels_.values(id);
    std::copy_n(values, components_, scratch_.begin());
    const double compute = compute_cycles(step, values);
    if (step.kind == Step::Kind::kEnd) {
      return instance_.valuation.outlook(scratch_.data(), compute);
    }
    for (std::size_t k = 0; k < components_; ++k) {
      scratch_[k] += instance_.bound.at(step.node, k);
    }
    Outlook outlook = instance_.valuation.outlook(scratch_.data(), compute);
    lines_.clear();
    for (const Prices& prices : prices_) {
      prices.narrow(step.node, values, refund(prices, step.node, values), outlook, lines_);
    }
    outlook.lines = lines_;
    return outlook;
  }
  // The price of what may still come to the rooms.
  double refund(const Prices& prices, const Node& node, const double* values) {
    double refund = 0;
    for (const std::size_t r : rooms_.filling()) {
      if (prices.price(r) > 0) {
        refund += prices.price(r) * rooms_.to_come(r, node, values);
      }
    }
    return refund;
  }
  // The best that can become of a label.
  Key key_of(Id id, const Outlook& outlook) const {
    Key key = instance_.valuation.key(outlook);
    if (quest_.measured_room) {
      key.second = labels_.values(id)[*rooms_.slot(*quest_.measured_room)];
    }
    return {without_noise(key.first), without_noise(key.second)};
  }
  // Both figures of what the front is of are bounded by the outlook.
  bool is_covered(const Outlook& outlook) const {
    return quest_.covered && !quest_.measured_room && !prices_.empty() &&
           front_.covers_all(outlook);
  }
  // Behind the components a label has the least time of a tensor that is in the systolic array.
  double compute_cycles(const Step& step, const double* values) const {
    const double entered = instance_.array ? values[components_] : kInfinity;
    const bool is_known = step.kind == Step::Kind::kEnd && entered < kInfinity;
    return is_known ? entered : instance_.compute_cycles(step.node, entered);
  }
  void offer(Id id) {
    const Step step = labels_.step(id);
    rooms_.forget(step.node, labels_.values(id));
    const Outlook outlook = outlook_of(id);
    const Key key = key_of(id, outlook);
    const bool ends = step.kind == Step::Kind::kEnd;
    if (is_hopeless(key) || (!ends && is_covered(outlook)) ||
        (!ends && labels_.dominated(id, instance_.bound.place(step.node)))) {
      labels_.retract();
      return;
    }
    push({key, id});
    if (ends && quest_.covered) {
      front_.insert(key, id);
    } else if (ends) {
      limit_ = std::min(limit_, key);
      if (best_ == LabelStore::kNone || key <= best_key_) {
        best_ = id;  // of equal ones the newest, as in the queue
        best_key_ = key;
      }
    }
  }

  void expand(Id id) {
    ++expanded_;
    const Node at = labels_.step(id).node;
    const auto of_interest = [this](const Node& node) {
      return instance_.bound.at(node, 0) < kInfinity;
    };
    for_each_move(skeleton_, instance_.unrolled, instance_.costs, at, of_interest,
                  [&](const Step& step, std::span<const Payment> payments) {
                    const Id next = labels_.extend(id, step);
                    bool fits = true;
                    for (const Payment& payment : payments) {
                      fits = fits && pay(next, payment);
                    }
                    if (fits) {
                      offer(next);
                    } else {
                      labels_.retract();
                    }
                  });
  }

  // Adds costs and room to label `id`; false: it does not fit.
  bool pay(Id id, const Payment& payment) {
    double* values = labels_.values(id);
    if (!(payment.cost[0] < kInfinity)) {
      return false;
    }
    for (std::size_t k = 0; k < components_; ++k) {
      values[k] += payment.cost[k * payment.step];
    }
    if (payment.placing == Placing::kMac) {
      return true;
    }
    if (instance_.array && instance_.array->enters(payment.placing)) {
      double& entered = values[components_];
      entered = std::min(entered, instance_.array->cycles(payment.placing)[payment.tile]);
    }
    const auto room = skeleton_.room_of(skeleton_.placings()[payment.placing]);
    if (room && rooms_.slot(*room)) {
      double& used = values[*rooms_.slot(*room)];
      used += instance_.costs.bits(payment.placing)[payment.tile];
      return used <= skeleton_.rooms()[*room].bits;
    }
    return true;
  }

  // From the best labels straight on to the best of what each leads to, until one ends. What comes
  // up on the way joins the queue.
  void dive() {
    std::vector<Queued> from;
    bool ended = false;
    for (int dive = 0; dive < kDives && !ended && !queue_.empty(); ++dive) {
      Queued at = pop();
      from.push_back(at);
      while (!ended && labels_.step(at.label).kind != Step::Kind::kEnd) {
        const std::size_t queued = queue_.size();
        const auto first_new = static_cast<Id>(labels_.size());
        expand(at.label);
        const auto best = newest_best(queued, first_new);
        if (!best) {
          break;
        }
        at = *best;
      }
      ended = labels_.step(at.label).kind == Step::Kind::kEnd;
    }
    for (const Queued& queued : from) {
      push(queued);
    }
  }
  // The best in the queue of the labels from `first_new` on.
  std::optional<Queued> newest_best(std::size_t queued_before, Id first_new) const {
    std::optional<Queued> best;
    for (std::size_t i = 0; i < queue_.size() && queue_.size() > queued_before; ++i) {
      if (queue_[i].label >= first_new && (!best || *best < queue_[i])) {
        best = queue_[i];
      }
    }
    return best;
  }

  // Bounds with prices take over: every label in the queue gets its new key.
  void price() {
    priced_ = true;
    prices_ = find_prices(instance_, rooms_.filling(),
                          [this](const Outlook& root) { return next_aim(root); });
    if (prices_.empty()) {
      return;
    }
    std::vector<Queued> kept;
    for (const Queued& queued : queue_) {
      if (labels_.step(queued.label).kind == Step::Kind::kEnd) {
        kept.push_back(queued);
        continue;
      }
      const Outlook outlook = outlook_of(queued.label);
      const Key key = std::max(queued.key, key_of(queued.label, outlook));
      if (!is_hopeless(key) && !is_covered(outlook)) {
        kept.push_back({key, queued.label});
      }
    }
    queue_ = std::move(kept);
    std::make_heap(queue_.begin(), queue_.end());
  }

  std::optional<Aim> next_aim(const Outlook& root) const {
    if (quest_.covered && !quest_.measured_room) {
      return next_of_front(root);
    }
    const Objective& objective = instance_.valuation.objective();
    const Corner corner = instance_.valuation.corner(root);
    const bool known = limit_.first < kInfinity;
    if (!(corner.energy < kInfinity) || (known && !(instance_.valuation.key(root) < limit_))) {
      return std::nullopt;
    }
    Aim aim{kGuess * corner.energy, corner.latency};
    if (!objective.function.uses_latency()) {
      aim.latency =
          objective.max_latency ? static_cast<double>(objective.max_latency->count()) : kInfinity;
    }
    if (!known) {
      return aim;
    }
    if (objective.function.uses_energy()) {
      aim.energy = objective.function.most_energy(limit_.first, corner.latency);
      return aim;
    }
    const double least = objective.function.most_latency(limit_.first);
    aim.of_latency = corner.latency < least * (1 - kRounding);
    aim.latency = least;
    aim.energy = limit_.second;
    return aim;
  }
  // The uncovered box that the bounds leave most of.
  std::optional<Aim> next_of_front(const Outlook& root) const {
    std::optional<Aim> next;
    double most = 1;
    double cycles = kInfinity;
    for (const Staircase::Point& point : front_.points()) {
      const double ratio = point.key.first / root.energy_at(cycles);
      if (cycles < kInfinity && root.latency <= cycles && ratio > most) {
        most = ratio;
        next = Aim{point.key.first, cycles};
      }
      cycles = point.key.second - 1;
    }
    return next;
  }

  Instance& instance_;
  const Skeleton& skeleton_;
  const Quest& quest_;
  const Patience& patience_;
  std::size_t components_;
  // Values of a label: components, of a systolic array its time, bits used of rooms.
  RoomUse rooms_;
  LabelStore labels_;
  std::vector<double> scratch_;
  std::vector<Queued> queue_;  // a heap
  Key limit_;
  Key best_key_;
  Id best_ = LabelStore::kNone;
  Staircase front_;  // with `covered`: its points have no label
  std::vector<Prices> prices_;
  std::vector<Line> lines_;  // of the latest outlook
  bool priced_ = false;
  bool stopped_ = false;
  std::int64_t expanded_ = 0;
  std::int64_t next_tick_ = 0;
  std::int64_t ticked_ = 0;
};

}  // namespace

LabelResult search_labels(Instance& instance, const Quest& quest, const Patience& patience) {
  return LabelSearch(instance, quest, patience).run();
}

}  // namespace mapsim::exact
