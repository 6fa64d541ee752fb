// SPDX-License-Identifier: Apache-2.0
#include "check/check.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <utility>

#include "check/balanced.hpp"
#include "check/floor.hpp"
#include "check/membership.hpp"
#include "check/point.hpp"
#include "check/replay.hpp"
#include "check/rungs.hpp"
#include "check/schedules.hpp"
#include "check/size.hpp"
#include "core/threads.hpp"

namespace mapsim::check {

namespace {

// "K 16, C 2"
std::string factors_text(const Workload& workload, const PerDim<std::int64_t>& factors) {
  std::string text;
  for (const DimId d : factors.ids()) {
    if (factors[d] > 1) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", workload.dims[d].name, factors[d]);
    }
  }
  return text;
}

// "PEs: K 16, C 2" or, where the axes matter, "PEs: X K 16, Y C 2"
std::string unrolling_text(const Problem& problem, const Unrolling& unrolling) {
  const Workload& workload = problem.workload();
  std::string text;
  for (const FanoutId f : unrolling.factors.ids()) {
    std::string along = factors_text(workload, unrolling.factors[f]);
    if (along.empty()) {
      continue;
    }
    if (!unrolling.axes.empty()) {
      along = fmt::format("X {}, Y {}", factors_text(workload, unrolling.axes[f][0]),
                          factors_text(workload, unrolling.axes[f][1]));
    }
    text +=
        fmt::format("{}{}: {}", text.empty() ? "" : "; ", problem.arch().fanouts[f].name, along);
  }
  return text.empty() ? "nothing unrolled" : text;
}

class Checker {
 public:
  Checker(const Certificate& certificate, const CheckOptions& options)
      : certificate_{certificate},
        options_{options},
        problem_{certificate.problem},
        ladders_{is_balanced() ? list_ladders(problem_.workload(), certificate.rules) : Ladders{}} {
  }

  Verdict run() {
    check_points();
    const std::vector<Unrolling> unrollings =
        is_balanced() ? list_balanced_unrollings(problem_, certificate_.rules)
                      : list_unrollings(problem_, certificate_.rules);
    check_size(unrollings);
    std::vector<Task> tasks;
    if (certificate_.is_front()) {
      for (const Unrolling& unrolling : unrollings) {
        tasks.push_back({&unrolling, points_frontier(), 0});
      }
    } else {
      for (const Claim* claim : match(unrollings)) {
        tasks.push_back({&claim->unrolling, below(*claim), claim->line});
      }
      check_lower_bound();
    }
    if (verdict_.problems.empty()) {
      check_tasks(tasks);
    }
    return std::move(verdict_);
  }

  // Of all unrollings: those of which it takes long are looked at more closely if they are few.
  double provable_share() {
    constexpr std::size_t kMostTiles = 6'000'000;  // of a round, some minutes at most
    constexpr std::size_t kMostClose = 64;
    const Target target{points_frontier(), true, 1};
    const std::vector<Unrolling> unrollings =
        list_balanced_unrollings(problem_, certificate_.rules);
    std::vector<std::size_t> open(unrollings.size());
    for (std::size_t u = 0; u < open.size(); ++u) {
      open[u] = u;
      prepare_graph(unrollings[u]);
    }
    double share = open.empty() ? 1 : 0;
    std::vector<std::size_t> rounds(kCoarseTiles.begin(), kCoarseTiles.end());
    const std::size_t coarse = rounds.back();
    if (options_.effort.tiles > coarse) {
      rounds.push_back(options_.effort.tiles);
    }
    for (const std::size_t tiles : rounds) {
      if (options_.effort.stop.is_set()) {
        return 0;
      }
      const bool close = tiles > coarse;
      if (open.empty() || (close ? open.size() > kMostClose : open.size() * tiles > kMostTiles)) {
        break;
      }
      const Effort effort{tiles, close ? options_.effort.labels : 0, options_.effort.stop};
      std::vector<double> shares(open.size());
      for_each_on_threads(open.size(), options_.threads, [&](std::size_t i) {
        shares[i] = bound_of(unrollings[open[i]], target, effort);
      });
      share = *std::min_element(shares.begin(), shares.end());
      std::vector<std::size_t> left;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (shares[i] < 1) {
          left.push_back(open[i]);
        }
      }
      open = std::move(left);
    }
    return share;
  }

