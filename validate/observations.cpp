// SPDX-License-Identifier: Apache-2.0
#include "validate/observations.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "core/arithmetic.hpp"

namespace mapsim {
namespace {

// Library kernels this much slower than the best, uncalibrated, are not looked at again.
constexpr double kFar = 2;

auto key_of(const GpuMeasurement& measurement) {
  const GemmProblem& p = measurement.problem;
  return std::tuple{p.m,
                    p.n,
                    p.k,
                    p.batch,
                    p.precision,
                    p.output.count(),
                    p.a,
                    p.b,
                    p.stored_a,
                    p.run_a,
                    p.run_b,
                    measurement.convolution,
                    measurement.cold,
                    timing_of(measurement).hot};
}

// Only the clock can differ from the specification; one that was measured is what the power limit
// left of it.
Gpu at_clock(const Gpu& gpu, double clock) {
  Gpu result = gpu;
  result.clock = Hertz{clock};
  result.power = Milliwatts{0};
  return result;
}

template <double GpuCalibration::* member>
CalibrationField share_field(const char* name, double lower, double upper, double prior,
                             bool is_rate) {
  return {name,
          lower,
          upper,
          prior,
          is_rate,
          [](const GpuCalibration& c) { return c.*member; },
          [](GpuCalibration& c, double value) { c.*member = value; }};
}
template <Seconds GpuCalibration::* member>
CalibrationField time_field(const char* name, double lower, double upper, double prior) {
  return {name,
          lower,
          upper,
          prior,
          false,
          [](const GpuCalibration& c) { return (c.*member).count(); },
          [](GpuCalibration& c, double value) { c.*member = Seconds{value}; }};
}

}  // namespace

GpuTiming timing_of(const GpuMeasurement& row) {
  const bool hot = !row.cold && (row.hot || row.origin.starts_with("mapsim validate"));
  return {hot, hot};  // queued ahead of the GPU, whatever they take: docs/gpu_validation.md
}

std::vector<ObservationGroup> group_observations(const Gpu& gpu,
                                                 const std::vector<GpuMeasurement>& measurements) {
  using GroupKey = std::pair<GpuPrecision, std::optional<GpuPath>>;
  struct Numbers {
    std::size_t group = 0;
    std::map<decltype(key_of(GpuMeasurement{})), std::int64_t> problems;
    std::map<KernelChoice, std::int64_t> kernels;
  };
  std::vector<ObservationGroup> groups;
  std::map<GroupKey, Numbers> numbers;
  std::map<decltype(key_of(GpuMeasurement{})), std::int64_t> competitions;
  for (const GpuMeasurement& m : measurements) {
    const GroupKey key{m.problem.precision,
                       m.kernel ? std::optional{m.kernel->path} : std::nullopt};
    const auto [place, is_new] = numbers.try_emplace(key);
    Numbers& known = place->second;
    if (is_new) {
      known.group = groups.size();
      groups.push_back({key.first, key.second, {}, 0, 0, {}});
    }
    ObservationGroup& group = groups[known.group];
    if (m.naive || m.host_bound) {
      if (group.left_out++ == 0) {
        group.first_left_out = m.naive ? "a naive kernel, which the model does not have"
                                       : "a time of the host's launches, not of the kernel";
      }
      continue;
    }
    if (m.kernel) {
      const KernelChoice ran = as_it_ran(gpu, m.problem, *m.kernel);
      if (const auto reason = illegal(gpu, m.problem, ran)) {
        if (group.left_out++ == 0) {
          group.first_left_out = to_string(*m.kernel) + ": " + *reason;
        }
        continue;
      }
    }
    Observation row;
    row.problem = m.problem;
    row.measured = m.median.count();
    row.timing = timing_of(m);
    row.clock_measured = m.clock.count() > 0;
    row.clock = m.clock.count() > 0 ? m.clock.count() : gpu.clock.count();
    row.problem_number =
        known.problems.try_emplace(key_of(m), std::ssize(known.problems)).first->second;
    row.competition = competitions.try_emplace(key_of(m), std::ssize(competitions)).first->second;
    if (m.kernel) {
      KernelChoice kernel = *m.kernel;  // whose registers differ from problem to problem
      kernel.registers.reset();
      kernel.spilled_bytes.reset();
      row.kernel_number =
          known.kernels.try_emplace(kernel, std::ssize(known.kernels) + 1).first->second;
      const KernelChoice ran = as_it_ran(gpu, m.problem, *m.kernel);
      row.options.push_back({ran, work(gpu, m.problem, ran)});
    }
    group.rows.push_back(std::move(row));
    group.problems = std::ssize(known.problems);
  }
  return groups;
}

bool fill_options(const Gpu& gpu, const GpuCalibration& start, const CalibrationOptions& options,
                  Observation& row) {
  if (!row.options.empty() || !options.library) {
    return !row.options.empty();
  }
  const Gpu clocked = row.clock_measured ? at_clock(gpu, row.clock) : gpu;
  std::vector<std::pair<double, Observation::Option>> priced;
  double best = 0;
  for (const KernelChoice& kernel : options.library(gpu, row.problem)) {
    Observation::Option option{kernel, work(gpu, row.problem, kernel)};
    const double time =
        price(clocked, start, row.problem, kernel, option.work, row.timing).time.total.count();
    best = priced.empty() ? time : std::min(best, time);
    priced.emplace_back(time, std::move(option));
  }
  for (auto& [time, option] : priced) {
    if (time <= kFar * best) {
      row.options.push_back(std::move(option));
    }
  }
  return !row.options.empty();
}

double predict(const Gpu& gpu, const GpuCalibration& calibration, const Observation& row) {
  const auto least = [&](const Gpu& clocked) {
    double best = std::numeric_limits<double>::infinity();
    for (const Observation::Option& option : row.options) {
      best = std::min(
          best, price(clocked, calibration, row.problem, option.kernel, option.work, row.timing)
                    .time.total.count());
    }
    return best;
  };
  return row.clock_measured ? least(at_clock(gpu, row.clock)) : least(gpu);
}

namespace {

// Seconds: all operations at the peak, or the bytes that must come from DRAM but for `held` of
// them.
double bound_time(const Gpu& gpu, const Observation& row, std::optional<GpuPath> path,
                  double held) {
  const GemmProblem& p = row.problem;
  const double batch = real(p.batch);
  const double macs = batch * real(p.m) * real(p.n) * real(p.k);
  const double operands = real(p.stored_a.value_or(p.m * p.k) + p.k * p.n);
  const double bytes = batch * (operands * real(operand_size(p.precision).count()) +
                                real(p.m * p.n) * real(p.output.count()));
  const GpuRate& rates = gpu.rate(p.precision);
  const double rate = path ? gpu.rate(p.precision, *path) : std::max(rates.chip, rates.simt);
  return std::max(macs / (rate * real(gpu.sms) * row.clock),
                  std::max(bytes - held, 0.0) / gpu.dram_bandwidth.count());
}

}  // namespace

double roofline_time(const Gpu& gpu, const Observation& row, std::optional<GpuPath> path) {
  return bound_time(gpu, row, path, 0);
}

double least_time(const Gpu& gpu, const Observation& row, std::optional<GpuPath> path) {
  return bound_time(gpu, row, path, real(gpu.l2_size.count()));
}

std::span<const CalibrationField> calibration_fields() {
  using C = GpuCalibration;
  // Shares of a peak are known within a fifth or so, times and what has no figure within factors.
  static const std::array kFields{share_field<&C::mma>("mma", 0.3, 1.15, 0.15, true),
                                  share_field<&C::shared>("shared", 0.3, 1.15, 0.15, true),
                                  share_field<&C::issue>("issue", 0.15, 1.1, 0.2, false),
                                  share_field<&C::dram>("dram", 0.3, 1.1, 0.1, true),
                                  share_field<&C::l2>("l2", 0.3, 1.5, 0.3, true),
                                  share_field<&C::l2_capacity>("l2_capacity", 0.1, 2, 0.4, false),
                                  share_field<&C::overlap>("overlap", 1.2, 20, 1.5, false),
                                  share_field<&C::stall>("stall", 0.05, 10, 0.5, false),
                                  time_field<&C::launch>("launch", 0.2e-6, 300e-6, 0.7),
                                  time_field<&C::block>("block", 0.02e-6, 20e-6, 0.7),
                                  time_field<&C::ramp>("ramp", 0.02e-6, 20e-6, 0.7),
                                  time_field<&C::reduction>("reduction", 0.1e-6, 20e-6, 0.7),
                                  share_field<&C::power>("power", 0.2, 10, 0.7, false),
                                  time_field<&C::settle>("settle", 30e-6, 1, 1)};
  return kFields;
}

}  // namespace mapsim
