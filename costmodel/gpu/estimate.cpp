// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "core/arithmetic.hpp"
#include "costmodel/gpu/power.hpp"
#include "costmodel/gpu/shared_memory.hpp"
#include "costmodel/gpu/simt_access.hpp"

namespace mapsim {
namespace {

constexpr double kPartitions = 4;     // of an SM, with a scheduler and a tensor core each
constexpr double kBarrier = 30;       // cycles of a __syncthreads of a block
constexpr double kLoopOverhead = 20;  // instructions of a warp per K step: addresses, loop, barrier
constexpr double kCopyOverhead =
    3;  // and per copy from global to shared memory: address, predicate
// Share of the tiles after the first one that a round's first step waits for, too. Of the L20's
// kernels with 2, 3 and 4 stages: 0 ties them, from 0.25 on they are in the measured order.
constexpr double kOutOfOrder = 0.25;
constexpr double kOverlapAlone = 2;  // of WMMA's loads and operations in a block alone: [model]
constexpr double kJitter = 4;  // p of the norm by which tiles come late: [model], as `overlap`
constexpr double kChains = 4;  // independent MMA operations that keep a tensor core busy
constexpr double kRounding = 1e-12;  // relative; powers and roots of a bound and of a time

// Bytes of the widest copy that pieces of `run` elements allow, 16 at most.
std::int64_t copy_bytes(std::int64_t run, std::int64_t size) {
  return std::gcd(run * size, std::int64_t{16});
}

// Instructions of a block's warps that bring a K step to shared memory: one copy of 16 B per lane
// (cp.async; before sm_80 a load and a store), or of less where rows are not aligned; scalar
// accesses below 4 B.
double copies(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel) {
  if (kernel.path == GpuPath::kWgmma) {
    return 0;  // one thread starts the TMA; illegal() sees to the alignment
  }
  if (kernel.simt.is_said()) {
    return explicit_copies(problem, kernel).instructions;
  }
  const std::int64_t size = operand_size(problem.precision).count();
  const std::int64_t a = copy_bytes(run_of_a(problem), size);
  const std::int64_t b = copy_bytes(run_of_b(problem), size);
  const double lanes = real(kernel.block.m * kernel.block.k * size) / real(a) +
                       real(kernel.block.n * kernel.block.k * size) / real(b);
  const bool asynchronous = gpu.compute_capability >= 80 && a >= 4 && b >= 4;
  return lanes / 32 * (asynchronous ? 1 : 2);
}

// Instructions of a warp that make halves of 8-bit floats for one step along K of its fragments,
// two elements per lane each. Hopper multiplies fp8 in warpgroups only: ptxas makes HMMA of
// mma.sync (nvcc 13, sm_90: of 8 m16n8k32 with one A 16 HMMA and 8 + 8 x 4 conversions; sm_89: 8
// QMMA).
double unpacked(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel) {
  const bool as_halves = problem.precision == GpuPrecision::kFp8 && gpu.compute_capability == 90 &&
                         kernel.path == GpuPath::kMma;
  return as_halves ? real((kernel.warp.m + kernel.warp.n) * kernel.fragment.k) / 64 : 0;
}

// Instructions of a block's warps that write C in pieces smaller than 16 B, over those of aligned
// rows. FMA kernels write single elements whatever the rows are.
double extra_stores(const GemmProblem& problem, const KernelChoice& kernel) {
  if (kernel.path == GpuPath::kSimt) {
    return 0;
  }
  const std::int64_t size = problem.output.count();
  const double piece = real(copy_bytes(problem.n, size));
  return real(kernel.block.m * kernel.block.n * size) * (1 / piece - 1.0 / 16) / 32 *
         (1 + kCopyOverhead);
}

// A second kernel adds up the slices of a split K: it reads the workspace and writes C, after the
// first one and not beside it.
struct Reduction {
  double l2 = 0, dram = 0;  // bytes, of all that the estimate counts
  double operands = 0;      // A and B from DRAM
  double cold = 1;          // the share of all bytes that the L2 does not have from the last run
};

// What an SM's tiles come from, of A and B.
struct Feed {
  double latency = 0;  // cycles: of L2, and as far as tiles are not there of DRAM
  double first = 0;    // of a round's first tiles, which nobody has asked for before
  double port = 0;     // cycles that bring a block's tiles of a K step through the SM's port
  double l2 = 0;       // cycles of the L2's whole bandwidth for these tiles
  bool even = false;   // no tile comes later than another
};

// Those of B serve a cluster.
Feed feed_of(const Gpu& gpu, const GpuCalibration& calibration, const GemmProblem& problem,
             const KernelChoice& kernel, const GpuWork& work, const Reduction& bytes) {
  const double always = work.traffic.holds[0].dram_read;  // every wave's step anew
  const double missed = always > 0 ? bytes.operands / always : 0;
  const double of_a =
      real(kernel.block.m * kernel.block.k * operand_size(problem.precision).count());
  const double from_l2 = of_a + (work.step_bytes - of_a) / real(kernel.cluster);
  const double near = real(gpu.latency.l2.count());
  const double further = real(gpu.latency.dram.count()) - near;
  Feed feed;
  feed.latency = near + missed * further;
  feed.first = near + bytes.cold * further;
  feed.port = work.step_bytes / real(gpu.l2_per_sm.count()) / calibration.l2;
  feed.l2 = from_l2 * gpu.clock.count() / gpu.l2_bandwidth.count() / calibration.l2;
  return feed;
}

// Blocks at work at once: on the busiest SM, and on all SMs together.
struct Resident {
  double on_sm = 0, in_all = 0;
};

// Cycles of a K step in which each block asks for tiles `ahead` steps before their use and does
// nothing else. Beside the latency and its own transfer x a block waits for the others' in
// proportion to how much of the step they take: ahead T = latency + x + (b - 1) x (b x / T). At the
// port they are those of its SM, at the L2 those of all; SMs without a block ask for nothing.
double paced_by_memory(const Feed& feed, const Resident& resident, double ahead) {
  const auto paced = [&](double x, double blocks) {
    const double alone = feed.latency + x;
    const double others = (blocks - 1) * blocks * x * x;
    return (alone + std::sqrt(alone * alone + 4 * ahead * others)) / (2 * ahead);
  };
  return std::max(paced(feed.port, resident.on_sm), paced(feed.l2, resident.in_all));
}

// Cycles of an SM for one K step of `blocks` resident blocks, each resource by itself.
struct StepCycles {
  double mma = 0, shared = 0, issue = 0;
  double loop = 0;   // the three together
  double stall = 0;  // latency of memory and of shared memory that nothing hides
};

// A block that has its SM to itself, whatever the round.
bool is_alone(const GpuWork& work) { return work.resources.blocks_per_sm == 1; }

// The warps of a block leave its barrier together. WMMA's loads then come first and the tensor
// cores wait, unless warps of another block are elsewhere in their step.
double loop_overlap(const GpuCalibration& calibration, const KernelChoice& kernel,
                    const GpuWork& work) {
  return kernel.path == GpuPath::kWmma && is_alone(work)
             ? std::min(calibration.overlap, kOverlapAlone)
             : calibration.overlap;
}

// Cycles of a step for which a block alone waits because tiles that come every `paced` cycles do
// not come evenly: some are late where the mean is in time. Of several blocks one goes on while
// another waits.
double late_tiles(double paced, double hidden) {
  const double most = std::max(paced, hidden);
  const double least = std::min(paced, hidden);
  return most * (std::pow(1 + std::pow(least / most, kJitter), 1 / kJitter) - 1);
}

StepCycles step_cycles(const Gpu& gpu, const GpuCalibration& calibration,
                       const GemmProblem& problem, const KernelChoice& kernel, const GpuWork& work,
                       const Feed& feed, const Resident& resident) {
  StepCycles cycles;
  const double blocks = resident.on_sm;
  const double groups = kernel.path == GpuPath::kWgmma ? kPartitions : 1;  // partitions of a warp
  const double warps = blocks * real(kernel.warps()) * groups;
  const double busiest = std::ceil(warps / kPartitions);  // warps of a partition
  const double warp_macs = work.step_macs / (real(kernel.warps()) * groups);
  const double chains = busiest * real(kernel.warp.m / kernel.fragment.m) *
                        real(kernel.warp.n / kernel.fragment.n) * 2;
  const double depth = kernel.path == GpuPath::kSimt || kernel.path == GpuPath::kWgmma
                           ? 1
                           : std::min(1.0, chains / kChains);
  const double skipped = problem.pruned_b ? 2 : 1;  // of the products, with their time
  const double rate =
      skipped * gpu.rate(problem.precision, kernel.path) / kPartitions * calibration.mma;
  cycles.mma = busiest * warp_macs / (rate * depth);
  cycles.shared = blocks * work.step_wavefronts / calibration.shared;
  cycles.issue = blocks * work.step_instructions / (kPartitions * calibration.issue);
  const double p = loop_overlap(calibration, kernel, work);
  const double most = std::max({cycles.mma, cycles.shared, cycles.issue});
  cycles.loop = most * std::pow(std::pow(cycles.mma / most, p) + std::pow(cycles.shared / most, p) +
                                    std::pow(cycles.issue / most, p),
                                1 / p);

  // A tile is asked for stages - 1 steps before its use; without a second stage, in its own step.
  // No more stages are of use than there are steps, and the round's first tiles are in its fill.
  const double stages = std::min(real(kernel.stages), work.steps);
  const double ahead = std::max(stages - 1, 1.0);
  const double hidden = stages > 1 ? cycles.loop : cycles.loop * (1 - 1 / blocks);
  const double paced = paced_by_memory(feed, resident, ahead);
  const double later = (work.steps - 1) / work.steps;
  const double exposed = std::max(0.0, paced - hidden) * later;
  const bool is_late = !feed.even && is_alone(work) && stages > 1 && kernel.path != GpuPath::kSimt;
  const double late = is_late ? late_tiles(paced, hidden) * later : 0;
  // A warp waits for its fragments and for the barrier; other warps of its partition go on,
  // with one stage those of its block.
  const double own = cycles.mma / busiest;
  const double inner_steps = real(kernel.block.k / kernel.fragment.k);
  const double fragments =
      kernel.path == GpuPath::kWmma ? inner_steps * real(gpu.latency.shared.count()) : 0;
  const double together = stages > 1 ? busiest : busiest / blocks;
  const double waits = fragments + kBarrier - (together - 1) * own;
  // While tiles are on their way there is time for that, but with one stage.
  const double least = std::max(0.0, waits);
  cycles.stall = stages > 1
                     ? std::max(calibration.stall * exposed + late, calibration.stall * least)
                     : calibration.stall * (exposed + least);
  return cycles;
}

// Cycles of a round of `blocks` blocks per SM that do not overlap with its K loop: the first tiles,
// the last results. The latency is hidden by `older` blocks of the SM, which began before.
double round_overhead(const Gpu& gpu, const GpuCalibration& calibration, const KernelChoice& kernel,
                      const GpuWork& work, const Feed& feed, double blocks, double older) {
  const double port = real(gpu.l2_per_sm.count());
  const double others = std::max(std::min(real(kernel.stages), work.steps) - 2, 0.0);
  const double waited = is_alone(work) ? 0 : kOutOfOrder;
  const double first = (1 + waited * others) * work.step_bytes / port;
  const double last = work.output_bytes / port;
  const double stores = blocks * work.extra_stores / (kPartitions * calibration.issue);
  return calibration.stall * feed.first / (1 + older) + first + last + stores;
}

struct LoopTime {
  double mma = 0, shared = 0, issue = 0, loop = 0, stall = 0, fill = 0, tail = 0;  // seconds
  double port = 0;  // of the busiest SM's port to L2
};

LoopTime loop_time(const Gpu& gpu, const GpuCalibration& calibration, const GemmProblem& problem,
                   const KernelChoice& kernel, const GpuWork& work, const Feed& feed) {
  LoopTime time;
  const double cycle = 1 / gpu.clock.count();
  bool is_first = true;  // when all blocks begin at once
  const auto add_rounds = [&](double rounds, const Resident& resident) {
    const StepCycles step = step_cycles(gpu, calibration, problem, kernel, work, feed, resident);
    const double blocks = resident.on_sm;
    const double steps = rounds * work.steps * cycle;
    time.mma += steps * step.mma;
    time.shared += steps * step.shared;
    time.issue += steps * step.issue;
    time.loop += steps * step.loop;
    time.stall += steps * step.stall;
    time.port += steps * blocks * work.step_bytes / real(gpu.l2_per_sm.count());
    const auto overhead = [&](double older) {
      return round_overhead(gpu, calibration, kernel, work, feed, blocks, older);
    };
    const double later = overhead(real(work.resources.blocks_per_sm) - 1);
    time.fill += cycle * (is_first ? overhead(0) + (rounds - 1) * later : rounds * later);
    is_first = false;
    return steps * (step.loop + step.stall);
  };
  double full = 0;
  if (work.waves.full > 0) {
    full = add_rounds(real(work.waves.full),
                      {real(work.resources.blocks_per_sm), real(work.waves.slots)});
  }
  if (work.waves.rest > 0) {
    const double blocks = real((work.waves.rest + gpu.sms - 1) / gpu.sms);
    const double last = add_rounds(1, {blocks, real(work.waves.rest)});
    time.tail = last * (1 - real(work.waves.rest) / (real(gpu.sms) * blocks));
    if (work.waves.full > 0) {  // against the pace of the full rounds
      const double ideal =
          full / real(work.waves.full) * real(work.waves.rest) / real(work.waves.slots);
      time.tail = std::max(0.0, last - ideal);
    }
  }
  return time;
}

GpuBound bound_of(const GpuTime& time) {
  const double loop = time.mma.count() + time.shared.count() + time.issue.count();
  const double busy =
      loop <= 0 ? 1
                : 1 - std::min(1.0, time.tail.count() /
                                        std::max({time.mma.count(), time.shared.count(),
                                                  time.issue.count(), time.tail.count()}));
  const std::array<double, 8> shares{time.mma.count() * busy,
                                     time.shared.count() * busy,
                                     time.issue.count() * busy,
                                     time.stall.count() + time.fill.count(),
                                     time.l2.count() + time.reduction.count(),
                                     time.dram.count(),
                                     time.launch.count(),
                                     time.tail.count()};
  return static_cast<GpuBound>(std::max_element(shares.begin(), shares.end()) - shares.begin());
}

// What the cache keeps, and what DRAM then moves. A cache does not fail at once when more is wanted
// than it holds: what is found in it falls from all to nothing between half and one and a half of
// its capacity. That holds for the whole working set, too, of a kernel that runs again and again:
// what is kept of it is not read, and not written back before it is written anew.
Reduction set_bytes(const Gpu& gpu, const GpuCalibration& calibration, const GpuWork& work,
                    const GpuTiming& timing, GpuEstimate& estimate) {
  const double capacity = calibration.l2_capacity * real(gpu.l2_size.count());
  const auto found = [capacity](double needs) {
    return std::clamp(1.5 - needs / capacity, 0.0, 1.0);
  };
  const GpuTraffic& traffic = work.traffic;
  const double without = traffic.holds[0].dram_read;
  estimate.cache = CacheHolds::kStep;
  estimate.dram_bytes = without;
  for (const CacheHolds holds : {CacheHolds::kGroup, CacheHolds::kAll}) {
    const GpuTraffic::Hold& hold = traffic.holds[static_cast<std::size_t>(holds)];
    const double share = found(hold.needs);
    const double bytes = without - share * (without - hold.dram_read);
    if (bytes <= estimate.dram_bytes) {
      estimate.cache = share >= 0.5 ? holds : estimate.cache;
      estimate.dram_bytes = bytes;
    }
  }
  const double all = traffic.holds[static_cast<std::size_t>(CacheHolds::kAll)].dram_read +
                     traffic.dram_sums + traffic.workspace;
  Reduction second;
  second.cold = timing.hot ? 1 - found(all) : 1;
  second.operands = second.cold * estimate.dram_bytes;
  const double missed = 1 - found(traffic.workspace);  // C is smaller: L2 takes it if it takes this
  const double sums = second.cold * traffic.dram_sums;
  estimate.dram_bytes = second.operands + sums + 2 * traffic.workspace * missed;
  estimate.l2_bytes = traffic.l2_read + traffic.l2_write;
  if (traffic.workspace > 0) {
    second.l2 = traffic.l2_write;
    second.dram = (sums + traffic.workspace) * missed;
  }
  return second;
}

// Everything of the time but what the power limit does.
ClockedTime set_times(const Gpu& gpu, const GpuCalibration& calibration, const GemmProblem& problem,
                      const KernelChoice& kernel, const GpuWork& work, const GpuTiming& timing,
                      const Reduction& second, const Feed& feed, GpuEstimate& result) {
  const double l2_rate = calibration.l2 * gpu.l2_bandwidth.count();
  const double dram_rate = calibration.dram * gpu.dram_bandwidth.count();
  const double reduction = std::max(second.l2 / l2_rate, second.dram / dram_rate);
  const LoopTime loop = loop_time(gpu, calibration, problem, kernel, work, feed);
  const double l2 = std::max((result.l2_bytes - second.l2) / l2_rate, loop.port / calibration.l2);
  const double dram =
      (result.dram_bytes - second.dram) / dram_rate + second.cold * calibration.ramp.count();
  const double rounds = real(work.waves.full + (work.waves.rest > 0 ? 1 : 0));
  GpuTime& time = result.time;
  time.mma = Seconds{loop.mma};
  time.shared = Seconds{loop.shared};
  time.issue = Seconds{loop.issue};
  time.stall = Seconds{loop.stall};
  time.fill = Seconds{loop.fill};
  time.tail = Seconds{loop.tail};
  time.reduction = Seconds{reduction};
  time.l2 = Seconds{l2};
  time.dram = Seconds{dram};
  const double launch = timing.back_to_back ? 0 : calibration.launch.count();
  time.launch = Seconds{launch + real(work.kernels - 1) * calibration.reduction.count() +
                        rounds * calibration.block.count()};
  ClockedTime clocked{loop.loop + loop.stall, l2, loop.fill, dram, reduction + time.launch.count(),
                      calibration.overlap};
  clocked.full = clocked.total(1);
  return clocked;
}

}  // namespace

const char* to_string(GpuBound bound) {
  switch (bound) {
    case GpuBound::kMma:
      return "mma";
    case GpuBound::kShared:
      return "shared memory";
    case GpuBound::kIssue:
      return "issue";
    case GpuBound::kLatency:
      return "latency";
    case GpuBound::kL2:
      return "L2";
    case GpuBound::kDram:
      return "DRAM";
    case GpuBound::kLaunch:
      return "launch";
    case GpuBound::kTail:
      return "tail";
  }
  return "";
}

GpuWork work(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel) {
  GpuWork result;
  result.resources = resources(gpu, problem, kernel);
  result.waves = waves(gpu, problem, kernel, result.resources.blocks_per_sm);
  result.traffic = traffic(problem, kernel, result.waves);
  const double size = real(operand_size(problem.precision).count());
  const double warps = real(kernel.warps());
  const double inner = real(kernel.block.k / kernel.fragment.k);
  const double operations = warps * inner * real(kernel.warp.m / kernel.fragment.m) *
                            real(kernel.warp.n / kernel.fragment.n);
  const std::int64_t slice = (problem.k + kernel.split_k - 1) / kernel.split_k;
  result.steps = real((slice + kernel.block.k - 1) / kernel.block.k);
  result.step_macs = real(kernel.block.m * kernel.block.n * kernel.block.k);
  result.step_bytes = (real(kernel.block.m * kernel.block.k) +
                       real(kernel.block.n * kernel.block.k) * kept_of_b(problem)) *
                      size;
  const FragmentLoads loads = fragment_loads(gpu, problem, kernel);
  const double threads_per_mma = kernel.path == GpuPath::kWgmma ? 4 : 1;  // warps that issue it
  // What is spilled goes through L1, which shares the port, at worst in every step.
  const double spilled = real(kernel.spilled_bytes.value_or(0) * kernel.threads());
  result.step_wavefronts = warps * inner * loads.wavefronts +
                           copy_wavefronts(gpu, problem, kernel) + spilled / real(kWavefront);
  const double copied = copies(gpu, problem, kernel);
  result.step_instructions = operations * mma_instructions(gpu, problem, kernel) * threads_per_mma +
                             warps * inner * loads.instructions + copied * (1 + kCopyOverhead) +
                             warps * inner * unpacked(gpu, problem, kernel) +
                             warps * kLoopOverhead * threads_per_mma;
  const double written =
      real(kernel.split_k > 1 ? sum_size(problem.precision).count() : problem.output.count());
  result.output_bytes = real(kernel.block.m * kernel.block.n) * written;
  result.macs = real(problem.batch) * real(problem.m) * real(problem.n) * real(problem.k);
  result.extra_stores = kernel.split_k > 1 ? 0 : extra_stores(problem, kernel);
  const double blocks = real(result.waves.blocks);
  result.padded_macs = blocks * result.steps * result.step_macs;
  result.wavefronts = blocks * result.steps * result.step_wavefronts;
  result.instructions = blocks * (result.steps * result.step_instructions + result.extra_stores);
  result.kernels = kernel.split_k > 1 ? 2 : 1;
  return result;
}

GpuEstimate price(const Gpu& gpu, const GpuCalibration& calibration, const GemmProblem& problem,
                  const KernelChoice& kernel, const GpuWork& work, const GpuTiming& timing) {
  GpuEstimate result;
  const Reduction second = set_bytes(gpu, calibration, work, timing, result);
  const Feed feed = feed_of(gpu, calibration, problem, kernel, work, second);
  ClockedTime clocked =
      set_times(gpu, calibration, problem, kernel, work, timing, second, feed, result);
  GpuTime& time = result.time;
  result.energy = dynamic_joules(gpu, calibration, problem, kernel, work, result);
  result.clock_share = clock_share(gpu, calibration, result.energy, clocked);
  time.total = Seconds{result.clock_share < 1 ? clocked.total(result.clock_share) : clocked.full};
  time.power = Seconds{time.total.count() - clocked.full};
  if (timing.back_to_back) {  // no faster than they can be launched
    time.total = std::max(time.total, calibration.launch);
  }
  set_clock(gpu, result.clock_share, time.total, result.energy);
  result.bound = bound_of(time);
  const double peak = gpu.rate(problem.precision, kernel.path) * real(gpu.sms) * gpu.clock.count();
  result.mma_share = work.macs / (peak * time.total.count());
  result.error = calibration.error;
  return result;
}

// The raster acts on what L2 keeps, so on the bytes from DRAM and on the latency that they add.
// With all operands from DRAM once, a latency of L2 alone, tiles that come evenly and the full
// clock the same formulas give a time that no raster's is below.
Seconds least_time(const Gpu& gpu, const GpuCalibration& calibration, const GemmProblem& problem,
                   const KernelChoice& kernel) {
  GpuWork least = work(gpu, problem, kernel);
  GpuTraffic::Hold& all = least.traffic.holds[static_cast<std::size_t>(CacheHolds::kAll)];
  least.traffic.holds.fill({0, all.dram_read});
  GpuEstimate result;
  const Reduction second = set_bytes(gpu, calibration, least, {}, result);
  Feed feed = feed_of(gpu, calibration, problem, kernel, least, second);
  feed.latency = std::min(feed.latency, real(gpu.latency.l2.count()));
  feed.even = true;
  const ClockedTime clocked =
      set_times(gpu, calibration, problem, kernel, least, {}, second, feed, result);
  return Seconds{clocked.full * (1 - kRounding)};
}

GpuEstimate estimate(const Gpu& gpu, const GpuCalibration& calibration, const GemmProblem& problem,
                     const KernelChoice& kernel, const GpuTiming& timing) {
  return price(gpu, calibration, problem, kernel, work(gpu, problem, kernel), timing);
}

double timing_noise(Seconds time) { return 0.000374 / (time.count() * 1e3) + 0.00044; }

std::optional<Seconds> deeper_sibling(const Gpu& gpu, const GpuCalibration& calibration,
                                      const GemmProblem& problem, KernelChoice kernel,
                                      Seconds total) {
  if (kernel.stages != 2) {
    return std::nullopt;
  }
  const std::int64_t blocks = resources(gpu, problem, kernel).blocks_per_sm;
  kernel.stages = 3;
  if (illegal(gpu, problem, kernel) || resources(gpu, problem, kernel).blocks_per_sm != blocks) {
    return std::nullopt;
  }
  const Seconds deeper = estimate(gpu, calibration, problem, kernel).time.total;
  return deeper.count() <= total.count() * (1 + 2 * timing_noise(total)) ? std::optional{deeper}
                                                                         : std::nullopt;
}

}  // namespace mapsim
