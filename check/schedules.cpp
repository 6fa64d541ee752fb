// SPDX-License-Identifier: Apache-2.0
#include "check/schedules.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <utility>

#include "check/engine.hpp"
#include "check/point.hpp"
#include "core/threads.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

class ScheduleChecker {
 public:
  ScheduleChecker(const Certificate& certificate, const CheckOptions& options)
      : certificate_{certificate}, options_{options}, front_{certificate.claimed_front()} {}

  Verdict run() {
    require(
        certificate_.points.empty() == !(certificate_.value < kInfinity) || certificate_.is_front(),
        0, "there is a value, but no mapping of it");
    require(!exceeds(certificate_.lower_bound, certificate_.value), 0,
            "the lower bound exceeds the value of the mapping");
    const std::vector<Form> forms = list_forms(certificate_.problem, certificate_.rules.batches);
    check_points(forms);
    if (verdict_.problems.empty()) {
      check_forms(forms);
    }
    return std::move(verdict_);
  }

 private:
  // The result of evaluating all schedules of a form.
  struct Walk {
    std::int64_t count = 0;
    std::optional<Figures> better;  // than claimed
    std::vector<bool> met;          // points of the certificate that are schedules
    bool by_unrolling_bound = false;
    std::string wrong;
  };

  void require(bool holds, int line, const std::string& otherwise) {
    verdict_.require(holds, certificate_, line, otherwise);
  }

  void check_points(const std::vector<Form>& forms) {
    for (const Point& point : certificate_.points) {
      const int line = certificate_.is_front() ? point.line : 0;
      const Problem problem = formed(certificate_.problem, point.form).value();
      require(std::find(forms.begin(), forms.end(), point.form) != forms.end(), line,
              fmt::format("the machine has no form {} of the layer", to_string(point.form)));
      for (const std::string& fault : faults_of_point(problem, certificate_.goal, point,
                                                      options_.max_steps, verdict_.walked)) {
        require(false, line, fault);
      }
    }
  }

  void check_forms(const std::vector<Form>& forms) {
    std::vector<Walk> walks(forms.size());
    for_each_on_threads(forms.size(), options_.threads,
                        [&](std::size_t f) { walks[f] = walk(forms[f]); });
    std::vector<bool> met(certificate_.points.size(), false);
    for (std::size_t f = 0; f < forms.size(); ++f) {
      ++verdict_.forms;
      verdict_.schedules += walks[f].count;
      verdict_.by_unrolling_bound += walks[f].by_unrolling_bound ? 1 : 0;
      require(walks[f].wrong.empty(), 0, walks[f].wrong);
      for (std::size_t p = 0; p < met.size(); ++p) {
        met[p] = met[p] || walks[f].met[p];
      }
      if (const std::optional<Figures>& better = walks[f].better) {
        require(false, 0, better_text(forms[f], *better));
      }
    }
    for (std::size_t p = 0; p < met.size(); ++p) {
      require(met[p], certificate_.is_front() ? certificate_.points[p].line : 0,
              "the mapping is none of the engine's schedules");
    }
    require(certificate_.size == std::to_string(verdict_.schedules), 0,
            fmt::format("the engine has {} schedules of the layer, not {}", verdict_.schedules,
                        certificate_.size));
  }

  std::string better_text(Form form, const Figures& better) const {
    const Goal& goal = certificate_.goal;
    const bool two = goal.kind != Goal::Kind::kValue;
    return fmt::format("a schedule of the form {} has {}{}, which is better than claimed",
                       to_string(form), value_text(better.first, goal),
                       two ? " and " + measure_text(better.second, goal) : "");
  }

  // Every schedule is evaluated.
  Walk walk(Form form) const {
    const Problem problem = formed(certificate_.problem, form).value();
    Walk walk;
    walk.met.resize(certificate_.points.size());
    walk.wrong = why_no_engine(problem);
    if (!walk.wrong.empty()) {
      return walk;
    }
    if (is_needless(problem)) {
      walk.count = visit_schedules(problem, {});
      walk.by_unrolling_bound = true;
      return walk;
    }
    Evaluator evaluator{problem};
    walk.count = visit_schedules(problem, [&](const Mapping& mapping) {
      if (evaluator.evaluate(mapping)) {
        return;  // does not fit
      }
      const Figures found = figures_of(problem, certificate_.goal, evaluator.cost());
      if (!front_.dominates(found) && (!walk.better || found.first < walk.better->first)) {
        walk.better = found;
      }
      meet(problem.workload(), mapping, found, walk);
    });
    return walk;
  }

  // There are many merges of many groups, and large ones waste most of their work.
  bool is_needless(const Problem& problem) const {
    const Form form = problem.workload().form;
    if (form.kind != FormKind::kMerged ||
        std::any_of(certificate_.points.begin(), certificate_.points.end(),
                    [form](const Point& point) { return point.form == form; })) {
      return false;
    }
    const EngineBound bound = bound_of_schedules(problem);
    return front_.dominates(certificate_.goal.figures(bound.energy, bound.cycles, 0));
  }

  // Notes the points of the certificate whose mapping this is.
  void meet(const Workload& workload, const Mapping& mapping, const Figures& found,
            Walk& walk) const {
    for (std::size_t p = 0; p < walk.met.size(); ++p) {
      const Point& point = certificate_.points[p];
      if (!walk.met[p] && point.form == workload.form && found.first == point.figures.first) {
        walk.met[p] = canonical(workload, mapping) == canonical(workload, point.mapping);
      }
    }
  }

  const Certificate& certificate_;
  const CheckOptions& options_;
  ClaimedFront front_;
  Verdict verdict_;
};

}  // namespace

Verdict check_schedules(const Certificate& certificate, const CheckOptions& options) {
  return ScheduleChecker{certificate, options}.run();
}

}  // namespace mapsim::check
