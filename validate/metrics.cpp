// SPDX-License-Identifier: Apache-2.0
#include "validate/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/rng.hpp"

namespace mapsim {
namespace {

double absolute_error(const Prediction& p) { return std::abs(p.predicted / p.measured - 1); }

// Linear between the two nearest; `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// 95 % interval of the mean absolute error when problems are drawn anew.
void bootstrap(std::span<const Prediction> predictions, std::uint64_t seed, ErrorMetrics& result) {
  struct Sum {
    double errors = 0;
    double count = 0;
  };
  std::map<std::int64_t, Sum> by_problem;
  for (const Prediction& p : predictions) {
    by_problem[p.problem].errors += absolute_error(p);
    by_problem[p.problem].count += 1;
  }
  std::vector<Sum> sums;
  for (const auto& [problem, sum] : by_problem) {
    sums.push_back(sum);
  }
  constexpr int kResamples = 1000;
  Rng rng{seed};
  std::vector<double> means;
  for (int i = 0; i < kResamples; ++i) {
    Sum all;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const Sum& one = sums[rng.below(sums.size())];
      all.errors += one.errors;
      all.count += one.count;
    }
    means.push_back(all.errors / all.count);
  }
  std::sort(means.begin(), means.end());
  result.mape_low = quantile(means, 0.025);
  result.mape_high = quantile(means, 0.975);
}

struct Candidate {
  double measured = 0;
  double predicted = 0;
};

// Per problem its kernels, repeated timings averaged (geometrically), in the order of their
// numbers.
std::vector<std::vector<Candidate>> competitions(std::span<const Prediction> predictions) {
  struct Sums {
    double measured = 0;
    double predicted = 0;
    double count = 0;
  };
  std::map<std::int64_t, std::map<std::int64_t, Sums>> logs;
  for (const Prediction& p : predictions) {
    Sums& sums = logs[p.problem][p.kernel];
    sums.measured += std::log(p.measured);
    sums.predicted += std::log(p.predicted);
    sums.count += 1;
  }
  std::vector<std::vector<Candidate>> result;
  for (const auto& [problem, kernels] : logs) {
    result.emplace_back();
    for (const auto& [kernel, sums] : kernels) {
      result.back().push_back(
          {std::exp(sums.measured / sums.count), std::exp(sums.predicted / sums.count)});
    }
  }
  return result;
}

// ln(best measured among the `top` predicted best / best measured). Where kernels tie for the last
// places, the mean over the ways to draw them: of n tied in the order of their times, d drawn, the
// i-th (from 0) is the fastest with probability C(n - 1 - i, d - 1) / C(n, d).
double log_regret(const std::vector<Candidate>& kernels, std::size_t top) {
  if (top >= kernels.size()) {
    return 0;
  }
  std::vector<Candidate> order = kernels;
  std::sort(order.begin(), order.end(), [](const Candidate& a, const Candidate& b) {
    return a.predicted != b.predicted ? a.predicted < b.predicted : a.measured < b.measured;
  });
  const double best =
      std::min_element(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return a.measured < b.measured;
      })->measured;
  const auto first = std::find_if(order.begin(), order.end(), [&](const Candidate& c) {
    return c.predicted == order[top - 1].predicted;
  });
  const auto last = std::find_if(
      first, order.end(), [&](const Candidate& c) { return c.predicted != first->predicted; });
  double certain = std::numeric_limits<double>::infinity();
  for (auto kernel = order.begin(); kernel != first; ++kernel) {
    certain = std::min(certain, kernel->measured);
  }
  auto left = static_cast<double>(last - first);  // that are as fast as this one, or slower
  const double drawn = static_cast<double>(top) - static_cast<double>(first - order.begin());
  double sum = 0;
  double none = 1;  // the probability that no faster one was drawn
  for (auto kernel = first; kernel != last; ++kernel, --left) {
    const double chance = none * std::min(1.0, drawn / left);
    sum += chance * std::log(std::min(certain, kernel->measured) / best);
    none -= chance;
  }
  return sum;
}

}  // namespace

