// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace mapsim {

// How the kernels of a problem are timed (docs/gpu_validation.md, Protocol). Kernels take turns in
// rounds, so that drifts of clocks and temperature affect all of them. The first kernel, the
// anchor, opens and closes every round and shows the drift.
struct TimingProtocol {
  // How long the first kernel runs before anything is timed. Memory clocks need that (kernelTab:
  // first readings are up to 66 % slow).
  Seconds device_warm_up{20};
  Seconds warm_up{25e-3};   // of each kernel, untimed
  Seconds total{100e-3};    // of each kernel, timed, over all rounds; at least one run a round
  std::int64_t rounds = 9;  // at least 7, for median and quartiles
  std::int64_t most_samples = 64;  // of a kernel in a round
  // Kernels shorter than this are launched back to back between two events: an event's clock ticks
  // at 0.03 to 1 us (kernelTab), and a launch takes microseconds.
  Seconds alone_from{50e-6};
  Seconds batch{500e-6};  // about how long such a batch lasts
  std::int64_t longest_batch = 256;
  // Before each run, outside of its time, other data are read into the L2 cache; runs are then
  // timed one by one.
  bool cold = false;
  double clock_tolerance = 0.01;  // a round is disturbed if its clock differs by a larger share
  std::uint64_t seed = 1;         // of the order within rounds
};
std::string to_string(
    const TimingProtocol& protocol);  // "9 rounds, 0.1 s a kernel, hot L2, seed 1"

// The runs of a kernel in one round.
struct SamplePlan {
  std::int64_t samples = 1;  // pairs of events
  std::int64_t batch = 1;    // launches between them
  friend bool operator==(const SamplePlan&, const SamplePlan&) = default;
};
// `once`: about how long one run takes.
SamplePlan plan_samples(const TimingProtocol& protocol, Seconds once);

// The indices of kernels in the order of measuring, for each round: 0, the others shuffled, 0.
// Deterministic.
std::vector<std::vector<std::size_t>> plan_rounds(const TimingProtocol& protocol,
                                                  std::size_t kernels);

// The times of a kernel's turn in a round. The anchor has two turns.
struct RoundTimes {
  std::int64_t round = 0;
  std::vector<Seconds> times;  // per launch
  Hertz clock{0};              // of the SMs while it ran; 0: not known
  Hertz memory_clock{0};
  std::uint64_t throttle = 0;  // NVML's bits
  double watts = 0;            // 0: not known
  bool host_bound = false;     // the device waited for the host's launches
};

// The time of a kernel over all rounds.
struct KernelTiming {
  Seconds median{0};
  Seconds first_quartile{0};
  Seconds third_quartile{0};
  Seconds least{0};
  std::int64_t samples = 0;     // number of times that these are of
  std::int64_t left_out = 0;    // of disturbed rounds
  std::int64_t normalised = 0;  // scaled by the anchor, because too few rounds were undisturbed
  Hertz clock{0};               // median of the rounds that count
  Hertz memory_clock{0};
  std::uint64_t throttle = 0;  // of the rounds that count, together
  double watts = 0;            // mean of those
  bool host_bound = false;     // at least half of the samples are
};

// The anchor's median in each round over its median of all rounds; above 1: the round was slow.
std::vector<double> drift(std::int64_t rounds, std::span<const RoundTimes> anchor);

// Sums up a kernel's turns. Rounds whose clock differs from the kernel's median clock by more than
// the tolerance are left out, if at least half of the rounds remain; otherwise all remain, and the
// times of disturbed rounds are divided by the drift. Without clocks no round is left out.
KernelTiming summarise(const TimingProtocol& protocol, std::span<const RoundTimes> turns,
                       std::span<const double> drifts);

// Quantile of sorted numbers (at least one), linear between the order statistics around (n - 1)
// share.
double quantile(std::span<const double> sorted, double share);

}  // namespace mapsim
