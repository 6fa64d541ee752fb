// SPDX-License-Identifier: Apache-2.0
#include "check/check.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "check/boxes.hpp"
#include "check/intervals.hpp"
#include "check/membership.hpp"
#include "check/point.hpp"
#include "check/prover.hpp"
#include "check/schedules.hpp"
#include "check/size.hpp"
#include "core/threads.hpp"
#include "costmodel/sparse/model.hpp"
#include "costmodel/sparse/separable.hpp"

// Checks a certificate (docs/certificates.md): its mappings, the size of the mapspace, and that no
// unrolling has a better mapping. Sets of unrollings are closed first (boxes.hpp, and with
// imperfect factors intervals.hpp), and the unrollings that they leave open are bounded one by one.

namespace mapsim::check {

namespace {

class Checker {
 public:
  Checker(const Certificate& certificate, const CheckOptions& options)
      : certificate_{certificate},
        options_{options},
        problem_{certificate.problem},
        prover_{certificate, options, verdict_} {}

  Verdict run() {
    check_points();
    if (const std::string why = why_not_checked(); !why.empty()) {
      verdict_.problems.push_back("zeros: " + why);
      return verdict_;
    }
    return run_search();
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

  // Unrollings without a claim of their own are closed by bounds of sets, as far as possible.
  Verdict run_search() {
    Claims claims = find_claims();
    std::optional<Task> others;
    if (certificate_.is_front()) {
      others = Task{{}, certificate_.claimed_front(), 0};
    } else if (const auto claim = claims.find({}); claim != claims.end()) {
      others = Task{{}, below(*claim->second), claim->second->line};
      claims.erase(claim);
    }
    std::vector<Task> tasks;
    const auto take = [&](const Unrolling& unrolling) {
      if (others && !claims.contains(key_of(unrolling))) {
        tasks.push_back({unrolling, others->front, others->line});
      } else {
        take_claim(unrolling, claims, tasks);
      }
    };
    is_imperfect() ? visit_imperfect(others, take) : visit_perfect(others, take);
    const Claims closed = claims;  // with others
    for (const auto& [key, claim] : closed) {
      if (others && has(claim->unrolling)) {
        take_claim(claim->unrolling, claims, tasks);
      }
    }
    refuse_strangers(claims);
    if (!certificate_.is_front()) {
      check_lower_bound();
    }
    verdict_.by_unrolling_bound -= is_imperfect() ? 0 : std::ssize(tasks);
    if (verdict_.problems.empty()) {
      check_tasks(tasks);
    }
    return std::move(verdict_);
  }

  using Take = std::function<void(const Unrolling&)>;

  void visit_perfect(const std::optional<Task>& others, const Take& take) {
    const Rules& rules = certificate_.rules;
    const std::vector<Bundle> bundles = list_bundles(problem_, rules);
    check_size([&] { return count_mappings(problem_, rules, bundles, options_.threads); });
    const std::optional<Target> target = target_of(others);
    visit_open(
        problem_, rules,
        [&](const ChoiceRanges& ranges) { return target && prover_.is_closed(ranges, *target); },
        take);
    for (const Bundle& bundle : bundles) {
      verdict_.by_unrolling_bound += bundle.classes;
    }
  }

  void visit_imperfect(const std::optional<Task>& others, const Take& take) {
    const IntervalSpace space{problem_, certificate_.rules};
    check_size([&]() -> std::optional<std::string> {
      const auto all = space.list(kMostOpen, options_.effort.stop);
      return all ? count_imperfect(problem_, certificate_.rules, *all) : std::nullopt;
    });
    const std::optional<Target> target = target_of(others);
    std::atomic<std::int64_t> closed = 0;
    std::size_t open = 0;
    const bool is_complete = visit_open_sets(
        space, options_.threads, options_.effort.stop,
        [&](const ChoiceRanges& ranges) {
          const bool is_closed = target && prover_.is_closed(ranges, *target);
          closed += is_closed ? 1 : 0;
          return is_closed;
        },
        [&](const Unrolling& unrolling) {
          take(unrolling);
          return ++open <= kMostOpen;
        });
    verdict_.sets = closed;
    require(is_complete, 0,
            options_.effort.stop.is_set()
                ? "the check was stopped"
                : fmt::format("more than {} unrollings would have to be examined one by one",
                              kMostOpen));
  }

  bool has(const Unrolling& unrolling) const {
    return is_imperfect() ? IntervalSpace{problem_, certificate_.rules}.contains(unrolling)
                          : is_in_space(problem_, certificate_.rules, unrolling);
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
      prover_.prepare_graph(task.unrolling);  // before threads share them
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

  Target target_of(const Task& task) const {
    const bool by_share = !is_imperfect() || certificate_.is_front() || task.front.first_decides;
    return {task.front, by_share, is_imperfect() ? 1 / (1 + certificate_.gap) : 1};
  }
  std::optional<Target> target_of(const std::optional<Task>& task) const {
    return task ? std::optional{target_of(*task)} : std::nullopt;
  }

  std::string why_unproven(const Task& task) {
    const Goal& goal = certificate_.goal;
    const Target target = target_of(task);
    const BoundedUnrolling found = prover_.bound_of(task.unrolling, target, options_.effort);
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
    return target.by_share
               ? fmt::format("{} the unrolling {} there may be one with less, by {:.4g} %",
                             claim_text(task), named, 100 * (1 / found.bound - 1))
               : fmt::format("{} the unrolling {}, of which no more than {} follows",
                             claim_text(task), named, value_text(found.bound, goal));
  }

  const Certificate& certificate_;
  const CheckOptions& options_;
  const Problem& problem_;
  Verdict verdict_;
  Prover prover_;
};

}  // namespace

void Verdict::require(bool holds, const Certificate& certificate, int line,
                      const std::string& otherwise) {
  if (!holds) {
    problems.push_back(line > 0 ? fmt::format("{}:{}: {}", certificate.file, line, otherwise)
                                : otherwise);
  }
}

Verdict check_certificate(const Certificate& certificate, const CheckOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Verdict verdict = certificate.rules.schedules ? check_schedules(certificate, options)
                                                : Checker{certificate, options}.run();
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verdict;
}

}  // namespace mapsim::check
