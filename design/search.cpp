// SPDX-License-Identifier: Apache-2.0
#include "design/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <queue>
#include <set>
#include <stdexcept>
#include <utility>

#include "campaign/substitute.hpp"
#include "core/diagnostic.hpp"
#include "core/memory.hpp"
#include "design/descent.hpp"
#include "design/supported.hpp"

namespace mapsim {

namespace {

// What a share of the area is worth beside the same share of the objective where a box is split.
constexpr double kAreaWeight = 0.3;

Values low_end(const DesignBox& box) {
  Values values;
  for (const ValueInterval& interval : box) {
    values.push_back(interval.low);
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

struct OpenBox {
  double bound = 0;
  std::int64_t order = 0;  // ties: the first one
  std::size_t space = 0;
  DesignBox box;
  bool is_bounded = false;  // by its own enclosure
};
struct Later {
  bool operator()(const OpenBox& a, const OpenBox& b) const {
    return std::pair{a.bound, a.order} > std::pair{b.bound, b.order};
  }
};

class DesignSearch {
 public:
  DesignSearch(const Campaign& campaign, const DesignOptions& options)
      : campaign_{campaign},
        options_{options},
        optima_{campaign, campaign.questions.front(), layer_options(options)},
        value_{optima_, options.objective} {
    for (const Machine& machine : campaign.machines) {
      spaces_.emplace_back(machine, !campaign.questions.front().constraints_file.empty());
    }
    settled_.resize(spaces_.size());
    tried_.resize(spaces_.size());
  }

  DesignAnswer run() {
    for (std::size_t s = 0; s < spaces_.size(); ++s) {
      result_.tally.designs += volume(spaces_[s].all());
      push({0, 0, s, spaces_[s].all()});
    }
    while (!open_.empty() && !over()) {
      OpenBox next = open_.top();
      open_.pop();
      ++result_.boxes;
      report(next.bound);
      if (!step(next)) {
        open_.push(next);  // interrupted
        break;
      }
    }
    finish();
    return std::move(result_);
  }

 private:
  static SearchOptions layer_options(const DesignOptions& options) {
    SearchOptions layers;
    layers.threads = options.threads;
    layers.stop = options.stop;
    layers.edge_folds = true;
    layers.budget.bytes = search_bytes();
    return layers;
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double seconds_left() const {
    return std::isinf(options_.seconds) ? kNoMapping : std::max(1e-3, options_.seconds - elapsed());
  }
  bool over() const {
    return (options_.stop != nullptr && options_.stop->load()) || elapsed() >= options_.seconds;
  }
  void report(double bound) const {
    if (options_.progress) {
      options_.progress({result_.best ? std::optional{result_.best->value} : std::nullopt, bound,
                         result_.boxes, optima_.searches()});
    }
  }
  void push(OpenBox box) {
    box.order = ++pushed_;
    open_.push(std::move(box));
  }

  // Is nothing with this bound better than the best by more than the gap and rounding?
  bool closes(double bound) const {
    return std::isinf(bound) ||
           (result_.best && bound * (1 + options_.gap) * (1 + kRounding) >= result_.best->value);
  }
  // Designs of a box that are not settled one by one.
  double rest_of(const OpenBox& box) const {
    const auto& settled = settled_[box.space];
    if (is_single(box.box)) {
      return settled.contains(low_end(box.box)) ? 0 : 1;
    }
    const auto inside = [&](const auto& values) { return contains(box.box, values); };
    return volume(box.box) -
           static_cast<double>(std::count_if(settled.begin(), settled.end(), inside));
  }
  void settle(std::size_t space, const Values& values, double& tally) {
    tally += settled_[space].insert(values).second ? 1 : 0;
  }
  void close(const OpenBox& box, double bound) {
    if (std::isinf(bound)) {
      result_.tally.infeasible += rest_of(box);
      return;
    }
    result_.tally.by_bound += rest_of(box);
    closed_ = std::min(closed_, bound);
  }

  bool is_too_large(const Enclosure& enclosure) {
    const std::optional<double> area =
        options_.max_area ? optima_.area(enclosure.least) : std::nullopt;
    return area && *area > options_.max_area->count();
  }
  DesignMachine machine(std::size_t space, const Enclosure& enclosure, bool is_single) const {
    return {enclosure, is_single, spaces_[space].excepted(enclosure.most)};
  }

  // Leaves out the values of an axis with which every design is too large. False: all are.
  bool shrink(OpenBox& box, const Enclosure& enclosure) {
    if (!options_.max_area) {
      return true;
    }
    const double before = rest_of(box);
    bool some = !is_too_large(enclosure);
    for (std::size_t a = 0; a < box.box.size() && some; ++a) {
      const auto fits = [&](std::size_t value) {
        DesignBox part = box.box;
        part[a] = {value, value};
        const auto of_part = spaces_[box.space].enclosure(part);
        return !of_part || !is_too_large(*of_part);
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
    result_.tally.by_area += before - (some ? rest_of(box) : 0);
    return some;
  }

  // Deals with a box: closes it, bounds it or splits it. False: interrupted.
  bool step(OpenBox& box) {
    if (closes(box.bound)) {
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
    const Enclosure enclosure = *spaces_[box.space].enclosure(box.box);
    return box.is_bounded ? divide(box, enclosure) : bound(box, enclosure);
  }

  bool bound(OpenBox& box, const Enclosure& enclosure) {
    const auto found = value_.find(
        machine(box.space, enclosure, false), [this](double lower) { return closes(lower); },
        [this] { return seconds_left(); });
    if (!found) {
      return false;
    }
    box.bound = std::max(box.bound, found->lower);
    box.is_bounded = true;
    if (closes(box.bound)) {
      close(box, box.bound);
    } else {
      push(box);
    }
    return true;
  }

  bool divide(OpenBox& box, const Enclosure& enclosure) {
    const DesignMachine composite = machine(box.space, enclosure, false);
    if (seeded_.insert(composite.structure).second && !seed(box)) {
      return false;
    }
    take_largest(box);
    if (closes(box.bound)) {
      close(box, box.bound);
      return true;
    }
    split(box, axis_to_split(box, enclosure, value_.known(composite)));
    return true;
  }

  void split(const OpenBox& box, std::size_t axis) {
    const ValueInterval whole = box.box[axis];
    const std::size_t middle = (whole.low + whole.high) / 2;
    for (const ValueInterval part :
         {ValueInterval{middle + 1, whole.high}, ValueInterval{whole.low, middle}}) {
      OpenBox half{box.bound, 0, box.space, box.box};
      half.box[axis] = part;
      push(half);
    }
  }

  // Of an axis that no lemma covers, or else the one with most values.
  std::size_t axis_to_branch(const OpenBox& box) const {
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

  // The axis that a design pays most for: in area where that binds, and in the price of the
  // mappings that are known.
  std::size_t axis_to_split(const OpenBox& box, const Enclosure& enclosure,
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
      if (options_.max_area) {
        const double share = optima_.area(part->least).value_or(1) /
                             std::max(1e-30, optima_.area(enclosure.least).value_or(1));
        score += kAreaWeight * std::log(std::max(1.0, share));
      }
      const Assessment dearer = value_.known(machine(box.space, *part, is_single(upper.box)));
      if (!std::isinf(dearer.value) && !std::isinf(known.value) && known.value > 0) {
        score += std::max(0.0, dearer.value / known.value - 1);
      }
      if (score > most) {
        most = score;
        best = a;
      }
    }
    return best;
  }

  // Where prices do not differ within a box, its largest design may be what its bound is of.
  void take_largest(const OpenBox& box) {
    Values values;
    for (const ValueInterval& interval : box.box) {
      values.push_back(interval.high);
    }
    const auto enclosure = spaces_[box.space].enclosure(single(values));
    if (!enclosure || is_too_large(*enclosure) || tried_[box.space].contains(values)) {
      return;
    }
    const Assessment known = value_.known(machine(box.space, *enclosure, true));
    if (known.is_exact()) {
      value_design(box.space, values);
    }
  }

  bool take_single(OpenBox& box) {
    const Values values = low_end(box.box);
    const auto done = value_design(box.space, values);
    if (done && !settled_[box.space].contains(values)) {
      close(box, *done);
    }
    return done.has_value();
  }

  // What is read node by node is what is read as a whole.
  void check_reading(std::size_t s, const Values& values, const DesignMachine& design) {
    const auto enclosure = spaces_[s].enclosure(single(values));
    const auto same = [&](const DesignMachine& other) {
      return other.structure == design.structure && other.numbers.rooms == design.numbers.rooms &&
             other.numbers.prices == design.numbers.prices;
    };
    if (!enclosure || !same(machine(s, *enclosure, true))) {
      throw std::logic_error("design: the nodes of an architecture depend on each other");
    }
  }

  // The lower bound of a design; it is settled unless that is no better than the best. nullopt:
  // interrupted.
  std::optional<double> value_design(std::size_t s, const Values& values) {
    if (settled_[s].contains(values)) {
      return kNoMapping;
    }
    tried_[s].insert(values);
    std::optional<Arch> arch;
    try {
      arch = spaces_[s].arch(values);
    } catch (const ConfigError& error) {
      settle(s, values, result_.tally.unreadable);
      result_.unreadable_reason =
          result_.unreadable_reason.empty() ? error.what() : result_.unreadable_reason;
      return kNoMapping;
    }
    const auto area = optima_.area(*arch);
    if (options_.max_area && area && *area > options_.max_area->count()) {
      settle(s, values, result_.tally.by_area);
      return kNoMapping;
    }
    const DesignMachine design = machine(s, {*arch, *arch}, true);
    check_reading(s, values, design);
    const auto found = value_.find(
        design, [this](double lower) { return closes(lower); }, [this] { return seconds_left(); });
    if (!found || std::isinf(found->lower)) {
      found ? settle(s, values, result_.tally.infeasible) : void(tried_[s].erase(values));
      return found ? std::optional{kNoMapping} : std::nullopt;
    }
    if (!closes(found->lower)) {
      settle(s, values, result_.tally.valued);
      closed_ = std::min(closed_, found->lower);
      if (!result_.best || found->value < result_.best->value) {
        keep(s, values, *arch, *found, area);
      }
    }
    return found->lower;
  }

  void keep(std::size_t s, const Values& values, const Arch& arch, const Assessment& found,
            std::optional<double> area) {
    BestDesign best;
    best.space = s;
    best.values = values;
    for (std::size_t before = 0; before < s; ++before) {
      best.number += campaign_.machines[before].designs();
    }
    best.number += spaces_[s].number(values);
    best.settings = spaces_[s].settings(values);
    best.arch = arch;
    best.area = area;
    best.value = found.value;
    best.layers = found.layers;
    result_.best = std::move(best);
  }

  bool seed(const OpenBox& box);
  void finish();
  void find_edges();

  using Clock = std::chrono::steady_clock;
  const Campaign& campaign_;
  const DesignOptions& options_;
  Clock::time_point start_ = Clock::now();
  LayerOptima optima_;
  WorkValue value_;
  std::vector<DesignSpace> spaces_;
  std::priority_queue<OpenBox, std::vector<OpenBox>, Later> open_;
  std::int64_t pushed_ = 0;
  std::vector<std::set<Values>> settled_, tried_;  // designs of each space
  std::set<std::string> seeded_;                   // structures
  double closed_ = kNoMapping;                     // the least bound of what was closed by one
  DesignAnswer result_;
};

bool DesignSearch::seed(const OpenBox& box) {
  Descent descent{box.box, options_.max_area.has_value()};
  descent.area = [&](const Values& values) {
    const auto enclosure = spaces_[box.space].enclosure(single(values));
    return enclosure ? optima_.area(enclosure->least).value_or(0) : 0;
  };
  descent.is_allowed = [&](const Values& values) {
    return contains(box.box, values) &&
           (!options_.max_area || descent.area(values) <= options_.max_area->count());
  };
  descent.take = [&](const Values& values) {
    return tried_[box.space].contains(values) || !descent.is_allowed(values) ||
           value_design(box.space, values).has_value();
  };
  descent.is_best = [&](const Values& values) {
    return result_.best && result_.best->space == box.space && result_.best->values == values;
  };
  return descend(descent);
}

void DesignSearch::find_edges() {
  const DesignSpace& space = spaces_[result_.best->space];
  for (std::size_t a = 0; a < space.axes().size(); ++a) {
    const DesignAxis& axis = space.axes()[a];
    const std::size_t value = result_.best->values[a];
    const bool is_high = value + 1 == axis.values.size();
    if (axis.values.size() > 1 && axis.branched.empty() && axis.name != "list" &&
        (value == 0 || is_high)) {
      result_.edges.push_back({axis.name, flow_text(axis.values[value].front().value), is_high});
    }
  }
}

void DesignSearch::finish() {
  result_.interrupted = !open_.empty();
  result_.lower_bound = std::min(closed_, result_.best ? result_.best->value : kNoMapping);
  if (result_.interrupted) {
    result_.lower_bound = std::min(result_.lower_bound, open_.top().bound);
  }
  for (; !open_.empty(); open_.pop()) {
    result_.tally.open += rest_of(open_.top());
  }
  result_.proven = closes(result_.lower_bound);
  for (DesignSpace& space : spaces_) {
    for (const DesignAxis& axis : space.axes()) {
      if (!axis.branched.empty()) {
        result_.branched.emplace_back(axis.name, axis.branched);
      }
    }
  }
  result_.layers = optima_.layers().size();
  if (result_.best) {
    BestDesign& best = *result_.best;
    // The same figures as of a sweep: ties go as they go in a search of this very machine.
    const DesignMachine design = machine(best.space, {best.arch, best.arch}, true);
    Assessment all{best.value, best.value, best.layers};
    for (std::size_t l = 0; l < all.layers.size() && !over(); ++l) {
      if (!all.layers[l].is_own) {
        const auto found = optima_.search(design, l, options_.objective.function, seconds_left());
        all.layers[l] = found && found->is_exact() ? *found : all.layers[l];
      }
    }
    value_.add_up(design, all);
    best.value = all.value;
    best.layers = all.layers;
    for (std::size_t l = 0; l < best.layers.size(); ++l) {
      best.energy += optima_.layers()[l].count * best.layers[l].energy;
      best.cycles += optima_.layers()[l].count * best.layers[l].cycles;
    }
    result_.unknown_areas = total_area(best.arch).missing;
    find_edges();
  }
  result_.searches = optima_.searches();
  result_.seconds = elapsed();
}

}  // namespace

DesignAnswer search_design(const Campaign& campaign, const DesignOptions& options) {
  check_supported_by_design(campaign);
  return DesignSearch{campaign, options}.run();
}

}  // namespace mapsim