ErrorMetrics error_metrics(std::span<const Prediction> predictions, std::uint64_t seed) {
  ErrorMetrics result;
  if (predictions.empty()) {
    return result;
  }
  std::vector<double> errors;
  for (const Prediction& p : predictions) {
    errors.push_back(absolute_error(p));
    result.bias += p.predicted / p.measured - 1;
  }
  result.count = static_cast<std::int64_t>(errors.size());
  const auto count = static_cast<double>(errors.size());
  result.bias /= count;
  result.mape = std::accumulate(errors.begin(), errors.end(), 0.0) / count;
  std::sort(errors.begin(), errors.end());
  result.median = quantile(errors, 0.5);
  result.ninetieth = quantile(errors, 0.9);
  bootstrap(predictions, seed, result);
  return result;
}

RankMetrics rank_metrics(std::span<const Prediction> predictions) {
  RankMetrics result;
  double tau = 0;
  double first = 0;
  double fifth = 0;
  for (const std::vector<Candidate>& kernels : competitions(predictions)) {
    if (kernels.size() < 2) {
      continue;
    }
    std::vector<double> measured;
    std::vector<double> predicted;
    for (const Candidate& kernel : kernels) {
      measured.push_back(kernel.measured);
      predicted.push_back(kernel.predicted);
    }
    ++result.problems;
    tau += kendall_tau_b(measured, predicted);
    first += log_regret(kernels, 1);
    fifth += log_regret(kernels, 5);
  }
  if (result.problems > 0) {
    const auto problems = static_cast<double>(result.problems);
    result.tau = tau / problems;
    result.top1 = std::exp(first / problems);
    result.top5 = std::exp(fifth / problems);
  }
  return result;
}

namespace {

// ln(time / best of its problem), one entry per row.
std::vector<double> log_slowdowns(std::span<const Prediction> measured) {
  std::map<std::int64_t, double> best;
  for (const Prediction& row : measured) {
    const auto [place, is_new] = best.try_emplace(row.problem, row.measured);
    place->second = std::min(place->second, row.measured);
  }
  std::vector<double> result;
  for (const Prediction& row : measured) {
    result.push_back(std::log(row.measured / best.at(row.problem)));
  }
  return result;
}

struct LogSum {
  double sum = 0;
  double count = 0;
};

}  // namespace

std::map<std::int64_t, double> slowdowns(std::span<const Prediction> measured) {
  const std::vector<double> logs = log_slowdowns(measured);
  std::map<std::int64_t, LogSum> sums;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    LogSum& of = sums[measured[i].kernel];
    of.sum += logs[i];
    of.count += 1;
  }
  std::map<std::int64_t, double> result;
  for (const auto& [kernel, of] : sums) {
    result[kernel] = std::exp(of.sum / of.count);
  }
  return result;
}

std::vector<Prediction> without_own_problem(std::span<const Prediction> measured) {
  const std::vector<double> logs = log_slowdowns(measured);
  std::map<std::int64_t, LogSum> all;
  std::map<std::pair<std::int64_t, std::int64_t>, LogSum> own;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    for (LogSum* of : {&all[measured[i].kernel], &own[{measured[i].problem, measured[i].kernel}]}) {
      of->sum += logs[i];
      of->count += 1;
    }
  }
  std::vector<Prediction> result(measured.begin(), measured.end());
  for (Prediction& row : result) {
    const LogSum& of = all.at(row.kernel);
    const LogSum& mine = own.at({row.problem, row.kernel});
    row.predicted = of.count > mine.count ? std::exp((of.sum - mine.sum) / (of.count - mine.count))
                                          : kUnknownSlowdown;
  }
  return result;
}

