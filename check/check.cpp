// SPDX-License-Identifier: Apache-2.0
#include "check/check.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <chrono>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "check/floor.hpp"
#include "check/membership.hpp"
#include "check/replay.hpp"
#include "check/size.hpp"
#include "costmodel/reference/simulate.hpp"

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

// Is `claimed` more than `found` by more than rounding?
bool exceeds(double claimed, double found) {
  return claimed < kInfinity ? claimed > found * (1 + kRounding) : found < kInfinity;
}

class Checker {
 public:
  Checker(const Certificate& certificate, const CheckOptions& options)
      : certificate_{certificate}, options_{options}, problem_{certificate.problem} {}

  Verdict run() {
    check_best();
    const std::vector<Unrolling> unrollings = list_unrollings(problem_, certificate_.rules);
    const std::string size = count_mappings(problem_, certificate_.rules, unrollings);
    require(size == certificate_.size, 0,
            fmt::format("the mapspace has {} mappings, not {}", size, certificate_.size));
    const std::vector<const Claim*> claims = match(unrollings);
    check_lower_bound();
    if (verdict_.problems.empty()) {
      check_claims(claims);
    }
    return std::move(verdict_);
  }

 private:
  void require(bool holds, int line, const std::string& otherwise) {
    if (!holds) {
      verdict_.problems.push_back(
          line > 0 ? fmt::format("{}:{}: {}", certificate_.file, line, otherwise) : otherwise);
    }
  }

  // The mapping is one of the space, and costs what is claimed.
  void check_best() {
    if (!certificate_.best) {
      require(!(certificate_.value < kInfinity), 0, "there is a value, but no mapping of it");
      return;
    }
    const std::string outside = why_outside(problem_, certificate_.rules, *certificate_.best);
    require(outside.empty(), 0,
            fmt::format("the mapping is not in the declared mapspace: {}", outside));
    const Evaluation evaluation = evaluate(problem_, *certificate_.best);
    const Cost* cost = std::get_if<Cost>(&evaluation);
    if (cost == nullptr) {
      require(false, 0, "the mapping does not fit the machine");
      return;
    }
    const double energy = cost->energy.total.count();
    const auto cycles = static_cast<double>(
        (certificate_.goal.ramped ? cost->latency.ramped : cost->latency.steady).count());
    const double value = certificate_.goal.value(energy, cycles);
    require(
        value == certificate_.value, 0,
        fmt::format("the mapping has a value of {}, not {}", value_text(value, certificate_.goal),
                    value_text(certificate_.value, certificate_.goal)));
    require(certificate_.goal.is_within_limits(energy, cycles), 0,
            "the mapping is beyond the objective's limits");
    if (problem_.macs() <= options_.max_steps) {
      const Simulation walk = simulate(problem_, *certificate_.best,
                                       random_operands(problem_.workload(), 1), options_.max_steps);
      verdict_.walked = true;
      require(walk.counts == cost->counts, 0,
              "the reference simulator counts other accesses of the mapping than the closed form");
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

  const Graph& graph_of(const std::vector<FanoutId>& used) {
    std::unique_ptr<Graph>& graph = graphs_[used];
    if (!graph) {
      graph = std::make_unique<Graph>(problem_, certificate_.rules, used);
    }
    return *graph;
  }

  void check_claims(const std::vector<const Claim*>& claims) {
    for (const Claim* claim : claims) {
      graph_of(list_cases(problem_, claim->unrolling).front().used);  // before threads share them
    }
    std::vector<std::string> wrong(claims.size());
    const auto count = static_cast<std::int64_t>(claims.size());
#pragma omp parallel for schedule(dynamic, 1) num_threads(options_.threads)
    for (std::int64_t c = 0; c < count; ++c) {
      const auto index = static_cast<std::size_t>(c);
      wrong[index] = why_unproven(*claims[index]);
    }
    for (std::size_t c = 0; c < claims.size(); ++c) {
      require(wrong[c].empty(), claims[c]->line, wrong[c]);
    }
  }

  // By the cheapest argument that does.
  std::string why_unproven(const Claim& claim) {
    if (!exceeds(claim.bound, floor_of(problem_, certificate_.rules, certificate_.goal,
                                       claim.unrolling.factors))) {
#pragma omp atomic
      ++verdict_.by_floor;
      return {};
    }
    bool replayed = false;
    for (const Case& part : list_cases(problem_, claim.unrolling)) {
      const Graph& graph = *graphs_.at(part.used);
      const std::optional<double> better = find_below(claim, graph, part, replayed);
      if (better) {
        return fmt::format("a bound of {} of the unrolling {}, where there is a mapping of {}",
                           value_text(claim.bound, certificate_.goal),
                           unrolling_text(problem_, claim.unrolling),
                           value_text(*better, certificate_.goal));
      }
    }
    std::int64_t& proven = replayed ? verdict_.by_replay : verdict_.by_relaxation;
#pragma omp atomic
    ++proven;
    return {};
  }

  // The value of a mapping of the case that is better than claimed, if there is one.
  std::optional<double> find_below(const Claim& claim, const Graph& graph, const Case& part,
                                   bool& replayed) {
    double steps = 1;
    for (const std::int64_t bound : part.bounds) {
      steps *= static_cast<double>(bound);
    }
    const Price price{problem_, graph, certificate_.goal, steps};
    const Tiles tiles{part.bounds};
    Tolls tolls{graph, part, tiles, price.tracked()};
    const Potential potential{graph, part, tiles, tolls};
#pragma omp atomic
    verdict_.states += potential.states();
    if (!exceeds(claim.bound, potential.bound(tolls, price))) {
      return std::nullopt;
    }
    replayed = true;
    const double limit = claim.bound * (1 - kRounding);
    const Replay replay = find_better(graph, tiles, tolls, potential, price, limit);
#pragma omp atomic
    verdict_.labels += replay.labels;
    return replay.better;
  }

  const Certificate& certificate_;
  const CheckOptions& options_;
  const Problem& problem_;
  std::map<std::vector<FanoutId>, std::unique_ptr<Graph>> graphs_;
  Verdict verdict_;
};

}  // namespace

Verdict check_certificate(const Certificate& certificate, const CheckOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Verdict verdict = Checker{certificate, options}.run();
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verdict;
}

}  // namespace mapsim::check
