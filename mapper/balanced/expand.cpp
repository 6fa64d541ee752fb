// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "costmodel/crossing.hpp"
#include "mapper/balanced/care.hpp"
#include "mapper/balanced/label_search.hpp"
#include "mapper/balanced/rebuild.hpp"

namespace mapsim::balanced {

using exact::kInfinity;
using exact::Node;
using exact::Skeleton;
using exact::Step;

namespace {

bool within(DimSet inner, DimSet outer) { return (inner & outer) == inner; }

}  // namespace

void Search::expand(Labels::Id id) {
  const Label from = labels_[id];
  const Node at = from.step.node;
  if (at.phase + 1 < skeleton_.phases()) {
    cross(id, from);
  } else if (at.tile == 0 && skeleton_.end(at.pointers) &&
             gates_.may_end(at.phase, from.begun, at.tile)) {
    end(id, from);
  }
  const DimSet frozen = skeleton_.frozen(at.phase, at.pointers) | from.barred;
  for (std::size_t i = from.next_dim; i < tiles_.dims(); ++i) {
    const auto d = static_cast<DimId>(i);
    if (!frozen.contains(d) && !from.settled.contains(d) && tiles_.digit(d, at.tile) > 0) {
      loop(id, from, d);
    }
  }
  place(id, from);
  jump(id, from);
}

// To the next smaller extent. It may be passed, or left standing: then the chain goes on from it,
// though nothing is kept there.
void Search::loop(Labels::Id id, const Label& from, DimId d) {
  const Node at = from.step.node;
  const auto pointers = skeleton_.after_loop(at.phase, at.pointers, d, 1);
  if (!pointers) {
    return;
  }
  Label next = after(id, from, {Step::Kind::kLoop, {at.phase, *pointers, at.tile}, kPassed});
  next.step.node.tile -= tiles_.stride(d);
  if (!gates_.may_still_end(at.phase, from.begun, next.step.node.tile)) {
    return;
  }
  next.since = from.placed ? DimSet{} : from.since;
  next.since.insert(d);
  next.placed = false;
  next.at_point = false;
  next.run = Run::kNone;
  next.next_dim = index_of(d);
  note_order(next, from, d, !has_chains());
  labels_.add(next);
  offer();
  if (loops_ == Loops::kAnywhere &&
      care_[at.phase * skeleton_.pointers() + at.pointers].contains(d) &&
      tiles_.digit(d, next.step.node.tile) > 0) {
    next.step.move = kLeftStanding;
    next.chains[d] = chains_.loop(d, from.chains[d], tiles_.extent(d, next.step.node.tile));
    note_order(next, from, d, true);
    labels_.add(next);
    offer();
  }
}

// Where loops have an order they are written in the order of their steps. So all loops over a dim
// that are to be one stand together, one that is left standing ends its dim's, and a keep can only
// pass the loop right above it, or right below.
void Search::note_order(Label& label, const Label& from, DimId last, bool stands) const {
  if (!is_ordered(label)) {
    return;
  }
  label.since = DimSet{last};
  label.settled = {};
  label.next_dim = 0;
  label.open = from.open;
  label.open.erase(last);
  label.barred = label.open;
  if (!stands) {
    label.open.insert(last);
  }
}

Label Search::after(Labels::Id id, const Label& from, Step step) {
  Label next = from;
  next.step = step;
  next.before = id;
  next.dominated = false;
  next.next = Labels::kNone;
  next.next_dim = 0;
  return next;
}

void Search::end(Labels::Id id, const Label& from) {
  labels_.add(after(id, from, {Step::Kind::kEnd, from.step.node, 0}));
  double* values = labels_.values(static_cast<Labels::Id>(labels_.size()) - 1);
  values[0] +=
      skeleton_.problem().mac_energy().count() * static_cast<double>(skeleton_.problem().macs());
  for (const std::size_t placing : *skeleton_.end(from.step.node.pointers)) {
    BoundaryFlow flow;
    cost(placing, 0, from.chains, {}, flow);
    if (!terms_[placing].cost.charge(flow, values, 1)) {
      labels_.retract();
      return;
    }
  }
  offer();
}

// A point stands here: chains go on to the tile.
void Search::settle_point(Label& label) {
  for (const DimId d : label.chains.ids()) {
    if (has_chains()) {
      label.chains[d] = chains_.loop(d, label.chains[d], tiles_.extent(d, label.step.node.tile));
    }
  }
  label.at_point = true;
  label.placed = true;
  label.barred = {};
  label.open = {};
}

// A keep might as well stand below a loop over a dim that is alone in a rank of the tensor, unless
// a rule measures it: then neither that keep nor one further out of the same tensor.
void Search::settle_keep(Label& label, std::size_t placing) {
  settle_point(label);
  const exact::Placing& of = skeleton_.placings()[placing];
  label.settled = label.settled | single_dims(workload().tensors[of.tensor]);
  for (const ExtentRule& rule : skeleton_.space().constraints().extents) {
    if (rule.tensor == of.tensor && rule.level == skeleton_.stops(of.tensor)[of.to].level) {
      label.settled.erase(rule.dim);
    }
  }
}

void Search::forget(Label& label) {
  const Node& at = label.step.node;
  if (loops_ == Loops::kForgotten) {
    return;
  }
  const DimSet care = care_[at.phase * skeleton_.pointers() + at.pointers];
  for (const DimId d : label.chains.ids()) {
    if (!care.contains(d)) {
      label.chains[d] = has_chains() ? chains_.forget_loops(d, label.chains[d]) : chains_.none();
    }
  }
}

void Search::cross(Labels::Id id, const Label& from) {
  const Node at = from.step.node;
  const exact::Event& event = skeleton_.event_after(at.phase);
  const auto pointers = skeleton_.after_event(at.phase, at.pointers);
  if (!pointers ||
      (skeleton_.ends_region(at.phase) && !gates_.may_end(at.phase, from.begun, at.tile))) {
    return;
  }
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
  next.step.node.pointers = *pointers;
  if (event.fanout) {
    const std::size_t tile = tiles_.cross(*event.fanout, at.tile);
    if (tile == Tiles::kNone) {
      return;
    }
    next.step.node.tile = tile;
    if (has_chains()) {
      for (const DimId d : next.chains.ids()) {
        next.chains[d] = chains_.cross(d, next.chains[d], *event.fanout);
      }
      next.steps = std::max(next.steps, steps_of(next.chains, *event.fanout + 1));
    }
  }
  if (skeleton_.ends_region(at.phase)) {
    next.begun = gates_.begun(at.phase + 1, next.step.node.tile);
  }
  forget(next);
  labels_.add(next);
  double* values = labels_.values(static_cast<Labels::Id>(labels_.size()) - 1);
  for (std::size_t r = 0; r < slot_of_room_.size(); ++r) {
    if (slot_of_room_[r] && r != quest_.measured_room &&
        skeleton_.rooms()[r].last_phase <= at.phase) {
      values[*slot_of_room_[r]] = 0;  // nothing more can come here
    }
  }
  offer();
}

// False: the tile cannot cross the fanouts that it is placed ahead of.
bool Search::cost(std::size_t placing, std::size_t tile, const PerDim<Chains::Id>& chains, Run run,
                  BoundaryFlow& flow) {
  const Terms& terms = terms_[placing];
  if (has_chains()) {
    return flows_.at(terms, tile, chains, run, flow);
  }
  flow = relaxation_->least(placing, tile, run, counts_, chains);
  return true;  // or its bits are infinite
}

// Adds a placing's costs and room to the newest label; false: it does not fit.
bool Search::pay(std::size_t placing, std::size_t tile, const PerDim<Chains::Id>& chains, Run run) {
  double* values = labels_.values(static_cast<Labels::Id>(labels_.size()) - 1);
  const Terms& terms = terms_[placing];
  const double bits = relaxation_->bits(placing)[tile];
  BoundaryFlow flow;
  if (!(bits < kInfinity) || bits > terms.limit || !cost(placing, tile, chains, run, flow) ||
      !terms.cost.charge(flow, values, 1)) {
    return false;
  }
  if (has_chains() && (flow.is_bound || terms.owes)) {
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

// Adds what comes after placings to the labels, if it fits and may be of use.
void Search::add_paid(Label next, const PerDim<Chains::Id>& chains, const Together& together) {
  if (loops_ == Loops::kCounted) {
    add_counted(next, together, 0);
    return;
  }
  forget(next);
  labels_.add(next);
  bool fits = true;
  for (const std::size_t placing : together.placings) {
    fits = fits && pay(placing, together.tile, chains, together.run);
  }
  if (fits) {
    offer();
  } else {
    labels_.retract();
  }
}

// The same for each number of tiles that there may be of dims that the placings pay for, from
// `dim` on, the least first. False: with none of them.
bool Search::add_counted(Label& next, const Together& together, std::size_t dim) {
  if (dim == tiles_.dims()) {
    Label label = next;
    forget(label);
    labels_.add(label);
    bool fits = true;
    for (const std::size_t placing : together.placings) {
      fits = fits && pay(placing, together.tile, next.chains, together.run);
    }
    if (!fits) {
      labels_.retract();
    }
    return fits && offer();
  }
  const auto d = static_cast<DimId>(dim);
  bool pays = false;
  for (const std::size_t placing : together.placings) {
    pays = pays || !dims_of(skeleton_.placings()[placing].tensor).contains(d);
  }
  const std::size_t rung = tiles_.digit(d, together.tile);
  if (!pays || rung + 1 == tiles_.ladder(d).size()) {
    return add_counted(next, together, dim + 1);
  }
  const Chains::Id known = next.chains[d];
  const std::size_t crossed = skeleton_.crossed(next.step.node.phase);
  bool any = false;
  const bool matters =
      care_[next.step.node.phase * skeleton_.pointers() + next.step.node.pointers].contains(d);
  for (const Counts::Id count : counts_.choices(d, known, rung, crossed)) {
    next.chains[d] = count;
    if (!add_counted(next, together, dim + 1)) {
      break;  // nor with more
    }
    any = true;
    if (!matters) {
      break;
    }
  }
  next.chains[d] = known;
  return any;
}

// Does a keep of this placing stand where it is placed?
bool Search::stands_here(std::size_t placing, std::size_t phase) const {
  const exact::Placing& of = skeleton_.placings()[placing];
  const exact::Stop& stop = skeleton_.stops(of.tensor)[of.to];
  return !stop.latch && stop.phase == phase;
}

void Search::place(Labels::Id id, const Label& from) {
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
      settle_keep(next, placing);
    }
    add_paid(next, from.chains, {{&placing, 1}, at.tile, {}});
  }
}

void Search::jump(Labels::Id id, const Label& from) {
  const Node at = from.step.node;
  const auto& jumps = skeleton_.jumps(at.phase, at.pointers);
  for (std::size_t m = 0; m < jumps.size(); ++m) {
    const Skeleton::Jump& jump = jumps[m];
    const DimSet above = from.placed ? DimSet{} : from.since;
    const bool joins =
        has_chains() && above.contains(jump.dim) &&
        chains_.extent(jump.dim, from.chains[jump.dim]) != tiles_.extent(jump.dim, at.tile);
    bool possible = !joins && !from.barred.contains(jump.dim) &&
                    !(above.empty() && from.settled.contains(jump.dim));
    bool stands = false;
    DimSet moving;
    for (const std::size_t placing : jump.placings) {
      moving = moving | dims_of(skeleton_.placings()[placing].tensor);
      stands = stands || stands_here(placing, at.phase);
    }
    possible = possible && (is_ordered(from) || within(above, moving));
    for (std::size_t rung = tiles_.digit(jump.dim, at.tile); possible && rung-- > 0;) {
      const std::size_t tile =
          at.tile - (tiles_.digit(jump.dim, at.tile) - rung) * tiles_.stride(jump.dim);
      if (!gates_.may_still_end(at.phase, from.begun, tile)) {
        break;
      }
      const std::size_t target = *skeleton_.after_loop(at.phase, jump.target, jump.dim, 1);
      Label next = after(id, from, {Step::Kind::kJump, {at.phase, target, tile}, m});
      next.since = above;
      next.since.insert(jump.dim);
      next.run = index_of(jump.dim);
      next.at_point = false;
      next.settled = {};
      next.placed = true;
      note_order(next, from, jump.dim, false);
      if (stands) {
        settle_point(next);
      }
      add_paid(next, from.chains, {jump.placings, tile, {index_of(jump.dim), at.tile}});
    }
  }
}

}  // namespace mapsim::balanced
