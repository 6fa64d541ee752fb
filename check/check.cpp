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

#include "check/closed_form_bound.hpp"
#include "check/geometry.hpp"
#include "check/membership.hpp"
#include "check/point.hpp"
#include "check/schedules.hpp"
#include "check/size.hpp"
#include "check/unrolling_bound.hpp"
#include "core/threads.hpp"
#include "costmodel/sparse/model.hpp"
#include "costmodel/sparse/separable.hpp"

// Checks a certificate (docs/certificates.md): its mappings, the size of the mapspace, and that no
// unrolling has a better mapping. With perfect factors boxes of unrollings are closed first, and
// the unrollings that they leave open are bounded one by one. With imperfect factors all unrollings
// are listed.

namespace mapsim::check {

namespace {

class Checker {
 public:
  Checker(const Certificate& certificate, const CheckOptions& options)
      : certificate_{certificate},
        options_{options},
        problem_{certificate.problem},
        domains_{is_imperfect() ? list_extent_domains(problem_.workload(), certificate.rules)
                                : ExtentDomains{}} {}

  Verdict run() {
    check_points();
    if (const std::string why = why_not_checked(); !why.empty()) {
      verdict_.problems.push_back("zeros: " + why);
      return verdict_;
    }
    return is_imperfect() ? run_imperfect() : run_perfect();
  }

  // The proof requires that costs depend only on the tile below a boundary.
  std::string why_not_checked() const {
    const SparseModel* zeros = problem_.sparse();
    if (zeros == nullptr) {
      return "";
    }
    const Rules& rules = certificate_.rules;
    const bool ruled = rules.even || !rules.extents.empty();
    return is_imperfect()                     ? "formats are checked with perfect factors only"
           : zeros->has_conditions() && ruled ? "conditions are checked without rules for tiles"
                                              : why_not_separable(problem_);
  }