Coverage coverage(std::span<const Prediction> predictions, std::span<const std::int64_t> fold_of,
                  double share) {
  const auto size_of = [](const Prediction& p) {
    return std::abs(std::log(p.predicted / p.measured));
  };
  const auto quantile = [share](std::vector<double> sizes) {
    std::sort(sizes.begin(), sizes.end());
    const auto at = static_cast<std::size_t>(static_cast<double>(sizes.size()) * share);
    return sizes.empty() ? 0 : sizes[std::min(at, sizes.size() - 1)];
  };
  const auto fold = [&](const Prediction& p) {
    return fold_of[static_cast<std::size_t>(p.problem)];
  };
  std::map<std::int64_t, std::vector<double>> rest;  // by the fold that is left out
  std::vector<double> all;
  for (const std::int64_t f : std::set<std::int64_t>(fold_of.begin(), fold_of.end())) {
    rest[f] = {};
  }
  for (const Prediction& p : predictions) {
    all.push_back(size_of(p));
    for (auto& [left_out, sizes] : rest) {
      if (left_out != fold(p)) {
        sizes.push_back(all.back());
      }
    }
  }
  std::map<std::int64_t, double> widths;
  for (const auto& [left_out, sizes] : rest) {
    widths[left_out] = quantile(sizes);
  }
  Coverage result;
  result.half_width = quantile(all);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    result.within.push_back(all[i] <= widths[fold(predictions[i])]);
    result.covered += result.within.back() ? 1.0 / static_cast<double>(predictions.size()) : 0;
  }
  return result;
}

std::optional<double> resolution_of(std::span<const Prediction> predictions) {
  constexpr std::size_t kFew = 50;  // pairs
  constexpr double kRight = 0.9;
  constexpr double kEnough = 20;  // pairs up to twice as far
  constexpr double kStep = 1.25;
  constexpr double kFarthest = 0.5;
  std::vector<std::pair<double, bool>> pairs;  // how far apart, in the right order
  for (const std::vector<Candidate>& kernels : competitions(predictions)) {
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double predicted = std::log(kernels[i].predicted / kernels[j].predicted);
        const double measured = std::log(kernels[i].measured / kernels[j].measured);
        pairs.emplace_back(std::abs(predicted), predicted * measured > 0);
      }
    }
  }
  if (pairs.size() < kFew) {
    return std::nullopt;
  }
  for (double apart = 0.002; apart < kFarthest; apart *= kStep) {
    std::array<double, 2> right{};  // of all beyond, of those up to twice as far
    std::array<double, 2> count{};
    for (const auto& [gap, is_right] : pairs) {
      for (std::size_t i = 0; i < 2; ++i) {
        const bool counts = gap >= apart && (i == 0 || gap < 2 * apart);
        count[i] += counts ? 1 : 0;
        right[i] += counts && is_right ? 1 : 0;
      }
    }
    if (count[1] >= kEnough && right[0] >= kRight * count[0] && right[1] >= kRight * count[1]) {
      return apart;
    }
  }
  return kFarthest;
}

double kendall_tau_b(std::span<const double> a, std::span<const double> b) {
  std::int64_t agree = 0;  // concordant less discordant
  std::int64_t in_a = 0;   // pairs that a tells apart
  std::int64_t in_b = 0;
  const auto sign = [](double x, double y) { return (x > y) - (x < y); };
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int one = sign(a[i], a[j]);
      const int other = sign(b[i], b[j]);
      agree += one * other;
      in_a += one != 0;
      in_b += other != 0;
    }
  }
  return in_a == 0 || in_b == 0 ? 0
                                : static_cast<double>(agree) / std::sqrt(static_cast<double>(in_a) *
                                                                         static_cast<double>(in_b));
}

std::vector<std::int64_t> deal_folds(std::int64_t problems, std::int64_t folds,
                                     std::uint64_t seed) {
  std::vector<std::int64_t> dealt(static_cast<std::size_t>(problems));
  for (std::size_t i = 0; i < dealt.size(); ++i) {
    dealt[i] = static_cast<std::int64_t>(i) % folds;
  }
  Rng rng{seed};
  for (std::size_t i = dealt.size(); i > 1; --i) {
    std::swap(dealt[i - 1], dealt[rng.below(i)]);
  }
  return dealt;
}

}  // namespace mapsim
