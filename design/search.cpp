// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "core/threads.hpp"
#include "design/branch.hpp"
#include "design/supported.hpp"
#include "mapper/deadline.hpp"

namespace mapsim {

namespace {

// What a share of the area is worth beside the same share of the objective where a box is split.
constexpr double kAreaWeight = 0.3;

// Boxes that are bounded together: decision 73 has what more of them cost.
constexpr std::size_t kRound = 8;

std::size_t bytes_of(const DesignBox& box) {
  return sizeof(OpenBox) + box.size() * sizeof(ValueInterval);
}
}  // namespace

Values low_end(const DesignBox& box) {
  Values values;
  for (const ValueInterval& interval : box) {
    values.push_back(interval.low);
  }
  return values;
}

Values high_end(const DesignBox& box) {
  Values values;
  for (const ValueInterval& interval : box) {
    values.push_back(interval.high);
  }
  return values;
}

DesignBox single(const Values& values) {
  DesignBox box;
  for (const std::size_t value : values) {
    box.push_back({value, value});
  }
  return box;
}

DesignAnswer DesignSearch::run() {
  for (std::size_t s = 0; s < spaces_.size(); ++s) {
    result_.counts.designs += volume(spaces_[s].all());
    push({0, 0, s, spaces_[s].all()});
  }
  while (!open_.empty() && !over()) {
    std::vector<RoundBox> round;
    bool is_done = false;
    result_.out_of_memory = !is_within_budget([&] { is_done = take_round(round); });
    for (RoundBox& each : round) {
      open_.push(std::move(each.box));  // interrupted; there is the memory that it had
    }
    if (!is_done) {
      break;
    }
  }
  finish();
  return std::move(result_);
}

// Deals with the first boxes until kRound of them wait for their bounds, and bounds these. What is
// done leaves `round`. False: interrupted.
bool DesignSearch::take_round(std::vector<RoundBox>& round) {
  while (round.size() < kRound && !open_.empty() && !over()) {
    round.push_back({open_.top()});
    open_.pop();
    ++result_.boxes;
    held_ -= bytes_of(round.back().box.box);
    report(round.back().box.bound);
    if (!step(round.back().box, round.back().enclosure)) {
      return false;
    }
    if (!round.back().enclosure) {
      round.pop_back();
    }
  }
  look_ahead(round);
  while (!round.empty()) {
    if (over() || !bound(round.front().box, *round.front().enclosure)) {
      return false;
    }
    round.erase(round.begin());
  }
  return true;
}

// Asks for the bounds of boxes on threads, each with what is known before. Which boxes are asked
// for together does not depend on the number of threads; so neither does the answer.
void DesignSearch::look_ahead(const std::vector<RoundBox>& round) {
  const std::size_t at_once =
      std::min<std::size_t>(round.size(), static_cast<std::size_t>(std::max(options_.threads, 1)));
  if (round.size() < 2) {
    return;
  }
  std::vector<DesignMachine> machines;
  std::vector<LayerOptima> parts;
  for (const RoundBox& each : round) {
    machines.push_back(machine(each.box.space, each.box.box, *each.enclosure));
    parts.push_back(optima_.part(machines.back().structure, at_once));
  }
  std::mutex mutex;
  for_each_on_threads(round.size(), static_cast<int>(at_once), [&](std::size_t i) {
    if (over()) {
      return;
    }
    WorkValue{parts[i], options_.objective}.find(machines[i], decides(round[i].box),
                                                 [this] { return seconds_left(); });
    const std::lock_guard lock{mutex};
    searches_ahead_ += parts[i].searches();
    report(round[i].box.bound);
  });
  searches_ahead_ = 0;
  for (std::size_t i = 0; i < round.size(); ++i) {
    optima_.join(machines[i], parts[i], at_once);
  }
}

double DesignSearch::seconds_left() const {
  return std::isinf(options_.seconds) ? kNoMapping : std::max(1e-3, options_.seconds - elapsed());
}

bool DesignSearch::over() const {
  return (options_.stop != nullptr && options_.stop->load()) || elapsed() >= options_.seconds ||
         is_short_of_memory();
}

void DesignSearch::hold(std::size_t bytes) {
  held_ += bytes;
  most_held_ = std::max(most_held_, held_);
}

void DesignSearch::report(double bound) const {
  if (options_.progress) {
    const auto& designs = archive_.designs();
    options_.progress({designs.empty() ? std::nullopt : std::optional{designs.front().value}, bound,
                       result_.boxes, optima_.searches() + searches_ahead_});
  }
}

void DesignSearch::push(OpenBox box) {
  box.order = ++pushed_;
  hold(bytes_of(box.box));
  open_.push(std::move(box));
}

// Is no design of at least this area wanted whose value is no less than `bound`, but for the gap
// and rounding?
bool DesignSearch::closes(double bound, double area) const {
  return std::isinf(bound) || bound * (1 + options_.gap) * (1 + kRounding) >= archive_.worth(area);
}

// Of every design of an enclosure, where areas matter.
double DesignSearch::least_area(const Enclosure& enclosure) {
  return options_.wanted == Wanted::kFront ? optima_.area(enclosure.least).value_or(0) : 0;
}

// Designs of a box that are not settled one by one.
double DesignSearch::rest_of(const OpenBox& box) const {
  const auto& settled = settled_[box.space];
  if (is_single(box.box)) {
    return settled.contains(low_end(box.box)) ? 0 : 1;
  }
  const auto inside = [&](const auto& design) { return contains(box.box, design.first); };
  return volume(box.box) -
         static_cast<double>(std::count_if(settled.begin(), settled.end(), inside));
}

void DesignSearch::settle(std::size_t space, const Values& values, Leaf::Why why, double& counts) {
  if (settled_[space].emplace(values, why).second) {
    constexpr std::size_t kEntry = 64;                            // of a map, beside what it holds
    hold(2 * (kEntry + values.size() * sizeof(values.front())));  // here and in tried_
    counts += 1;
  }
}

void DesignSearch::leave(const OpenBox& box, Leaf::Why why) {
  if (options_.certificate) {
    hold(bytes_of(box.box));
    result_.evidence.leaves.push_back({box.space, box.box, why});
  }
}

void DesignSearch::close(const OpenBox& box, double bound, Leaf::Why why) {
  leave(box, why);
  if (std::isinf(bound)) {
    result_.counts.infeasible += rest_of(box);
    return;
  }
  result_.counts.by_bound += rest_of(box);
  closed_ = std::min(closed_, bound);
}

bool DesignSearch::is_too_large(const Enclosure& enclosure) {
  const std::optional<double> area =
      options_.limits.area ? optima_.area(enclosure.least) : std::nullopt;
  return area && *area > options_.limits.area->count();
}

DesignMachine DesignSearch::machine(std::size_t space, const DesignBox& box,
                                    const Enclosure& enclosure) const {
  if (options_.limits.on_figures() &&
      leaves_out_remainders(enclosure.most, options_.objective.function)) {
    throw UnsupportedSearch(
        fmt::format("design: objective {} with limits on energy, latency or power is not searched "
                    "on arrays whose folds may leave a remainder, such as those of {}: mappings "
                    "with such folds are searched only where latency counts; minimise 'edp' or a "
                    "sum such as 'energy + 1*latency' within these limits",
                    to_string(options_.objective), campaign_.machines[space].name));
  }
  return {space, box, enclosure, spaces_[space].excepted(enclosure.most)};
}

// Leaves out the values of an axis with which every design is too large. False: all are.
bool DesignSearch::shrink(OpenBox& box, const Enclosure& enclosure) {
  if (!options_.limits.area) {
    return true;
  }
  const double before = rest_of(box);
  bool some = !is_too_large(enclosure);
  for (std::size_t a = 0; a < box.box.size() && some; ++a) {
    const auto fits = [&](std::size_t value) {
      OpenBox part = box;
      part.box[a] = {value, value};
      const auto of_part = spaces_[box.space].enclosure(part.box);
      const bool is_small_enough = !of_part || !is_too_large(*of_part);
      if (!is_small_enough && box.box[a].size() > 1) {
        leave(part, Leaf::Why::kArea);
      }
      return is_small_enough;
    };
    ValueInterval& interval = box.box[a];
    while (interval.low < interval.high && !fits(interval.high)) {
      --interval.high;
    }
    while (interval.low < interval.high && !fits(interval.low)) {
      ++interval.low;
    }
    some = interval.low < interval.high || fits(interval.low);
  }
  if (!some) {
    leave(box, Leaf::Why::kArea);
  }
  result_.counts.by_area += before - (some ? rest_of(box) : 0);
  return some;
}

// Deals with a box: closes it, splits it, or finds the machine to bound it by. False: interrupted.
bool DesignSearch::step(OpenBox& box, std::optional<Enclosure>& to_bound) {
  if (closes(box.bound, box.area)) {
    close(box, box.bound);
    return true;
  }
  if (is_single(box.box)) {
    return take_single(box);
  }
  const std::optional<Enclosure> whole = spaces_[box.space].enclosure(box.box);
  if (!whole) {
    split(box, axis_to_branch(box));
    return true;
  }
  if (!shrink(box, *whole)) {
    return true;
  }
  if (is_single(box.box)) {
    return take_single(box);
  }
  std::optional<Enclosure> enclosure = spaces_[box.space].enclosure(box.box);
  box.area = std::max(box.area, least_area(*enclosure));
  if (box.is_bounded) {
    return divide(box, *enclosure);
  }
  to_bound = std::move(enclosure);
  return true;
}

// Is all known that decides whether a box is closed by its bound?
Aim DesignSearch::decides(const OpenBox& box) {
  const auto enough = [this, &box](const Assessment& known) {
    return closes(known.lower, box.area) || !closes(known.value, box.area);
  };
  return {enough, archive_.worth(box.area) / (1 + options_.gap)};
}

bool DesignSearch::bound(OpenBox& box, const Enclosure& enclosure) {
  const DesignMachine composite = machine(box.space, box.box, enclosure);
  const auto found = value_.find(composite, decides(box), [this] { return seconds_left(); });
  if (!found) {
    box.bound = std::max(box.bound, value_.known(composite).lower);
    return false;
  }
  box.bound = std::max(box.bound, found->lower);
  box.is_bounded = true;
  if (closes(box.bound, box.area)) {
    close(box, box.bound);
    return true;
  }
  const std::optional<double> within = bound_within(box, composite, *found);
  if (!within) {
    return false;
  }
  box.bound = std::max(box.bound, *within);
  if (std::isinf(*within)) {
    leave(box, Leaf::Why::kLimit);
    result_.counts.by_limit += rest_of(box);
  } else if (closes(box.bound, box.area)) {
    close(box, box.bound, Leaf::Why::kLimit);
  } else {
    push(box);
  }
  return true;
}

bool DesignSearch::divide(OpenBox& box, const Enclosure& enclosure) {
  const DesignMachine composite = machine(box.space, box.box, enclosure);
  if (seeded_.insert(composite.structure).second && !seed(box)) {
    return false;
  }
  take_largest(box);
  if (closes(box.bound, box.area)) {
    close(box, box.bound);
    return true;
  }
  split(box, axis_to_split(box, enclosure, value_.known(composite)));
  return true;
}

void DesignSearch::split(const OpenBox& box, std::size_t axis) {
  const ValueInterval whole = box.box[axis];
  const std::size_t middle = (whole.low + whole.high) / 2;
  for (const ValueInterval part :
       {ValueInterval{middle + 1, whole.high}, ValueInterval{whole.low, middle}}) {
    OpenBox half{box.bound, 0, box.space, box.box, box.area};
    half.box[axis] = part;
    push(half);
  }
}

// Of an axis that no lemma covers, or else the one with most values.
std::size_t DesignSearch::axis_to_branch(const OpenBox& box) const {
  const std::vector<DesignAxis>& axes = spaces_[box.space].axes();
  std::optional<std::size_t> best;
  const auto weight = [&](std::size_t a) {
    return std::pair{!axes[a].branched.empty(), box.box[a].size()};
  };
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (box.box[a].size() > 1 && (!best || weight(a) > weight(*best))) {
      best = a;
    }
  }
  return *best;
}