  // The least share over all unrollings. Those that take long are searched further if they are few.
  double provable_share() {
    constexpr std::size_t kMostTiles = 6'000'000;  // of a round: some minutes at most
    constexpr std::size_t kMostClose = 64;
    const Target target{certificate_.claimed_front(), true, 1};
    const std::vector<Unrolling> unrollings =
        list_imperfect_unrollings(problem_, certificate_.rules);
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
      const bool close = tiles > coarse;
      if (open.empty() || (close ? open.size() > kMostClose : open.size() * tiles > kMostTiles)) {
        break;
      }
      const Effort effort{tiles, close ? options_.effort.labels : 0, options_.effort.stop};
      std::vector<double> shares(open.size());
      for_each_on_threads(open.size(), options_.threads, [&](std::size_t i) {
        shares[i] = bound_of(unrollings[open[i]], target, effort).bound;
      });
      if (options_.effort.stop.is_set()) {  // this round was not finished
        break;
      }
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

  // For each claim, in order, a bound that can be proven, at most `wanted`. The least of them is
  // searched further until it cannot be raised.
  std::vector<double> provable(double wanted) {
    constexpr std::size_t kBatch = 16;  // whatever the number of threads
    const Target target{{{{wanted, 0}}}, false, 0};
    std::vector<Effort> steps{{0, 0}};  // the closed-form bound
    for (const std::size_t tiles : kCoarseTiles) {
      if (tiles < options_.effort.tiles) {
        steps.push_back({tiles, 0, options_.effort.stop});
      }
    }
    steps.push_back(options_.effort);
    std::vector<double> bounds(certificate_.claims.size(), 0);
    std::vector<std::size_t> done(bounds.size(), 0);
    const auto take_step = [&](std::size_t c) {
      if (options_.effort.stop.is_set()) {
        return;
      }
      const Unrolling& unrolling = certificate_.claims[c].unrolling;
      const double found = bound_of(unrolling, target, steps[done[c]++]).bound;
      bounds[c] = std::max(bounds[c], found);
    };
    using Open = std::pair<double, std::size_t>;
    std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
    double least = wanted;  // of the claims whose bounds cannot be raised
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
  bool is_imperfect() const { return certificate_.rules.imperfect; }

  // For one unrolling: every mapping must be dominated by the front.
  struct Task {
    Unrolling unrolling;
    ClaimedFront front;
    int line = 0;
  };
  // The claims by what they are about; nullopt: the others.
  using Key = std::vector<std::int64_t>;
  using Claims = std::map<Key, const Claim*>;

  Verdict run_imperfect() {
    const std::vector<Unrolling> unrollings =
        list_imperfect_unrollings(problem_, certificate_.rules);
    check_size([&] { return count_imperfect(problem_, certificate_.rules, unrollings); });
    std::vector<Task> tasks;
    if (certificate_.is_front()) {
      for (const Unrolling& unrolling : unrollings) {
        tasks.push_back({unrolling, certificate_.claimed_front(), 0});
      }
    } else {
      Claims claims = find_claims();
      for (const Unrolling& unrolling : unrollings) {
        take_claim(unrolling, claims, tasks);
      }
      refuse_strangers(claims);
      check_lower_bound();
    }
    return finish(tasks);
  }

  // Unrollings without a claim of their own are closed by boxes, as far as possible.
  Verdict run_perfect() {
    const Rules& rules = certificate_.rules;
    const std::vector<Bundle> bundles = list_bundles(problem_, rules);
    check_size([&] { return count_mappings(problem_, rules, bundles, options_.threads); });
    Claims claims = find_claims();
    std::optional<Task> others;
    if (certificate_.is_front()) {
      others = Task{{}, certificate_.claimed_front(), 0};
    } else if (const auto claim = claims.find({}); claim != claims.end()) {
      others = Task{{}, below(*claim->second), claim->second->line};
      claims.erase(claim);
    }
    std::vector<Task> tasks;
    visit_open(
        problem_, rules,
        [&](const ChoiceRanges& ranges) { return others && is_closed(ranges, others->front); },
        [&](const Unrolling& unrolling) {
          if (others && !claims.contains(key_of(unrolling))) {
            tasks.push_back({unrolling, others->front, others->line});
          } else {
            take_claim(unrolling, claims, tasks);
          }
        });
    const Claims closed = claims;  // by boxes
    for (const auto& [key, claim] : closed) {
      if (others && is_in_space(problem_, rules, claim->unrolling)) {
        take_claim(claim->unrolling, claims, tasks);
      }
    }
    refuse_strangers(claims);
    if (!certificate_.is_front()) {
      check_lower_bound();
    }
    for (const Bundle& bundle : bundles) {
      verdict_.by_unrolling_bound += bundle.classes;
    }
    verdict_.by_unrolling_bound -= std::ssize(tasks);
    return finish(tasks);
  }

  bool is_closed(const ChoiceRanges& ranges, const ClaimedFront& front) const {
    const Goal& goal = certificate_.goal;
    const auto is_dominated = [&](bool together) {
      return front.dominates(
          closed_form_bound(problem_, certificate_.rules, goal, ranges, together));
    };
    return is_dominated(false) || (goal.needs_energy() && is_dominated(true));
  }

  Verdict finish(const std::vector<Task>& tasks) {
    if (verdict_.problems.empty()) {
      check_tasks(tasks);
    }
    return std::move(verdict_);
  }

  // A lower bound of the mappings of the unrolling, up to `target`, by the cheapest argument that
  // suffices.
  BoundedUnrolling bound_of(const Unrolling& unrolling, const Target& target,
                            const Effort& effort) {
    const Goal& goal = certificate_.goal;
    BoundedUnrolling found;
    // All tensors together give a better bound. With imperfect factors it is no better than that of
    // a coarse lattice.
    for (const bool together : {false, true}) {
      if (together && (is_imperfect() || !goal.needs_energy())) {
        continue;
      }
      const Figures closed_form =
          closed_form_bound(problem_, certificate_.rules, goal, unrolling, together);
      if (target.is_met_by(closed_form)) {
#pragma omp atomic
        ++verdict_.by_unrolling_bound;
        found.bound = target.threshold();
        return found;
      }
      found.bound = target.of(closed_form);
    }
    if (effort.tiles == 0) {
      return found;
    }
    const double closed_form = std::min(found.bound, target.threshold());
    found =
        bound_unrolling(*graphs_.at(kind_of(unrolling)), goal, domains_, unrolling, target, effort);
#pragma omp atomic
    verdict_.states += found.states;
#pragma omp atomic
    verdict_.labels += found.labels;
    std::int64_t& proven =
        found.labels > 0 ? verdict_.by_label_search : verdict_.by_completion_bound;
#pragma omp atomic
    ++proven;
    found.bound = std::max(found.bound, closed_form);
    return found;
  }

  void require(bool holds, int line, const std::string& otherwise) {
    verdict_.require(holds, certificate_, line, otherwise);
  }

  // `count()`: nullopt if it takes too long.
  template <class Count>
  void check_size(const Count& count) {
    std::optional<std::string> size;
    if (certificate_.size != kNotCounted) {
      size = count();
    }
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

  static Key key_of(const Unrolling& unrolling) {
    Key flat;
    for (const PerDim<std::int64_t>& along : unrolling.factors) {
      flat.insert(flat.end(), along.begin(), along.end());
    }
    for (const Rules::AxisFactors& axes : unrolling.axes) {
      flat.insert(flat.end(), axes[0].begin(), axes[0].end());
    }
    return flat;
  }
  Claims find_claims() {
    Claims claims;
    for (const Claim& claim : certificate_.claims) {
      const bool is_new =
          claims.emplace(claim.is_of_others ? Key{} : key_of(claim.unrolling), &claim).second;
      require(is_new, claim.line,
              fmt::format("a second bound of {}", claim.is_of_others
                                                      ? "all other unrollings"
                                                      : unrolling_text(problem_, claim.unrolling)));
    }
    return claims;
  }

  // Every unrolling of the space needs a claim, and no other one may have one.
  void take_claim(const Unrolling& unrolling, Claims& claims, std::vector<Task>& tasks) {
    const auto found = claims.find(key_of(unrolling));
    if (found == claims.end()) {
      require(false, 0,
              fmt::format("no bound of the unrolling {}", unrolling_text(problem_, unrolling)));
      return;
    }
    tasks.push_back({unrolling, below(*found->second), found->second->line});
    claims.erase(found);
  }
  void refuse_strangers(const Claims& claims) {
    for (const auto& [key, claim] : claims) {
      require(
          false, claim->line,
          fmt::format("no unrolling of the space: {}", unrolling_text(problem_, claim->unrolling)));
    }
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

  // The used fanouts, and the tensors that may stay in a systolic array, as bits.
  using Kind = std::pair<std::vector<FanoutId>, std::uint32_t>;
  Kind kind_of(const Unrolling& unrolling) const {
    if (is_imperfect()) {
      std::vector<FanoutId> used;
      for (const ParallelLoops& loops : list_parallel_loops(problem_, unrolling)) {
        used.push_back(loops.fanout);
      }
      return {used, 0};
    }
    const auto stays = may_stay_in_array(problem_, unrolling);
    return {list_blocked_unrollings(problem_, unrolling).front().used, stays ? stays->bits() : 0};
  }
  void prepare_graph(const Unrolling& unrolling) {
    const Kind kind = kind_of(unrolling);
    std::unique_ptr<Graph>& graph = graphs_[kind];
    if (!graph) {
      const auto stays = is_imperfect() ? std::nullopt : may_stay_in_array(problem_, unrolling);
      graph = std::make_unique<Graph>(problem_, certificate_.rules, kind.first, stays);
    }
  }

  // What must be dominated: no mapping is better than the bound and, if the bound is the optimum
  // and ties count, none is faster.
  ClaimedFront below(const Claim& claim) const {
    if (certificate_.goal.kind == Goal::Kind::kTies && !certificate_.points.empty() &&
        !exceeds(claim.bound, certificate_.value)) {
      return certificate_.claimed_front();
    }
    return {{{claim.bound, 0}}, false, 0};
  }

  void check_tasks(const std::vector<Task>& tasks) {
    for (const Task& task : tasks) {
      prepare_graph(task.unrolling);  // before threads share them
    }
    std::vector<std::string> wrong(tasks.size());
    for_each_on_threads(tasks.size(), options_.threads, [&](std::size_t t) {
      wrong[t] = options_.effort.stop.is_set() ? "the check was stopped" : why_unproven(tasks[t]);
    });
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      require(wrong[t].empty(), tasks[t].line, wrong[t]);
    }
  }

  // "a bound of 5 pJ of", "all points from"
  std::string claim_text(const Task& task) const {
    return certificate_.is_front()
               ? "the points are not all: of"
               : fmt::format("a bound of {} of",
                             value_text(task.front.points.front().first, certificate_.goal));
  }

  std::string why_unproven(const Task& task) {
    const Goal& goal = certificate_.goal;
    const bool by_share = !is_imperfect() || certificate_.is_front() || task.front.first_decides;
    const double enough = is_imperfect() ? 1 / (1 + certificate_.gap) : 1;
    const Target target{task.front, by_share, enough};
    const BoundedUnrolling found = bound_of(task.unrolling, target, options_.effort);
    const std::string named = unrolling_text(problem_, task.unrolling);
    if (found.better) {
      const bool two = goal.kind != Goal::Kind::kValue;
      return fmt::format("{} the unrolling {}, where there is a mapping of {}{}", claim_text(task),
                         named, value_text(found.better->first, goal),
                         two ? " and " + measure_text(found.better->second, goal) : "");
    }
    if (!exceeds(target.threshold(), found.bound)) {
      return {};
    }
    return by_share ? fmt::format("{} the unrolling {} there may be one with less, by {:.4g} %",
                                  claim_text(task), named, 100 * (1 / found.bound - 1))
                    : fmt::format("{} the unrolling {}, of which no more than {} follows",
                                  claim_text(task), named, value_text(found.bound, goal));
  }

  const Certificate& certificate_;
  const CheckOptions& options_;
  const Problem& problem_;
  ExtentDomains domains_;  // of a space with imperfect factors
  std::map<Kind, std::unique_ptr<Graph>> graphs_;
  Verdict verdict_;
};

}  // namespace

void Verdict::require(bool holds, const Certificate& certificate, int line,
                      const std::string& otherwise) {
  if (!holds) {
    problems.push_back(line > 0 ? fmt::format("{}:{}: {}", certificate.file, line, otherwise)
                                : otherwise);
  }
}

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
