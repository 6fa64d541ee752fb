// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "check/plan_demands.hpp"
#include "check/plan_proof.hpp"

namespace mapsim::check {

namespace {

constexpr double kImpossible = std::numeric_limits<double>::infinity();
constexpr double kLimitClose = 1e-12;     // relative: a plan that keeps a limit to rounding
constexpr std::size_t kComparisons = 64;  // that may be made for a label, on average

PlanValue operator+(const PlanValue& a, const PlanValue& b) {
  return {a.first + b.first, a.second + b.second};
}

class Least {
 public:
  Least(const PlanClaim& claim, const PlanWeights& weights, const PlanWeights& ties)
      : claim_{claim}, weights_{weights}, ties_{ties} {}

  std::optional<PlanValue> run(std::size_t most_labels, std::size_t& labels) const {
    const Demands demands{claim_};
    std::map<Demand, PlanValue> now{{Demand{}, {}}};
    for (std::size_t i = claim_.operations; i-- > 0;) {
      std::map<Demand, PlanValue> next;
      for (const auto& [demand, value] : now) {
        for (DemandStep& step : demands.steps(i, demand)) {
          const PlanValue sum = value + value_of(step);
          if (sum.first < kImpossible) {
            const auto [at, is_new] = next.try_emplace(std::move(step.before), sum);
            at->second = std::min(at->second, sum);
          }
        }
      }
      labels += next.size();
      if (labels > most_labels) {
        return std::nullopt;
      }
      now.swap(next);
    }
    const auto end = now.find(Demand{});
    return end == now.end() ? std::nullopt : std::optional{end->second};
  }

 private:
  PlanValue value_of(const PlanPrice& price) const {
    return {weights_.value(price), ties_.value(price)};
  }

  PlanValue value_of(const DemandStep& step) const {
    PlanValue value;
    if (step.group) {
      value = value_of(*claim_.groups[*step.group].on[step.place]);
    }
    for (const DemandStep::Delivery& each : step.deliveries) {
      std::vector<std::size_t> there{step.place};
      for (const std::size_t to : each.to) {
        PlanValue least{kImpossible, 0};
        for (const std::size_t from : there) {
          const PlanPrice* move = move_of(claim_, each.tensor, from, to);
          least = move != nullptr ? std::min(least, value_of(*move)) : least;
        }
        value = value + least;
        there.push_back(to);
      }
    }
    return value;
  }

  const PlanClaim& claim_;
  const PlanWeights& weights_;
  const PlanWeights& ties_;
};

// Latency and energy.
struct Sums {
  double latency = 0, energy = 0;
};
Sums operator+(const Sums& a, const Sums& b) {
  return {a.latency + b.latency, a.energy + b.energy};
}
double value_of(const PlanWeights& weights, const Sums& sums) {
  return weights.latency * sums.latency + weights.energy * sums.energy;
}

double parts_of(const PlanWeights& weights, const Sums& sums) {
  return std::abs(weights.latency * sums.latency) + std::abs(weights.energy * sums.energy);
}

// All plans, as ways through a graph of demands.
class Below {
 public:
  Below(const PlanClaim& claim, PlanValue below) : claim_{claim}, below_{below} {
    multiplied_ = claim.weights;
    for (const PlanLimit& limit : claim.limits) {
      multiplied_.latency += limit.multiplier * limit.of.latency;
      multiplied_.energy += limit.multiplier * limit.of.energy;
      constant_ -= limit.multiplier * limit.most;
    }
  }

  std::optional<bool> run(std::size_t most_labels, std::size_t& labels) {
    if (!explore(most_labels, labels)) {
      return std::nullopt;
    }
    if (!start_) {
      return false;
    }
    in_front_ = {in_front(multiplied_), in_front(claim_.weights), in_front(claim_.ties)};
    for (const PlanLimit& limit : claim_.limits) {
      in_front_.push_back(in_front(limit.of));
    }
    return follow(most_labels, labels);
  }

 private:
  struct Step {
    std::size_t to = 0;  // a demand farther in front
    Sums takes;
  };
  enum : std::size_t { kMultiplied, kWeights, kTies, kLimits };  // of in_front_

