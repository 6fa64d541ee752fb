// SPDX-License-Identifier: Apache-2.0
#include "validate/predictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/arithmetic.hpp"
#include "validate/observations.hpp"

namespace mapsim {

namespace {

std::string problem_text(const GemmProblem& problem) {
  return fmt::format("{}{}x{}x{}", problem.batch > 1 ? fmt::format("{}x", problem.batch) : "",
                     problem.m, problem.n, problem.k);
}

PredictionScore score_of(const std::string& name, const std::vector<Prediction>& predictions,
                         double error) {
  const auto within = std::count_if(predictions.begin(), predictions.end(), [&](const auto& p) {
    return std::abs(std::log(p.predicted / p.measured)) <= error;
  });
  return {name, error_metrics(predictions), rank_metrics(predictions),
          static_cast<double>(within) / static_cast<double>(predictions.size())};
}

BlindRanks blind_ranks(const std::vector<Prediction>& predictions) {
  std::vector<Prediction> alike = predictions;
  for (Prediction& prediction : alike) {
    prediction.predicted = 1;
  }
  return {rank_metrics(alike), rank_metrics(without_own_problem(predictions))};
}

// A group, and its rows as they compete with those of other paths.
struct Scored {
  PredictedGroup group;
  std::vector<Prediction> over_paths;
};

Scored predicted(const Gpu& gpu, const ObservationGroup& group, const CalibrationOptions& options) {
  // Kernels of one path, numbered from 1 each.
  constexpr std::int64_t kPathStride = std::int64_t{1} << 32;
  Scored result;
  PredictedGroup& of = result.group;
  of.calibration = gpu.calibration(group.precision, group.path.value_or(GpuPath::kMma));
  of.name = fmt::format("{}, {}", to_string(group.precision),
                        group.path ? to_string(*group.path) : "library");
  of.precision = group.precision;
  of.problems = group.problems;
  of.left_out = group.left_out;
  of.first_left_out = group.first_left_out;
  std::vector<Prediction> predictions;
  std::map<std::size_t, std::vector<Prediction>> by_class;
  for (Observation row : group.rows) {
    const bool is_library = row.options.empty();
    if (!fill_options(gpu, of.calibration, options, row)) {
      continue;
    }
    const double time = predict(gpu, of.calibration, row);
    of.kernels.push_back(
        {problem_text(row.problem) +
             (is_library ? " library" : fmt::format(" {}", to_string(row.options.front().kernel))),
         row.measured, time});
    predictions.push_back({row.problem_number, row.kernel_number, row.measured, time});
    by_class[shape_class(row.problem)].push_back(predictions.back());
    if (group.path) {
      result.over_paths.push_back(
          {row.competition,
           kPathStride * static_cast<std::int64_t>(*group.path) + row.kernel_number, row.measured,
           time});
    }
  }
  if (predictions.empty()) {
    return result;
  }
  of.all = score_of("all", predictions, of.calibration.error);
  for (const auto& [index, some] : by_class) {
    of.classes.push_back(score_of(shape_classes()[index], some, of.calibration.error));
  }
  of.blind = blind_ranks(predictions);
  return result;
}

}  // namespace

std::vector<std::string> shape_classes() {
  return {"min(M, N) <= 16", "min(M, N) <= 128", "min(M, N) > 128", "batched", "convolution"};
}

std::size_t shape_class(const GemmProblem& problem) {
  if (problem.stored_a) {
    return 4;
  }
  const std::int64_t side = std::min(problem.m, problem.n);
  return problem.batch > 1 ? 3 : side <= 16 ? 0 : side <= 128 ? 1 : 2;
}

MeasuredPredictions predict_measurements(
    const Gpu& gpu, const std::vector<GpuMeasurement>& measurements,
    const std::function<std::vector<KernelChoice>(const Gpu&, const GemmProblem&)>& library) {
  CalibrationOptions options;
  options.library = library;
  MeasuredPredictions result;
  struct Paths {
    std::int64_t count = 0;
    std::vector<Prediction> rows;
  };
  std::map<GpuPrecision, Paths> by_precision;
  for (const ObservationGroup& group : group_observations(gpu, measurements)) {
    Scored scored = predicted(gpu, group, options);
    if (scored.group.kernels.empty()) {
      continue;
    }
    Paths& paths = by_precision[group.precision];
    paths.count += scored.over_paths.empty() ? 0 : 1;
    paths.rows.insert(paths.rows.end(), scored.over_paths.begin(), scored.over_paths.end());
    result.groups.push_back(std::move(scored.group));
  }
  for (const auto& [precision, paths] : by_precision) {
    if (paths.count > 1) {
      result.together.push_back(
          {precision, std::ssize(paths.rows), rank_metrics(paths.rows), blind_ranks(paths.rows)});
    }
  }
  return result;
}

CacheEvidence infer_cache(const Gpu& gpu, std::vector<GpuMeasurement>& measurements) {
  constexpr double kFaster = 0.95;  // of DRAM's time: what a specification may be wrong by
  constexpr double kFew = 0.01;     // of the rows that prove nothing: outliers
  CacheEvidence evidence;
  const auto says = [](const GpuMeasurement& m) { return m.cold || timing_of(m).hot; };
  for (const GpuMeasurement& m : measurements) {
    if (says(m)) {
      ++(m.cold ? evidence.cold : evidence.hot);
      continue;
    }
    ++evidence.unsaid;
    const auto [a, b, c] = matrix_bytes(m.problem);
    const bool fits = a + b <= real(gpu.l2_size.count());
    const double from_dram = (a + b) / gpu.dram_bandwidth.count();
    evidence.too_fast += fits && m.median.count() < kFaster * from_dram ? 1 : 0;
  }
  evidence.taken_hot = real(evidence.too_fast) > kFew * real(evidence.unsaid);
  for (GpuMeasurement& m : measurements) {
    m.hot = m.hot || (evidence.taken_hot && !says(m));
  }
  return evidence;
}

}  // namespace mapsim
