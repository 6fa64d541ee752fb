// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mapsim {

// One kernel of one problem: predicted against measured, in seconds. `problem` groups the kernels
// that compete; equal numbers are one problem.
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

// How well the predictions choose, over problems with at least two kernels; all 0 if there are
// none.
struct RankMetrics {
  std::int64_t problems = 0;
  double tau = 0;   // mean of Kendall's tau-b
  double top1 = 1;  // geometric mean of measured(predicted best) / best measured
  double top5 = 1;  // of the best measured among the five predicted best
};

// `seed` and 1000 resamples for the interval. Deterministic.
ErrorMetrics error_metrics(std::span<const Prediction> predictions, std::uint64_t seed = 1);
RankMetrics rank_metrics(std::span<const Prediction> predictions);

inline constexpr double kUnknownSlowdown = 1e9;  // of a kernel that was measured nowhere else

// Mean slowdown (geometric) of each kernel against the best of its problem: the kernel with the
// least is the one that somebody would fix for good. Predicted times play no part.
std::map<std::int64_t, double> slowdowns(std::span<const Prediction> measured);
// The same rows, each predicted by the slowdown of its kernel on all other problems: the choice of
// who always takes the kernel that is best on average. A kernel of no other problem comes last.
std::vector<Prediction> without_own_problem(std::span<const Prediction> measured);

// Share of the held-out predictions whose |ln(predicted / measured)| is within an interval that was
// taken from the others: of each fold (by fold_of[problem]) by the `share` quantile over the rest.
struct Coverage {
  double half_width = 0;     // the `share` quantile of |ln(predicted / measured)| over all
  double covered = 0;        // of all predictions
  std::vector<bool> within;  // of each
};
Coverage coverage(std::span<const Prediction> predictions, std::span<const std::int64_t> fold_of,
                  double share = 0.9);

// How far two predictions of one problem must be apart (ln) for nine of ten such pairs to be in the
// measured order: pairs that far apart and up to twice as far. Nothing: fewer than 50 pairs of
// kernels, or never right so often.
std::optional<double> resolution_of(std::span<const Prediction> predictions);

// Kendall's tau-b of two rankings of the same things: (concordant - discordant) /
// sqrt((pairs - ties in a)(pairs - ties in b)); 0 where all of a or all of b tie.
double kendall_tau_b(std::span<const double> a, std::span<const double> b);

// The fold, of `folds`, of each of problems 0 to problems - 1: dealt like cards after a shuffle by
// the seed, so that folds differ by one problem at most and none is empty if problems >= folds.
std::vector<std::int64_t> deal_folds(std::int64_t problems, std::int64_t folds,
                                     std::uint64_t seed = 1);

}  // namespace mapsim
