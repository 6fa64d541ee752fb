// SPDX-License-Identifier: Apache-2.0
#include "check/boxes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "check/reuse.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

// The box figures of a single choice.
ChoiceRange range_of(const Workload& workload, const PerDim<std::int64_t>& factors) {
  ChoiceRange range{factors, factors, factors, {}, {}, {}, 1, {}};
  for (const Tensor& tensor : workload.tensors) {
    double lacking = 1;
    double sharing = 1;
    for (const DimId d : factors.ids()) {
      const auto factor = static_cast<double>(factors[d]);
      lacking *= tensor.dims().contains(d) ? 1 : factor;
      sharing *= !tensor.dims().contains(d) || is_in_window(tensor, d) ? factor : 1;
    }
    range.fewest_lacking.push_back(lacking);
    range.most_lacking.push_back(lacking);
    range.most_sharing.push_back(sharing);
  }
  for (const std::int64_t factor : factors) {
    range.most_instances *= static_cast<double>(factor);
  }
  return range;
}

void widen(ChoiceRange& range, const ChoiceRange& more) {
  for (const DimId d : range.least.ids()) {
    range.least[d] = std::min(range.least[d], more.least[d]);
    range.most[d] = std::max(range.most[d], more.most[d]);
    range.common[d] = std::gcd(range.common[d], more.common[d]);
  }
  for (const TensorId t : range.fewest_lacking.ids()) {
    range.fewest_lacking[t] = std::min(range.fewest_lacking[t], more.fewest_lacking[t]);
    range.most_lacking[t] = std::max(range.most_lacking[t], more.most_lacking[t]);
    range.most_sharing[t] = std::max(range.most_sharing[t], more.most_sharing[t]);
  }
  range.most_instances = std::max(range.most_instances, more.most_instances);
}

// The boxes of one fanout, a binary tree. A box is halved at the geometric mean of the figure in
// which its choices differ most.
class Halves {
 public:
  struct FactorBox {
    ChoiceRange range;
    double width = 1;        // the largest ratio of a figure between two choices
    std::size_t choice = 0;  // of a box with one choice
    std::size_t first = 0;   // its halves are the boxes `first` and `second`; 0: it has one choice
    std::size_t second = 0;
  };

  Halves(const Workload& workload, std::vector<Unrolling> choices) : choices_{std::move(choices)} {
    for (const Unrolling& choice : choices_) {
      ranges_.push_back(range_of(workload, choice.factors[FanoutId{0}]));
    }
    std::vector<std::size_t> all(choices_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (!all.empty()) {
      halve(all);
    }
  }
  bool empty() const { return boxes_.empty(); }
  const FactorBox& operator[](std::size_t box) const { return boxes_[box]; }
  const Unrolling& choice(const FactorBox& box) const { return choices_[box.choice]; }

 private:
  static std::vector<double> figures(const ChoiceRange& one) {
    std::vector<double> all(one.most_lacking.begin(), one.most_lacking.end());
    all.insert(all.end(), one.most_sharing.begin(), one.most_sharing.end());
    all.push_back(one.most_instances);
    return all;
  }

  std::size_t halve(std::vector<std::size_t>& members) {
    const std::size_t id = boxes_.size();
    boxes_.push_back({ranges_[members.front()], 1, members.front(), 0, 0});
    std::vector<double> least = figures(ranges_[members.front()]);
    std::vector<double> most = least;
    for (const std::size_t member : members) {
      widen(boxes_[id].range, ranges_[member]);
      const std::vector<double> own = figures(ranges_[member]);
      for (std::size_t k = 0; k < own.size(); ++k) {
        least[k] = std::min(least[k], own[k]);
        most[k] = std::max(most[k], own[k]);
      }
    }
    if (members.size() == 1) {
      return id;
    }
    std::size_t by = 0;
    for (std::size_t k = 0; k < least.size(); ++k) {
      by = most[k] / least[k] > most[by] / least[by] ? k : by;
    }
    boxes_[id].width = most[by] / least[by];
    std::stable_sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
      return figures(ranges_[a])[by] < figures(ranges_[b])[by];
    });
    auto middle = members.begin() + std::ssize(members) / 2;
    if (boxes_[id].width > 1) {
      const double mean = std::sqrt(least[by] * most[by]);
      middle = std::find_if(members.begin() + 1, members.end() - 1, [&](std::size_t member) {
        return figures(ranges_[member])[by] >= mean;
      });
    }
    std::vector<std::size_t> low(members.begin(), middle);
    std::vector<std::size_t> high(middle, members.end());
    const std::size_t first = halve(low);
    const std::size_t second = halve(high);
    boxes_[id].first = first;
    boxes_[id].second = second;
    return id;
  }

  std::vector<Unrolling> choices_;
  std::vector<ChoiceRange> ranges_;
  std::vector<FactorBox> boxes_;
};

class OpenVisit {
 public:
  OpenVisit(const Problem& problem, const Rules& rules,
            const std::function<bool(const ChoiceRanges&)>& is_closed,
            const std::function<void(const Unrolling&)>& visit)
      : bounds_{bounds_of(problem.workload())}, is_closed_{is_closed}, visit_{visit} {
    for (const FanoutId f : problem.arch().fanouts.ids()) {
      fanouts_.emplace_back(problem.workload(), list_choices(problem, rules, f));
    }
  }

  void run() {
    for (const Halves& fanout : fanouts_) {
      if (fanout.empty()) {
        return;
      }
    }
    std::vector<std::size_t> roots(fanouts_.size(), 0);
    descend(roots);
  }

