// SPDX-License-Identifier: Apache-2.0
#include "validate/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/rng.hpp"

namespace mapsim {
namespace {

double median_of(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

std::int64_t whole(double value, std::int64_t most) {
  return std::clamp(static_cast<std::int64_t>(std::ceil(value)), std::int64_t{1}, most);
}

// Those of the turns that are not disturbed.
std::vector<bool> undisturbed(const TimingProtocol& protocol, std::span<const RoundTimes> turns) {
  std::vector<double> clocks;
  for (const RoundTimes& turn : turns) {
    if (turn.clock > Hertz{0}) {
      clocks.push_back(turn.clock.count());
    }
  }
  const double reference = median_of(clocks);
  std::vector<bool> good;
  for (const RoundTimes& turn : turns) {
    good.push_back(turn.clock == Hertz{0} ||
                   std::abs(turn.clock.count() / reference - 1) <= protocol.clock_tolerance);
  }
  return good;
}

}  // namespace

std::string to_string(const TimingProtocol& protocol) {
  return fmt::format("{} rounds, {} s a kernel, {} L2, seed {}", protocol.rounds,
                     protocol.total.count(), protocol.cold ? "cold" : "hot", protocol.seed);
}

SamplePlan plan_samples(const TimingProtocol& protocol, Seconds once) {
  const double time = std::max(once.count(), 1e-7);
  SamplePlan plan;
  if (!protocol.cold && time < protocol.alone_from.count()) {
    plan.batch = whole(protocol.batch.count() / time, protocol.longest_batch);
  }
  const double round = protocol.total.count() / static_cast<double>(protocol.rounds);
  plan.samples = whole(round / (time * static_cast<double>(plan.batch)), protocol.most_samples);
  return plan;
}

std::vector<std::vector<std::size_t>> plan_rounds(const TimingProtocol& protocol,
                                                  std::size_t kernels) {
  Rng rng{protocol.seed};
  std::vector<std::vector<std::size_t>> rounds;
  std::vector<std::size_t> others(kernels > 0 ? kernels - 1 : 0);
  std::iota(others.begin(), others.end(), std::size_t{1});
  for (std::int64_t round = 0; round < protocol.rounds && kernels > 0; ++round) {
    for (std::size_t i = others.size(); i > 1; --i) {
      std::swap(others[i - 1], others[rng.below(i)]);
    }
    std::vector<std::size_t> order{0};
    order.insert(order.end(), others.begin(), others.end());
    order.push_back(0);
    rounds.push_back(std::move(order));
  }
  return rounds;
}

std::vector<double> drift(std::int64_t rounds, std::span<const RoundTimes> anchor) {
  std::vector<std::vector<double>> by_round(static_cast<std::size_t>(rounds));
  for (const RoundTimes& turn : anchor) {
    for (const Seconds time : turn.times) {
      by_round[static_cast<std::size_t>(turn.round)].push_back(time.count());
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& times : by_round) {
    medians.push_back(median_of(std::move(times)));
  }
  const double all = median_of(medians);
  for (double& median : medians) {
    median = all > 0 && median > 0 ? median / all : 1;
  }
  return medians;
}

KernelTiming summarise(const TimingProtocol& protocol, std::span<const RoundTimes> turns,
                       std::span<const double> drifts) {
  const std::vector<bool> good = undisturbed(protocol, turns);
  const auto count = std::count(good.begin(), good.end(), true);
  const bool leaves_out = 2 * count >= static_cast<std::ptrdiff_t>(good.size());
  KernelTiming timing;
  std::vector<double> times;
  std::vector<double> clocks;
  std::vector<double> memory_clocks;
  std::vector<double> watts;
  std::int64_t host_bound = 0;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const RoundTimes& turn = turns[i];
    const auto samples = static_cast<std::int64_t>(turn.times.size());
    if (!good[i] && leaves_out) {
      timing.left_out += samples;
      continue;
    }
    timing.normalised += good[i] ? 0 : samples;
    const double scale = good[i] ? 1 : drifts[static_cast<std::size_t>(turn.round)];
    for (const Seconds time : turn.times) {
      times.push_back(time.count() / scale);
    }
    host_bound += turn.host_bound ? samples : 0;
    clocks.push_back(turn.clock.count());
    memory_clocks.push_back(turn.memory_clock.count());
    watts.push_back(turn.watts);
    timing.throttle |= turn.throttle;
  }
  if (times.empty()) {
    return timing;
  }
  std::sort(times.begin(), times.end());
  timing.samples = static_cast<std::int64_t>(times.size());
  timing.host_bound = 2 * host_bound >= timing.samples;
  timing.median = Seconds{quantile(times, 0.5)};
  timing.first_quartile = Seconds{quantile(times, 0.25)};
  timing.third_quartile = Seconds{quantile(times, 0.75)};
  timing.least = Seconds{times.front()};
  timing.clock = Hertz{median_of(clocks)};
  timing.memory_clock = Hertz{median_of(memory_clocks)};
  timing.watts =
      std::accumulate(watts.begin(), watts.end(), 0.0) / static_cast<double>(watts.size());
  return timing;
}

double quantile(std::span<const double> sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace mapsim
