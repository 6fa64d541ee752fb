// SPDX-License-Identifier: Apache-2.0
#include "validate/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/arithmetic.hpp"
#include "validate/measurements.hpp"
#include "validate/observations.hpp"
#include "validate/timing.hpp"

namespace mapsim {
namespace {

KernelChoice bare(KernelChoice kernel) {
  kernel.registers.reset();
  kernel.spilled_bytes.reset();
  return kernel;
}

KernelVerdict judge_kernel(const Gpu& gpu, const GpuMeasurement& row) {
  Gpu clocked = gpu;
  if (row.clock > Hertz{0}) {
    clocked.clock = row.clock;
  }
  KernelVerdict verdict;
  verdict.measurement = row;
  verdict.estimate = estimate(clocked, gpu.calibration(row.problem.precision, row.kernel->path),
                              row.problem, *row.kernel, timing_of(row));
  verdict.predicted = verdict.estimate.time.total.count();
  Observation observation;
  observation.problem = row.problem;
  observation.clock = clocked.clock.count();
  verdict.roofline = roofline_time(gpu, observation, row.kernel->path);
  return verdict;
}

double lesser(double known, double time) { return known == 0 ? time : std::min(known, time); }

// Rows into problems, kernels with their predictions.
std::vector<ProblemVerdict> grouped(const Gpu& gpu, std::span<const GpuMeasurement> rows,
                                    const std::map<std::string, std::string>& names) {
  std::vector<ProblemVerdict> problems;
  std::map<std::string, std::size_t> numbers;
  for (const GpuMeasurement& row : rows) {
    const std::string key = problem_key(row);
    const auto [place, is_new] = numbers.try_emplace(key, problems.size());
    if (is_new) {
      ProblemVerdict problem;
      const auto name = names.find(key);
      const GemmProblem& p = row.problem;
      problem.name = name != names.end()
                         ? name->second
                         : fmt::format("{} {}x{}x{}{}", to_string(p.precision), p.m, p.n, p.k,
                                       p.batch > 1 ? fmt::format(" x {}", p.batch) : "");
      problem.problem = p;
      problem.cold = row.cold;
      problems.push_back(std::move(problem));
    }
    ProblemVerdict& problem = problems[place->second];
    const double time = row.median.count();
    if (row.host_bound) {
      continue;
    }
    if (!row.kernel) {
      problem.library = lesser(problem.library, time);
    } else if (row.naive) {
      problem.naive = lesser(problem.naive, time);
    } else if (!illegal(gpu, row.problem, *row.kernel)) {
      problem.kernels.push_back(judge_kernel(gpu, row));
    }
  }
  return problems;
}

using Slowdowns = std::map<KernelChoice, double>;  // over the best of the problem

Slowdowns slowdowns(const ProblemVerdict& problem) {
  Slowdowns result;
  for (const KernelVerdict& kernel : problem.kernels) {
    result[bare(*kernel.measurement.kernel)] = kernel.measurement.median.count() / problem.best;
  }
  return result;
}

// What a kernel lost on the other problems, geometric mean; those measured in less than half of
// them are not known.
Slowdowns fixed_scores(const std::vector<Slowdowns>& all, std::size_t left_out) {
  std::map<KernelChoice, std::pair<double, std::size_t>> sums;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i != left_out) {
      for (const auto& [kernel, slowdown] : all[i]) {
        sums[kernel].first += std::log(slowdown);
        ++sums[kernel].second;
      }
    }
  }
  Slowdowns scores;
  for (const auto& [kernel, sum] : sums) {
    if (2 * sum.second + 1 >= all.size()) {
      scores[kernel] = std::exp(sum.first / real(static_cast<std::int64_t>(sum.second)));
    }
  }
  return scores;
}

struct Predictions {
  std::vector<Prediction> model, roofline, fixed, random;
};

Predictions predictions(const ProblemVerdict& problem, std::int64_t number,
                        const Slowdowns& scores) {
  Predictions lists;
  std::int64_t kernel_number = 0;
  for (const KernelVerdict& kernel : problem.kernels) {
    Prediction p{number, ++kernel_number, kernel.measurement.median.count(), kernel.predicted};
    lists.model.push_back(p);
    p.predicted = kernel.roofline;
    lists.roofline.push_back(p);
    const auto score = scores.find(bare(*kernel.measurement.kernel));
    p.predicted = score == scores.end() ? 1e9 : score->second;
    lists.fixed.push_back(p);
    p.predicted = 1;
    lists.random.push_back(p);
  }
  return lists;
}