// The axis that a design pays most for: in area where that binds, and in the energy of the
// mappings that are known.
std::size_t DesignSearch::axis_to_split(const OpenBox& box, const Enclosure& enclosure,
                                        const Assessment& known) {
  std::size_t best = axis_to_branch(box);
  double most = -1;
  for (std::size_t a = 0; a < box.box.size(); ++a) {
    if (box.box[a].size() == 1) {
      continue;
    }
    OpenBox upper = box;
    upper.box[a].low = (box.box[a].low + box.box[a].high) / 2 + 1;
    const auto part = spaces_[box.space].enclosure(upper.box);
    if (!part) {
      return a;
    }
    double score = 1e-6 * static_cast<double>(box.box[a].size());
    if (options_.limits.area || options_.wanted == Wanted::kFront) {
      const double share = optima_.area(part->least).value_or(1) /
                           std::max(1e-30, optima_.area(enclosure.least).value_or(1));
      score += kAreaWeight * std::log(std::max(1.0, share));
    }
    const Assessment upper_half = value_.known(machine(box.space, upper.box, *part));
    if (!std::isinf(upper_half.value) && !std::isinf(known.value) && known.value > 0) {
      score += std::max(0.0, upper_half.value / known.value - 1);
    }
    if (score > most) {
      most = score;
      best = a;
    }
  }
  return best;
}

DesignAnswer search_design(const Campaign& campaign, const DesignOptions& options) {
  check_supported_by_design(campaign);
  return DesignSearch{campaign, options}.run();
}

}  // namespace mapsim