  // Of each claim, in order, a bound that follows; none above `wanted`. The least of them is as
  // high as all effort makes it: the least is looked at more closely, until it can be no more.
  std::vector<double> provable(double wanted) {
    constexpr std::size_t kBatch = 16;  // on any number of threads
    const Target target{{{{wanted, 0}}}, false, 0};
    std::vector<Effort> steps{{0, 0}};  // the floor
    for (const std::size_t tiles : kCoarseTiles) {
      if (tiles < options_.effort.tiles) {
        steps.push_back({tiles, 0, options_.effort.stop});
      }
    }
    steps.push_back(options_.effort);
    std::vector<double> bounds(certificate_.claims.size(), 0);
    std::vector<std::size_t> done(bounds.size(), 0);
    const auto take_step = [&](std::size_t c) {
      const Unrolling& unrolling = certificate_.claims[c].unrolling;
      const double found = bound_of(unrolling, target, steps[done[c]++]);
      bounds[c] = std::max(bounds[c], found);
    };
    using Open = std::pair<double, std::size_t>;
    std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
    double least = wanted;  // of those that nothing more can be done for
    const auto sort_in = [&](std::size_t c) {
      if (done[c] < steps.size()) {
        open.emplace(bounds[c], c);
      } else {
        least = std::min(least, bounds[c]);
      }
    };
    for (const Claim& claim : certificate_.claims) {
      prepare_graph(claim.unrolling);
    }
    std::vector<std::size_t> batch(bounds.size());
    std::iota(batch.begin(), batch.end(), std::size_t{0});
    while (!batch.empty() && !options_.effort.stop.is_set()) {
      for_each_on_threads(batch.size(), options_.threads,
                          [&](std::size_t i) { take_step(batch[i]); });
      std::for_each(batch.begin(), batch.end(), sort_in);
      for (batch.clear(); batch.size() < kBatch && !open.empty() && open.top().first < least;
           open.pop()) {
        batch.push_back(open.top().second);
      }
    }
    return bounds;
  }

 private:
  bool is_balanced() const { return certificate_.rules.balanced; }

  // Of a balanced space: at least what no mapping of the unrolling is below, up to what is wanted.
  double bound_of(const Unrolling& unrolling, const Target& target, const Effort& effort) {
    const Goal& goal = certificate_.goal;
    const Figures floor = floor_of(problem_, certificate_.rules, goal, unrolling, false);
    if (target.is_met_by(floor)) {
#pragma omp atomic
      ++verdict_.by_floor;
      return target.met();
    }
    if (effort.tiles == 0) {
      return target.of(floor);
    }
    const BalancedBound found =
        bound_balanced(*graphs_.at(kind_of(unrolling)), goal, ladders_, unrolling, target, effort);
#pragma omp atomic
    verdict_.states += found.states;
#pragma omp atomic
    verdict_.labels += found.labels;
    std::int64_t& proven = found.labels > 0 ? verdict_.by_replay : verdict_.by_relaxation;
#pragma omp atomic
    ++proven;
    return std::max(found.bound, std::min(target.of(floor), target.met()));
  }

  void require(bool holds, int line, const std::string& otherwise) {
    if (!holds) {
      verdict_.problems.push_back(
          line > 0 ? fmt::format("{}:{}: {}", certificate_.file, line, otherwise) : otherwise);
    }
  }

  void check_size(const std::vector<Unrolling>& unrollings) {
    const Rules& rules = certificate_.rules;
    const std::optional<std::string> size =
        certificate_.size == kNotCounted ? std::nullopt
        : is_balanced()                  ? count_balanced(problem_, rules, unrollings)
                        : count_mappings(problem_, rules, unrollings, options_.threads);
    verdict_.counted = size.has_value();
    require(
        !size || size == certificate_.size, 0,
        fmt::format("the mapspace has {} mappings, not {}", size.value_or(""), certificate_.size));
  }

  void check_points() {
    if (certificate_.points.empty() && !certificate_.is_front()) {
      require(!(certificate_.value < kInfinity), 0, "there is a value, but no mapping of it");
    }
    for (const Point& point : certificate_.points) {
      check_point(point);
    }
  }

  // The mapping is one of the space, and costs what is claimed.
  void check_point(const Point& point) {
    const int line = certificate_.is_front() ? point.line : 0;
    const std::string outside = why_outside(problem_, certificate_.rules, point.mapping);
    require(outside.empty(), line,
            fmt::format("the mapping is not in the declared mapspace: {}", outside));
    for (const std::string& fault :
         faults_of_point(problem_, certificate_.goal, point, options_.max_steps, verdict_.walked)) {
      require(false, line, fault);
    }
  }