// The figures that need only this problem.
void measure_up(const Gpu& gpu, ProblemVerdict& problem) {
  std::stable_sort(
      problem.kernels.begin(), problem.kernels.end(),
      [](const KernelVerdict& a, const KernelVerdict& b) { return a.predicted < b.predicted; });
  const KernelVerdict* best = nullptr;
  for (const KernelVerdict& kernel : problem.kernels) {
    if (best == nullptr || kernel.measurement.median < best->measurement.median) {
      best = &kernel;
    }
  }
  if (best == nullptr) {
    return;
  }
  problem.best = best->measurement.median.count();
  problem.best_kernel = to_string(*best->measurement.kernel);
  problem.library_to_best = problem.library / problem.best;
  const GemmProblem& p = problem.problem;
  const double clock =
      best->measurement.clock > Hertz{0} ? best->measurement.clock.count() : gpu.clock.count();
  problem.share_of_ceiling =
      real(p.batch) * real(p.m) * real(p.n) * real(p.k) /
      (gpu.rate(p.precision, best->measurement.kernel->path) * real(gpu.sms) * clock) /
      problem.best;
}

void append(std::vector<Prediction>& to, const std::vector<Prediction>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

template <class Figure>
double median_of(const std::vector<ProblemVerdict>& problems, const Figure& figure) {
  std::vector<double> values;
  for (const ProblemVerdict& problem : problems) {
    if (figure(problem) > 0) {
      values.push_back(figure(problem));
    }
  }
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : quantile(values, 0.5);
}

}  // namespace

std::string problem_key(const GpuMeasurement& measurement) {
  GpuMeasurement problem = measurement;
  problem.kernel.reset();
  return measured_what(problem);
}

ValidationVerdict judge(const Gpu& gpu, std::span<const GpuMeasurement> rows,
                        const std::map<std::string, std::string>& names) {
  ValidationVerdict verdict;
  verdict.problems = grouped(gpu, rows, names);
  std::vector<Slowdowns> slow;
  for (ProblemVerdict& problem : verdict.problems) {
    measure_up(gpu, problem);
    slow.push_back(slowdowns(problem));
    verdict.kernels += std::ssize(problem.kernels);
  }
  Predictions all;
  for (std::size_t i = 0; i < verdict.problems.size(); ++i) {
    ProblemVerdict& problem = verdict.problems[i];
    const Predictions own =
        predictions(problem, static_cast<std::int64_t>(i), fixed_scores(slow, i));
    problem.errors = error_metrics(own.model);
    problem.ranks = rank_metrics(own.model);
    problem.roofline = rank_metrics(own.roofline);
    problem.fixed = rank_metrics(own.fixed);
    problem.random = rank_metrics(own.random);
    problem.first_to_best = problem.kernels.empty() ? 0 : problem.ranks.top1;
    append(all.model, own.model);
    append(all.roofline, own.roofline);
    append(all.fixed, own.fixed);
    append(all.random, own.random);
  }
  verdict.errors = error_metrics(all.model);
  verdict.roofline_errors = error_metrics(all.roofline);
  verdict.ranks = rank_metrics(all.model);
  verdict.roofline = rank_metrics(all.roofline);
  verdict.fixed = rank_metrics(all.fixed);
  verdict.random = rank_metrics(all.random);
  using P = ProblemVerdict;
  verdict.first_to_best = median_of(verdict.problems, [](const P& p) { return p.first_to_best; });
  verdict.library_to_best =
      median_of(verdict.problems, [](const P& p) { return p.library_to_best; });
  verdict.share_of_ceiling =
      median_of(verdict.problems, [](const P& p) { return p.share_of_ceiling; });
  std::set<std::string> throttles;
  for (const GpuMeasurement& row : rows) {
    verdict.host_bound += row.host_bound ? 1 : 0;
    if (!row.throttle.empty()) {
      throttles.insert(row.throttle);
    }
  }
  verdict.throttles.assign(throttles.begin(), throttles.end());
  return verdict;
}

}  // namespace mapsim
