// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mapsim {

// Measured and predicted time [s] of one kernel. Kernels with equal `problem` compete with each
// other.
struct Prediction {
  std::int64_t problem = 0;
  std::int64_t kernel = 0;  // repeated timings of one kernel are averaged before ranking
  double measured = 0;
  double predicted = 0;
};

// Relative errors, (predicted - measured) / measured.
struct ErrorMetrics {
  std::int64_t count = 0;
  double mape = 0;       // mean absolute
  double median = 0;     // absolute
  double ninetieth = 0;  // percentile, absolute
  double bias = 0;       // mean, signed
  double mape_low = 0;   // 95 % interval of mape, by bootstrap over problems
  double mape_high = 0;
};

// How well the predictions choose a kernel, over problems with at least two kernels. `problems` is
// 0 without such a problem.
struct RankMetrics {
  std::int64_t problems = 0;
  double tau = 0;   // mean of Kendall's tau-b
  double top1 = 1;  // geometric mean of measured(predicted best) / best measured
  double top5 = 1;  // the same for the best measured among the five predicted best
};

// The interval is from 1000 resamples, drawn by `seed`. Deterministic.
ErrorMetrics error_metrics(std::span<const Prediction> predictions, std::uint64_t seed = 1);
RankMetrics rank_metrics(std::span<const Prediction> predictions);

inline constexpr double kUnknownSlowdown = 1e9;  // of a kernel of no other problem

// Geometric mean of each kernel's slowdown against the best measured kernel of its problem. The
// kernel with the least is the best single choice for all problems. Predicted times are not used.
std::map<std::int64_t, double> slowdowns(std::span<const Prediction> measured);
// The same rows, each predicted by the slowdown of its kernel on all other problems: the baseline
// that always takes the kernel which is best on average. A kernel of no other problem comes last.
std::vector<Prediction> without_own_problem(std::span<const Prediction> measured);

// Cross-validated intervals of |ln(predicted / measured)|: the interval of a fold
// (fold_of[problem]) is the `share` quantile over the other folds.
struct Coverage {
  double half_width = 0;     // the `share` quantile of |ln(predicted / measured)| over all
  double covered = 0;        // share of the predictions within their intervals
  std::vector<bool> within;  // whether each is
};
Coverage coverage(std::span<const Prediction> predictions, std::span<const std::int64_t> fold_of,
                  double share = 0.9);

// The least distance d (in ln) such that of the pairs of kernels of one problem whose predictions
// are d to 2 d apart, nine of ten are in the measured order. Nothing: there are fewer than 50
// pairs, or no such distance.
std::optional<double> resolution_of(std::span<const Prediction> predictions);

// Kendall's tau-b of two rankings of the same items: (concordant - discordant) /
// sqrt((pairs - ties in a)(pairs - ties in b)); 0 if all of a or all of b tie.
double kendall_tau_b(std::span<const double> a, std::span<const double> b);

// The fold, from 0 to folds - 1, of each problem. Problems are shuffled by the seed and dealt in
// turn, so that sizes of folds differ by at most one.
std::vector<std::int64_t> deal_folds(std::int64_t problems, std::int64_t folds,
                                     std::uint64_t seed = 1);

}  // namespace mapsim