  // Demands get numbers from the last operation to the first.
  bool explore(std::size_t most_labels, std::size_t& labels) {
    const Demands demands{claim_};
    std::vector<Demand> now{{}};
    steps_.resize(1);
    std::size_t first = 0;  // number of the first of now
    for (std::size_t i = claim_.operations; i-- > 0;) {
      std::vector<Demand> next;
      std::map<Demand, std::size_t> known;
      for (std::size_t d = 0; d < now.size(); ++d) {
        for (const DemandStep& step : demands.steps(i, now[d])) {
          const auto [at, is_new] = known.try_emplace(step.before, steps_.size());
          if (is_new) {
            steps_.emplace_back();
            next.push_back(step.before);
          }
          const std::vector<Sums> found = ways(step, most_labels);
          ways_ += found.size();
          if (found.size() > most_labels || ways_ > most_labels) {
            return false;
          }
          for (const Sums& takes : found) {
            steps_[first + d].push_back({at->second, takes});
          }
        }
      }
      labels += next.size();
      if (labels > most_labels) {
        return false;
      }
      first += now.size();
      now.swap(next);
      if (i == 0) {
        const auto start = known.find(Demand{});
        start_ = start == known.end() ? std::nullopt : std::optional{start->second};
      }
    }
    return true;
  }

  // What a step takes, with every source of every tensor that is moved; or more than `most`, and
  // then not all of them.
  std::vector<Sums> ways(const DemandStep& step, std::size_t most) const {
    std::vector<Sums> found(1);
    if (step.group) {
      const PlanPrice& price = *claim_.groups[*step.group].on[step.place];
      found.front() = {price.latency, price.energy};
    }
    for (const DemandStep::Delivery& each : step.deliveries) {
      std::vector<std::size_t> there{step.place};
      for (const std::size_t to : each.to) {
        std::vector<Sums> more;
        for (const std::size_t from : there) {
          if (const PlanPrice* move = move_of(claim_, each.tensor, from, to)) {
            for (const Sums& sums : found) {
              more.push_back(sums + Sums{move->latency, move->energy});
            }
          }
        }
        found.swap(more);
        if (found.size() > most) {
          return found;
        }
        there.push_back(to);
      }
    }
    return found;
  }

  // By demand: the least that the operations in front of it take; and the most that the parts of
  // such sums are, signs aside, which says how much rounding may be in the least.
  struct InFront {
    std::vector<double> least, parts;
  };
  InFront in_front(const PlanWeights& weights) const {
    InFront found{std::vector<double>(steps_.size(), kImpossible),
                  std::vector<double>(steps_.size(), 0)};
    found.least[*start_] = 0;
    for (std::size_t d = steps_.size(); d-- > 0;) {
      for (const Step& step : steps_[d]) {
        if (found.least[step.to] == kImpossible) {
          continue;
        }
        found.least[d] =
            std::min(found.least[d], found.least[step.to] + value_of(weights, step.takes));
        found.parts[d] =
            std::max(found.parts[d], found.parts[step.to] + parts_of(weights, step.takes));
      }
    }
    return found;
  }
  // Not above the least that a plan takes by these weights, whatever was rounded, with `more`
  // added.
  double at_least(std::size_t which, const PlanWeights& weights, std::size_t demand,
                  const Sums& sums, double more) const {
    const InFront& front = in_front_[which];
    const double parts = parts_of(weights, sums) + front.parts[demand] + std::abs(more);
    return std::isfinite(parts) && std::isfinite(front.least[demand])
               ? value_of(weights, sums) + front.least[demand] + more - kPlanClose * parts
               : -kImpossible;
  }