 private:
  void descend(std::vector<std::size_t>& boxes) {
    ChoiceRanges ranges;
    std::size_t widest = fanouts_.size();
    for (std::size_t f = 0; f < fanouts_.size(); ++f) {
      const Halves::FactorBox& box = fanouts_[f][boxes[f]];
      ranges.push_back(box.range);
      if (box.first != 0 &&
          (widest == fanouts_.size() || box.width > fanouts_[widest][boxes[widest]].width)) {
        widest = f;
      }
    }
    if (!may_divide(ranges)) {
      return;
    }
    if (widest == fanouts_.size()) {
      visit_(joined(boxes));
      return;
    }
    if (is_closed_(ranges)) {
      return;
    }
    const std::size_t whole = boxes[widest];
    for (const std::size_t half : {fanouts_[widest][whole].first, fanouts_[widest][whole].second}) {
      boxes[widest] = half;
      descend(boxes);
    }
    boxes[widest] = whole;
  }

  bool may_divide(const ChoiceRanges& ranges) const {
    for (const DimId d : bounds_.ids()) {
      std::int64_t left = bounds_[d];
      for (const ChoiceRange& range : ranges) {
        if (left % range.common[d] != 0) {
          return false;
        }
        left /= range.common[d];
      }
    }
    return true;
  }

  Unrolling joined(const std::vector<std::size_t>& boxes) const {
    Unrolling all{{}, {}, 1};
    for (std::size_t f = 0; f < fanouts_.size(); ++f) {
      const Unrolling& choice = fanouts_[f].choice(fanouts_[f][boxes[f]]);
      all.factors.push_back(choice.factors[FanoutId{0}]);
      if (!choice.axes.empty()) {
        all.axes.push_back(choice.axes[FanoutId{0}]);
      }
      all.assignments *= choice.assignments;
    }
    return all;
  }

  PerDim<std::int64_t> bounds_;
  const std::function<bool(const ChoiceRanges&)>& is_closed_;
  const std::function<void(const Unrolling&)>& visit_;
  std::vector<Halves> fanouts_;
};

}  // namespace

ChoiceRanges ranges_of(const Workload& workload, const SpatialFactors& factors) {
  ChoiceRanges ranges;
  for (const PerDim<std::int64_t>& of_fanout : factors) {
    ranges.push_back(range_of(workload, of_fanout));
  }
  return ranges;
}

std::optional<ChoiceRanges> ranges_of_all(const Problem& problem, const Rules& rules) {
  ChoiceRanges all;
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    std::optional<ChoiceRange> range;
    for (const Unrolling& choice : list_choices(problem, rules, f)) {
      const ChoiceRange one = range_of(problem.workload(), choice.factors[FanoutId{0}]);
      range = range.value_or(one);
      widen(*range, one);
    }
    if (!range) {
      return std::nullopt;
    }
    all.push_back(std::move(*range));
  }
  return all;
}

void visit_open(const Problem& problem, const Rules& rules,
                const std::function<bool(const ChoiceRanges&)>& is_closed,
                const std::function<void(const Unrolling&)>& visit) {
  OpenVisit{problem, rules, is_closed, visit}.run();
}

bool is_in_space(const Problem& problem, const Rules& rules, const Unrolling& unrolling) {
  PerDim<std::int64_t> left = bounds_of(problem.workload());
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    const std::vector<Unrolling> choices = list_choices(problem, rules, f);
    const bool is_choice =
        std::any_of(choices.begin(), choices.end(), [&](const Unrolling& choice) {
          return choice.factors[FanoutId{0}] == unrolling.factors[f] &&
                 (choice.axes.empty() || choice.axes[FanoutId{0}] == unrolling.axes[f]);
        });
    for (const DimId d : left.ids()) {
      if (!is_choice || left[d] % unrolling.factors[f][d] != 0) {
        return false;
      }
      left[d] /= unrolling.factors[f][d];
    }
  }
  return true;
}

std::vector<Bundle> list_bundles(const Problem& problem, const Rules& rules) {
  const PerDim<std::int64_t> bounds = bounds_of(problem.workload());
  std::vector<Bundle> bundles{{{}, bounds, 1, 1}};
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    const std::vector<Unrolling> choices = list_choices(problem, rules, f);
    std::map<std::pair<std::vector<FanoutId>, std::vector<std::int64_t>>, std::size_t> known;
    std::vector<Bundle> longer;
    for (const Bundle& above : bundles) {
      for (const Unrolling& choice : choices) {
        const PerDim<std::int64_t>& factors = choice.factors[FanoutId{0}];
        Bundle next = above;
        bool divides = true;
        bool uses = false;
        for (const DimId d : bounds.ids()) {
          divides = divides && above.left[d] % factors[d] == 0;
          uses = uses || factors[d] > 1;
          next.left[d] = above.left[d] / factors[d];
        }
        if (!divides) {
          continue;
        }
        if (uses) {
          next.used.push_back(f);
        }
        next.assignments *= choice.assignments;
        const auto [entry, is_new] =
            known.try_emplace({next.used, {next.left.begin(), next.left.end()}}, longer.size());
        if (is_new) {
          longer.push_back(std::move(next));
        } else {
          longer[entry->second].classes += next.classes;
          longer[entry->second].assignments += next.assignments;
        }
      }
    }
    bundles = std::move(longer);
  }
  return bundles;
}

}  // namespace mapsim::check