  // Every unrolling of the space has one claim, and nothing else has.
  std::vector<const Claim*> match(const std::vector<Unrolling>& unrollings) {
    std::map<std::vector<std::int64_t>, const Claim*> by_factors;
    const auto key = [](const Unrolling& unrolling) {
      std::vector<std::int64_t> flat;
      for (const PerDim<std::int64_t>& along : unrolling.factors) {
        flat.insert(flat.end(), along.begin(), along.end());
      }
      for (const Rules::AxisFactors& axes : unrolling.axes) {
        flat.insert(flat.end(), axes[0].begin(), axes[0].end());
      }
      return flat;
    };
    for (const Claim& claim : certificate_.claims) {
      require(by_factors.emplace(key(claim.unrolling), &claim).second, claim.line,
              fmt::format("a second bound of {}", unrolling_text(problem_, claim.unrolling)));
    }
    std::vector<const Claim*> claims;
    for (const Unrolling& unrolling : unrollings) {
      const auto found = by_factors.find(key(unrolling));
      if (found == by_factors.end()) {
        require(false, 0,
                fmt::format("no bound of the unrolling {}", unrolling_text(problem_, unrolling)));
      } else {
        claims.push_back(found->second);
        by_factors.erase(found);
      }
    }
    for (const auto& [factors, claim] : by_factors) {
      require(
          false, claim->line,
          fmt::format("no unrolling of the space: {}", unrolling_text(problem_, claim->unrolling)));
    }
    return claims;
  }

  void check_lower_bound() {
    for (const Claim& claim : certificate_.claims) {
      require(!exceeds(certificate_.lower_bound, claim.bound), claim.line,
              fmt::format("a bound of {} is less than the lower bound of the whole, {}",
                          value_text(claim.bound, certificate_.goal),
                          value_text(certificate_.lower_bound, certificate_.goal)));
    }
    require(!exceeds(certificate_.lower_bound, certificate_.value), 0,
            "the lower bound exceeds the value of the mapping");
  }

  // Used fanouts, and bits of what may stay in a systolic array.
  using Kind = std::pair<std::vector<FanoutId>, std::uint32_t>;
  Kind kind_of(const Unrolling& unrolling) const {
    if (is_balanced()) {
      std::vector<FanoutId> used;
      for (const Spread& spread : list_spreads(problem_, unrolling)) {
        used.push_back(spread.fanout);
      }
      return {used, 0};
    }
    const auto stays = may_stay_in_array(problem_, unrolling);
    return {list_cases(problem_, unrolling).front().used, stays ? stays->bits() : 0};
  }
  void prepare_graph(const Unrolling& unrolling) {
    const Kind kind = kind_of(unrolling);
    std::unique_ptr<Graph>& graph = graphs_[kind];
    if (!graph) {
      const auto stays = is_balanced() ? std::nullopt : may_stay_in_array(problem_, unrolling);
      graph = std::make_unique<Graph>(problem_, certificate_.rules, kind.first, stays);
    }
  }

  // Of one unrolling: every mapping is one that the frontier covers.
  struct Task {
    const Unrolling* unrolling = nullptr;
    Frontier frontier;
    int line = 0;
  };

  Frontier points_frontier() const {
    Frontier frontier;
    for (const Point& point : certificate_.points) {
      frontier.points.push_back(point.figures);
    }
    frontier.first_decides = certificate_.goal.kind == Goal::Kind::kTies;
    frontier.slack = certificate_.goal.ties_by_energy() ? kRounding : 0;
    return frontier;
  }

  // None is better than the bound; where that is the optimum and ties count, none is faster.
  Frontier below(const Claim& claim) const {
    if (certificate_.goal.kind == Goal::Kind::kTies && !exceeds(claim.bound, certificate_.value)) {
      return points_frontier();
    }
    return {{{claim.bound, 0}}, false, 0};
  }