  bool has_chance(std::size_t demand, const Sums& sums) const {
    if (in_front_[kWeights].least[demand] == kImpossible) {
      return false;
    }
    const double bound =
        std::max(at_least(kMultiplied, multiplied_, demand, sums, constant_),
                 value_of(claim_.weights, sums) + in_front_[kWeights].least[demand]);
    const double tie = value_of(claim_.ties, sums) + in_front_[kTies].least[demand];
    for (std::size_t k = 0; k < claim_.limits.size(); ++k) {
      const PlanLimit& limit = claim_.limits[k];
      if (at_least(kLimits + k, limit.of, demand, sums, -limit.most) > 0) {
        return false;
      }
    }
    return bound < below_.first * (1 - kPlanClose) ||
           (bound <= below_.first * (1 + kPlanClose) && tie < below_.second * (1 - kPlanClose));
  }

  bool is_below(const Sums& sums) const {
    const double value = value_of(claim_.weights, sums);
    const bool fits =
        std::all_of(claim_.limits.begin(), claim_.limits.end(), [&](const PlanLimit& limit) {
          return limit.keeps(sums.latency, sums.energy, kLimitClose);
        });
    return fits && (value < below_.first * (1 - kPlanClose) ||
                    (value <= below_.first * (1 + kPlanClose) &&
                     value_of(claim_.ties, sums) < below_.second * (1 - kPlanClose)));
  }

  bool no_more(const Sums& a, const Sums& b) const {
    const auto less = [&](const PlanWeights& weights) {
      return value_of(weights, a) <= value_of(weights, b);
    };
    return less(claim_.weights) && less(claim_.ties) &&
           std::all_of(claim_.limits.begin(), claim_.limits.end(),
                       [&](const PlanLimit& limit) { return less(limit.of); });
  }

  std::optional<bool> follow(std::size_t most_labels, std::size_t& labels) const {
    std::size_t comparisons = 0;
    std::vector<std::vector<Sums>> open(steps_.size());
    open.front().push_back({});
    for (std::size_t d = 0; d < steps_.size(); ++d) {
      for (const Sums& sums : open[d]) {
        if (d == *start_ && is_below(sums)) {
          return true;
        }
        for (const Step& step : steps_[d]) {
          const Sums more = sums + step.takes;
          std::vector<Sums>& there = open[step.to];
          comparisons += there.size();
          if (comparisons / kComparisons > most_labels) {
            return std::nullopt;
          }
          if (!has_chance(step.to, more) ||
              std::any_of(there.begin(), there.end(),
                          [&](const Sums& each) { return no_more(each, more); })) {
            continue;
          }
          std::erase_if(there, [&](const Sums& each) { return no_more(more, each); });
          there.push_back(more);
          if (++labels > most_labels) {
            return std::nullopt;
          }
        }
      }
      std::vector<Sums>{}.swap(open[d]);
    }
    return false;
  }

  const PlanClaim& claim_;
  PlanValue below_;
  PlanWeights multiplied_;
  double constant_ = 0;
  std::vector<std::vector<Step>> steps_;  // by demand
  std::size_t ways_ = 0;                  // all steps
  std::optional<std::size_t> start_{};    // the demand in front of all operations
  std::vector<InFront> in_front_;
};

}  // namespace

bool is_close(double a, double b) {
  return std::abs(a - b) <= kPlanClose * std::max({std::abs(a), std::abs(b), 1e-300});
}

double PlanWeights::value(const PlanPrice& price) const {
  const double engine =
      price.engine && *price.engine < busy.size() ? busy[*price.engine] * price.busy : 0;
  return latency * price.latency + energy * price.energy + bytes * price.bytes + engine;
}

bool PlanLimit::keeps(double latency, double energy, double close) const {
  const Sums sums{latency, energy};
  return value_of(of, sums) - most <= close * (parts_of(of, sums) + std::abs(most));
}

bool PlanLimit::is_of_latency() const {
  return of.latency == 1 && of.energy == 0 && of.bytes == 0 && most >= 0;
}

std::optional<PlanValue> least_plan(const PlanClaim& claim, const PlanWeights& weights,
                                    const PlanWeights& ties, std::size_t most_labels,
                                    std::size_t& labels) {
  return Least{claim, weights, ties}.run(most_labels, labels);
}

std::optional<bool> has_plan_below(const PlanClaim& claim, PlanValue below, std::size_t most_labels,
                                   std::size_t& labels) {
  return Below{claim, below}.run(most_labels, labels);
}

}  // namespace mapsim::check
