// SPDX-License-Identifier: Apache-2.0
#include "plan/gpu_algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <variant>
#include <vector>

#include "core/arithmetic.hpp"
#include "mapper/gpu/search.hpp"

namespace mapsim {

namespace {

constexpr double kBits = 8;  // in a byte
constexpr std::int64_t kTaps = 3;
constexpr double kSumBytes = 4;  // of what leaves the products
// A barrier of all SMs: Diamos et al., Persistent RNNs, ICML 2016; estimate.
constexpr double kBarrier = 1.5e-6;

// A 3 x 3 convolution at stride 1.
struct Image {
  std::int64_t batch = 1, rows = 1, columns = 1, in = 1, out = 1;
  double input_bytes = 0, output_bytes = 0;
};

// Ranks of the input with two terms, an output coordinate and a tap, both one by one.
std::variant<Image, std::string> image_of(const Workload& workload) {
  if (!is_convolution(workload)) {
    return "it is no convolution";
  }
  const TensorId input{0};
  Image image;
  std::vector<DimId> outputs;
  for (const Rank& rank : workload.tensors[input].ranks) {
    if (rank.terms.size() < 2) {
      continue;
    }
    for (const Term& term : rank.terms) {
      const bool is_tap = workload.gemm_axis(term.dim) == GemmAxis::kK;
      if (term.coefficient != 1) {
        return "it has a stride or a dilation";
      }
      if (is_tap && workload.dims[term.dim].bound != kTaps) {
        return "its kernel is not 3 x 3";
      }
      if (!is_tap) {
        outputs.push_back(term.dim);
      }
    }
  }
  if (outputs.size() != 2) {
    return "its kernel is not 3 x 3";
  }
  image.rows = workload.dims[outputs[0]].bound;
  image.columns = workload.dims[outputs[1]].bound;
  for (const DimId d : workload.dims.ids()) {
    const std::int64_t bound = workload.dims[d].bound;
    switch (workload.gemm_axis(d)) {
      case GemmAxis::kM:
        image.batch *= d == outputs[0] || d == outputs[1] ? 1 : bound;
        break;
      case GemmAxis::kN:
        image.out *= bound;
        break;
      case GemmAxis::kK:
        image.in *= bound;
        break;
      case GemmAxis::kBatch:
        if (bound > 1) {
          return "its channels are in groups";
        }
        break;
    }
  }
  image.in /= kTaps * kTaps;
  const auto pixels = static_cast<double>(image.batch * image.rows * image.columns);
  image.input_bytes = pixels * static_cast<double>(image.in) *
                      static_cast<double>(workload.tensors[input].bits.count()) / kBits;
  image.output_bytes = pixels * static_cast<double>(image.out) *
                       static_cast<double>(workload.tensors[workload.output()].bits.count()) /
                       kBits;
  return image;
}

// One block of the one kernel has all products of 32 tiles and 32 outputs (NervanaSystems/neon,
// winograd_conv.py: sconv_winograd_2x2_3x3_32x32), and transforms the inputs of each 32 outputs
// anew.
constexpr std::int64_t kSideOfOneKernel = 32;

// The products, a GEMM of each point of a tile.
GemmForm products_of(const Image& image, const Winograd& how, std::int64_t tiles,
                     std::int64_t width) {
  const std::int64_t side = how.one_kernel ? kSideOfOneKernel : 1;
  GemmForm form;
  form.problem = {round_up(tiles, side), round_up(image.out, side), image.in,
                  (how.m + kTaps - 1) * (how.m + kTaps - 1),
                  width == 16 ? GpuPrecision::kF16 : GpuPrecision::kF32};
  form.problem.output = Bytes{width / 8};
  form.tensor_cores = width == 16;
  return form;
}

// Additions of both transforms; of a tile, for each input channel and each output channel (Lavin
// and Gray, sections 4.1 and 4.3).
double additions_of(const Image& image, const Winograd& how, std::int64_t tiles) {
  const double in = how.m == 2 ? 32 : 156;
  const double out = how.m == 2 ? 24 : 100;
  const std::int64_t times = how.one_kernel ? ceil_div(image.out, kSideOfOneKernel) : 1;
  return static_cast<double>(tiles) *
         (in * static_cast<double>(image.in * times) + out * static_cast<double>(image.out));
}

double simt_seconds(const Gpu& gpu, double operations) {
  const double rate = gpu.rate(GpuPrecision::kF32, GpuPath::kSimt) * static_cast<double>(gpu.sms) *
                      gpu.clock.count();
  return operations / rate;
}

}  // namespace

KernelParts parts_of(const Gpu& gpu, const GpuEstimate& estimate) {
  const GpuTime& time = estimate.time;
  KernelParts parts;
  parts.compute = std::max({time.mma.count(), time.shared.count(), time.issue.count()}) +
                  time.stall.count() + time.fill.count();
  parts.launch = time.launch.count();
  parts.bandwidth =
      time.dram.count() > 0 ? estimate.dram_bytes / time.dram.count() : gpu.dram_bandwidth.count();
  return parts;
}

std::string to_string(const Winograd& how) {
  return fmt::format("winograd F({0}x{0}, 3x3){1}", how.m, how.one_kernel ? "" : " by 3 kernels");
}

WinogradAnswer winograd_on_gpu(const Gpu& gpu, const Workload& workload, const Winograd& how,
                               SearchEnd end) {
  const auto found = image_of(workload);
  if (const auto* why = std::get_if<std::string>(&found)) {
    return {std::nullopt, *why};
  }
  const Image& image = std::get<Image>(found);
  const std::int64_t width = workload.tensors[TensorId{0}].bits.count();
  if (width < 16) {  // cuDNN: int8 has implicit GEMMs only
    return {std::nullopt, "its domain does not fit in 8 b"};
  }
  const std::int64_t tiles =
      image.batch * ceil_div(image.rows, how.m) * ceil_div(image.columns, how.m);
  const GemmForm form = products_of(image, how, tiles, width);
  if (how.one_kernel && form.tensor_cores) {
    return {std::nullopt, "tensor cores are fed through memory"};
  }
  GpuSearchOptions options;
  options.top = 1;
  options.end = end;
  if (!form.tensor_cores) {
    options.path = GpuPath::kSimt;
  }
  const GpuSearchResult result = search_kernels(gpu, {form}, options);
  if (result.ranked.empty()) {
    return {std::nullopt, "no kernel is legal"};
  }
  const std::int64_t points = form.problem.batch;
  const GpuEstimate& estimate = result.ranked.front().estimate;
  const KernelParts parts = parts_of(gpu, estimate);
  const double transforms = simt_seconds(gpu, additions_of(image, how, tiles));
  const double size = static_cast<double>(width) / kBits;
  const double weights = static_cast<double>(points * image.in * image.out) * size;
  AlgorithmCost cost;
  cost.how =
      fmt::format("{}: {} {}", to_string(how), points, to_string(result.ranked.front().kernel));
  cost.bytes = image.input_bytes + weights + image.output_bytes;
  if (how.one_kernel) {
    cost.seconds =
        parts.launch + std::max(parts.compute + transforms, cost.bytes / parts.bandwidth);
  } else {
    const double domain_in = static_cast<double>(tiles * points * image.in) * size;
    const double domain_out = static_cast<double>(tiles * points * image.out) * kSumBytes;
    cost.bytes += 2 * (domain_in + domain_out);
    const double passes = image.input_bytes + domain_in + domain_out + image.output_bytes;
    cost.seconds = 3 * parts.launch + std::max(transforms, passes / parts.bandwidth) +
                   std::max(parts.compute, (domain_in + weights + domain_out) / parts.bandwidth);
  }
  const double more = std::max(0.0, cost.bytes - estimate.dram_bytes);
  cost.energy = estimate.energy.total.count() + kBits * more * gpu.energy.dram.count();
  return {cost, ""};
}

PrunedAnswer pruned_on_gpu(const Gpu& gpu, const Workload& workload, bool adds, SearchEnd end) {
  auto dense = gemm_forms(gpu, workload, {});
  if (const auto* why = std::get_if<std::string>(&dense)) {
    return {std::nullopt, *why};
  }
  auto pruned = pruned_forms(gpu, std::get<std::vector<GemmForm>>(dense));
  if (const auto* why = std::get_if<std::string>(&pruned)) {
    return {std::nullopt, *why};
  }
  auto& forms = std::get<std::vector<GemmForm>>(pruned);
  for (GemmForm& form : forms) {
    form.problem.adds_to_output = adds;
  }
  GpuSearchOptions options;
  options.top = 1;
  options.end = end;
  const GpuSearchResult result = search_kernels(gpu, forms, options);
  if (result.ranked.empty()) {
    return {std::nullopt, "no sparse kernel is legal"};
  }
  const RankedKernel* const best = &result.ranked.front();
  AlgorithmCost cost;
  cost.seconds = best->total.count();
  cost.bytes = best->estimate.dram_bytes;
  cost.energy = best->estimate.energy.total.count();
  for (const ExtraPass& pass : forms[best->form].passes) {
    cost.bytes += pass.bytes;
    cost.energy += kBits * pass.bytes * gpu.energy.dram.count();
  }
  cost.energy += gpu.energy.constant.count() * best->passes.count() * 1e9;  // mW s in pJ
  cost.how = before_path(forms[best->form].problem) + to_string(best->kernel);
  return {cost, "", least_gain_of_pruning(gpu, forms[best->form].problem)};
}

double persistent_seconds(const Gpu& gpu, const KernelParts& step, double weights,
                          std::int64_t steps) {
  constexpr double kWord = 4;         // bytes of a register
  constexpr double kOfWeights = 0.5;  // of the registers: sums and operands have the others
  const double on_chip =
      static_cast<double>(gpu.sms) * (static_cast<double>(gpu.shared_per_sm.count()) +
                                      kOfWeights * kWord * static_cast<double>(gpu.registers));
  const double from = weights <= static_cast<double>(gpu.l2_size.count()) ? gpu.l2_bandwidth.count()
                                                                          : step.bandwidth;
  const double reading = weights <= on_chip ? 0 : weights / from;
  return static_cast<double>(steps) * (std::max(step.compute, reading) + kBarrier) +
         (reading == 0 ? weights / step.bandwidth : 0);
}

}  // namespace mapsim
