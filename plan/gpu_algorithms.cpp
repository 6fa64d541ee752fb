// SPDX-License-Identifier: Apache-2.0
#include "plan/gpu_algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <variant>
#include <vector>

#include "mapper/gpu/search.hpp"

namespace mapsim {

namespace {

constexpr double kBits = 8;  // in a byte
constexpr std::int64_t kTaps = 3;
constexpr double kSumBytes = 4;  // of what leaves the products
// A barrier of all SMs: Diamos et al., Persistent RNNs, ICML 2016; estimate.
constexpr double kBarrier = 1.5e-6;

// A kernel on sparse tensor cores: its block along the rows of the pruned operand and along the
// other's, a step along K [B of a dense operand], stages, and warps along both.
struct SparseTile {
  std::int64_t pruned, other, step, stages, warps_pruned, warps_other;
};
// What CUTLASS has for sm_80 (generator.py, GenerateSM80_SparseTensorOp_16832, of 16 b, and
// ..._16864_TN, of 8 b). None is smaller than 64 x 64 and none splits K.
constexpr SparseTile kSparse16[] = {
    {64, 128, 128, 6, 2, 2},  {256, 128, 128, 3, 4, 2}, {128, 256, 128, 3, 2, 4},
    {128, 128, 128, 3, 2, 2}, {256, 64, 128, 3, 4, 1},  {64, 256, 128, 4, 1, 4},
    {128, 64, 128, 3, 2, 2},  {64, 64, 128, 4, 2, 2},   {128, 128, 256, 3, 2, 4},
    {256, 64, 256, 3, 4, 1},  {128, 64, 256, 4, 2, 2},  {64, 128, 256, 3, 2, 2},
    {64, 64, 256, 3, 2, 2}};
constexpr SparseTile kSparse8[] = {
    {128, 64, 128, 3, 2, 2},  {256, 128, 128, 3, 4, 2}, {128, 256, 128, 3, 2, 4},
    {128, 128, 128, 3, 2, 2}, {256, 64, 128, 3, 4, 1},  {64, 256, 128, 4, 1, 4},
    {64, 128, 128, 6, 2, 2},  {64, 64, 128, 4, 2, 2},   {128, 128, 256, 3, 2, 2},
    {128, 64, 256, 4, 2, 2},  {64, 128, 256, 3, 2, 2},  {64, 64, 256, 3, 2, 2}};

// Bytes of which all extents are multiples (generator.py: alignment_constraints; results are
// row-major with the pruned operand's rows, so that the other's are contiguous there).
constexpr std::int64_t kPieceOfSparse = 16;

// Those, with B pruned; on Hopper also kernels of warpgroups whose tiles are no smaller, K whole.
std::vector<KernelChoice> sparse_kernels(const Gpu& gpu, const GemmForm& form) {
  constexpr std::int64_t kLeast = 64;
  std::vector<KernelChoice> kernels;
  const std::int64_t size = operand_size(form.problem.precision).count();
  if (!form.tensor_cores || size > 2) {
    return kernels;
  }
  const std::span<const SparseTile> tiles =
      size == 1 ? std::span<const SparseTile>{kSparse8} : std::span<const SparseTile>{kSparse16};
  for (const SparseTile& tile : tiles) {
    KernelChoice kernel;
    kernel.path = GpuPath::kMma;
    kernel.block = {tile.other, tile.pruned, tile.step / size};
    kernel.warp = {tile.other / tile.warps_other, tile.pruned / tile.warps_pruned,
                   tile.step / size};
    kernel.stages = tile.stages;
    kernel.fragment = {0, 0, 0};
    kernels.push_back(completed(form.problem, kernel));
  }
  const std::vector<GpuPath> paths = searched_paths(gpu, form, std::nullopt);
  if (std::find(paths.begin(), paths.end(), GpuPath::kWgmma) != paths.end()) {
    for (const KernelChoice& kernel : kernel_set(gpu, form.problem, GpuPath::kWgmma)) {
      if (kernel.split_k == 1 && kernel.block.m >= kLeast && kernel.block.n >= kLeast) {
        kernels.push_back(kernel);
      }
    }
  }
  return kernels;
}

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

// Additions of both transforms for a tile: of each input channel, of each output channel (Lavin and
// Gray, sections 4.1 and 4.3).
struct Additions {
  double in = 0, out = 0;
};
Additions additions_of(std::int64_t m) { return m == 2 ? Additions{32, 24} : Additions{156, 100}; }

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

WinogradAnswer winograd_on_gpu(const Gpu& gpu, const Workload& workload, std::int64_t m) {
  const auto found = image_of(workload);
  if (const auto* why = std::get_if<std::string>(&found)) {
    return {std::nullopt, *why};
  }
  const Image& image = std::get<Image>(found);
  const std::int64_t width = workload.tensors[TensorId{0}].bits.count();
  if (width < 16) {  // cuDNN: int8 has implicit GEMMs only
    return {std::nullopt, "its domain does not fit in 8 b"};
  }
  const std::int64_t points = (m + kTaps - 1) * (m + kTaps - 1);
  const std::int64_t tiles =
      image.batch * ((image.rows + m - 1) / m) * ((image.columns + m - 1) / m);
  GemmForm form;
  form.problem = {tiles, image.out, image.in, points,
                  width == 16 ? GpuPrecision::kF16 : GpuPrecision::kF32};
  form.problem.output = Bytes{width / 8};
  form.tensor_cores = width == 16;
  const bool fused = !form.tensor_cores;
  if (fused && m != 2) {
    return {std::nullopt, "F(4x4, 3x3) of one kernel needs more registers than a thread has"};
  }
  GpuSearchOptions options;
  options.top = 1;
  if (fused) {
    options.path = GpuPath::kSimt;
  }
  const GpuSearchResult result = search_kernels(gpu, {form}, options);
  if (result.ranked.empty()) {
    return {std::nullopt, "no kernel is legal"};
  }
  const GpuEstimate& estimate = result.ranked.front().estimate;
  const KernelParts parts = parts_of(gpu, estimate);
  const Additions each = additions_of(m);
  const double additions = static_cast<double>(tiles) * (each.in * static_cast<double>(image.in) +
                                                         each.out * static_cast<double>(image.out));
  const double transforms = simt_seconds(gpu, additions);
  const double weights =
      static_cast<double>(points * image.in * image.out) * static_cast<double>(width) / kBits;
  AlgorithmCost cost;
  cost.how = fmt::format("winograd F({0}x{0}, 3x3){1}: {2} {3}", m, fused ? "" : " by 3 kernels",
                         points, to_string(result.ranked.front().kernel));
  cost.bytes = image.input_bytes + weights + image.output_bytes;
  if (fused) {
    cost.seconds =
        parts.launch + std::max(parts.compute + transforms, cost.bytes / parts.bandwidth);
  } else {
    const double domain_in =
        static_cast<double>(tiles * points * image.in) * static_cast<double>(width) / kBits;
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

PrunedAnswer pruned_on_gpu(const Gpu& gpu, const Workload& workload, bool adds) {
  constexpr std::int64_t kAmpere = 80;
  if (gpu.compute_capability < kAmpere) {
    return {std::nullopt, "tensor cores before 8.0 skip nothing"};
  }
  auto answer = gemm_forms(gpu, workload, {});
  if (const auto* why = std::get_if<std::string>(&answer)) {
    return {std::nullopt, *why};
  }
  auto& forms = std::get<std::vector<GemmForm>>(answer);
  for (GemmForm& form : forms) {
    form.problem.adds_to_output = adds;
    form.problem.pruned_b = true;
  }
  std::optional<RankedKernel> best;
  bool aligned = false;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const GemmProblem& problem = forms[i].problem;
    const std::int64_t unit = kPieceOfSparse / operand_size(problem.precision).count();
    if (problem.m % unit != 0 || problem.n % unit != 0 || problem.k % unit != 0) {
      continue;
    }
    aligned = true;
    for (const KernelChoice& kernel : sparse_kernels(gpu, forms[i])) {
      if (illegal(gpu, forms[i].problem, kernel)) {
        continue;
      }
      const RankedKernel ranked = rank_kernel(gpu, forms, i, kernel);
      best = !best || ranked.total < best->total ? ranked : best;
    }
  }
  if (!best) {
    return {std::nullopt, aligned ? "no sparse kernel is legal"
                                  : "sparse kernels want multiples of 16 B of rows, columns and K"};
  }
  AlgorithmCost cost;
  cost.seconds = best->total.count();
  cost.bytes = best->estimate.dram_bytes;
  cost.energy = best->estimate.energy.total.count();
  for (const ExtraPass& pass : forms[best->form].passes) {
    cost.bytes += pass.bytes;
    cost.energy += kBits * pass.bytes * gpu.energy.dram.count();
  }
  cost.energy += gpu.energy.constant.count() * best->passes.count() * 1e9;  // mW s in pJ
  cost.how = "2:4 " + to_string(best->kernel);
  return {cost, ""};
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