  void check_tasks(const std::vector<Task>& tasks) {
    for (const Task& task : tasks) {
      prepare_graph(*task.unrolling);  // before threads share them
    }
    std::vector<std::string> wrong(tasks.size());
    for_each_on_threads(tasks.size(), options_.threads,
                        [&](std::size_t t) { wrong[t] = why_unproven(tasks[t]); });
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      require(wrong[t].empty(), tasks[t].line, wrong[t]);
    }
  }

  // "a bound of 5 pJ of", "all points from"
  std::string claim_text(const Task& task) const {
    return certificate_.is_front()
               ? "the points are not all: of"
               : fmt::format("a bound of {} of",
                             value_text(task.frontier.points.front().first, certificate_.goal));
  }

  // Of a balanced space.
  std::string why_open(const Task& task) {
    const bool by_share = certificate_.is_front() || task.frontier.first_decides;
    const Target target{task.frontier, by_share, 1 / (1 + certificate_.gap)};
    const double found = bound_of(*task.unrolling, target, options_.effort);
    if (!exceeds(target.met(), found)) {
      return {};
    }
    const std::string named = unrolling_text(problem_, *task.unrolling);
    return by_share ? fmt::format("{} the unrolling {} there may be one with less, by {:.4g} %",
                                  claim_text(task), named, 100 * (1 / found - 1))
                    : fmt::format("{} the unrolling {}, of which no more than {} follows",
                                  claim_text(task), named, value_text(found, certificate_.goal));
  }

  // By the cheapest argument that does.
  std::string why_unproven(const Task& task) {
    const Goal& goal = certificate_.goal;
    if (is_balanced()) {
      return why_open(task);
    }
    for (const bool together : {false, true}) {
      if ((!together || goal.needs_energy()) &&
          task.frontier.covers(
              floor_of(problem_, certificate_.rules, goal, *task.unrolling, together))) {
#pragma omp atomic
        ++verdict_.by_floor;
        return {};
      }
    }
    bool replayed = false;
    for (const Case& part : list_cases(problem_, *task.unrolling)) {
      const Graph& graph = *graphs_.at(kind_of(*task.unrolling));
      const std::optional<Figures> better = find_uncovered(task, graph, part, replayed);
      if (better) {
        const bool two = goal.kind != Goal::Kind::kValue;
        return fmt::format("{} the unrolling {}, where there is a mapping of {}{}",
                           claim_text(task), unrolling_text(problem_, *task.unrolling),
                           value_text(better->first, goal),
                           two ? " and " + measure_text(better->second, goal) : "");
      }
    }
    std::int64_t& proven = replayed ? verdict_.by_replay : verdict_.by_relaxation;
#pragma omp atomic
    ++proven;
    return {};
  }

  // What a mapping of the case comes to that is better than claimed, if there is one.
  std::optional<Figures> find_uncovered(const Task& task, const Graph& graph, const Case& part,
                                        bool& replayed) {
    double steps = 1;
    for (const std::int64_t bound : part.bounds) {
      steps *= static_cast<double>(bound);
    }
    const Price price{problem_, graph, certificate_.goal, steps};
    const Tiles tiles{part.bounds};
    Tolls tolls{graph, part, tiles, price.tracked()};
    std::optional<ArrayTimes> array;
    if (price.times_array()) {
      array.emplace(graph, part, tiles, tolls);
    }
    ArrayTimes* const times = array ? &*array : nullptr;
    const Potential potential{graph, part, tiles, tolls, times};
#pragma omp atomic
    verdict_.states += potential.states();
    if (potential.is_covered(tolls, price, task.frontier)) {
      return std::nullopt;
    }
    replayed = true;
    const Replay replay =
        find_better(graph, tiles, tolls, potential, times, price, certificate_.goal, task.frontier);
#pragma omp atomic
    verdict_.labels += replay.labels;
    return replay.better;
  }

  const Certificate& certificate_;
  const CheckOptions& options_;
  const Problem& problem_;
  Ladders ladders_;  // of a balanced space
  std::map<Kind, std::unique_ptr<Graph>> graphs_;
  Verdict verdict_;
};

}  // namespace

std::vector<double> provable_bounds(const Certificate& certificate, const CheckOptions& options) {
  return Checker{certificate, options}.provable(certificate.value);
}

double provable_share(const Certificate& certificate, const CheckOptions& options) {
  return Checker{certificate, options}.provable_share();
}

Verdict check_certificate(const Certificate& certificate, const CheckOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Verdict verdict = certificate.rules.schedules ? check_schedules(certificate, options)
                                                : Checker{certificate, options}.run();
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verdict;
}

}  // namespace mapsim::check
