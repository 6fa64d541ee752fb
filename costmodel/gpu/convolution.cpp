// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/convolution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/arithmetic.hpp"
#include "costmodel/crossing.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kPiece = 16;  // bytes of the widest copy, and of a row of a fragment

// The operands in their roles.
struct Operands {
  TensorId input{};
  TensorId weight{};
};

std::optional<Operands> operands_of(const Workload& workload) {
  if (workload.tensors.size() != 3) {
    return std::nullopt;
  }
  Operands operands{TensorId{0}, TensorId{1}};
  if (workload.tensors[operands.input].role == Role::kWeight) {
    std::swap(operands.input, operands.weight);
  }
  return operands;
}

std::optional<GpuPrecision> precision_of(Bits width) {
  switch (width.count()) {
    case 8:
      return GpuPrecision::kS8;
    case 16:
      return GpuPrecision::kF16;
    case 32:
      return GpuPrecision::kF32;
    case 64:
      return GpuPrecision::kF64;
    default:
      return std::nullopt;
  }
}

// Coordinates of a tensor: the product over its ranks of 1 + sum coefficient * (bound - 1).
std::int64_t box(const Workload& workload, TensorId tensor) {
  std::int64_t points = 1;
  for (const Rank& rank : workload.tensors[tensor].ranks) {
    std::int64_t last = 0;
    for (const Term& term : rank.terms) {
      last += term.coefficient * (workload.dims[term.dim].bound - 1);
    }
    points *= last + 1;
  }
  return points;
}

// Bound of the reduction dim that stands alone in a rank of the input: the channels. 0: depthwise.
std::int64_t channels_of(const Workload& workload, TensorId input) {
  for (const Rank& rank : workload.tensors[input].ranks) {
    const DimId dim = rank.terms.front().dim;
    if (rank.terms.size() == 1 && workload.gemm_axis(dim) == GemmAxis::kK) {
      return workload.dims[dim].bound;
    }
  }
  return 0;
}

GemmProblem as_gemm(const Workload& workload, const Operands& operands, GpuPrecision precision) {
  GemmProblem problem;
  problem.precision = precision;
  for (const DimId d : workload.dims.ids()) {
    const std::array<std::int64_t*, 4> axes{&problem.m, &problem.n, &problem.k, &problem.batch};
    *axes[static_cast<std::size_t>(workload.gemm_axis(d))] *= workload.dims[d].bound;
  }
  const std::int64_t bits = workload.tensors[workload.output()].bits.count();
  problem.output = Bytes{std::max<std::int64_t>(1, (bits + 7) / 8)};
  if (precision != GpuPrecision::kS8) {  // what was given in 8 bits is stored as it is multiplied
    problem.output = std::max(problem.output, operand_size(precision));
  }
  if (has_window(workload.tensors[operands.input])) {
    const Tensor& input = workload.tensors[operands.input];
    const std::int64_t stored = input.stored_elements.value_or(box(workload, operands.input));
    problem.stored_a = std::min(stored / problem.batch, problem.m * problem.k);
  }
  return problem;
}

struct Layer {
  Operands operands;
  GemmProblem problem;
  bool convolution = false;
  std::int64_t channels = 0;  // in one group; 0: depthwise, or no convolution
  double input_bytes = 0;
  double output_bytes = 0;
};

constexpr const char* kToChannelsLast = "NCHW input to NHWC";

// Both sides of a convolution that lies channel by channel go through a transposition; what has one
// channel is its own.
void add_transposition(const Layer& layer, GemmForm& form) {
  if (layer.channels != 1 || layer.problem.batch != 1) {
    form.passes.push_back({kToChannelsLast, 2 * layer.input_bytes});
  }
  if (layer.problem.n != 1) {
    form.passes.push_back({"NHWC output to NCHW", 2 * layer.output_bytes});
  }
  if (form.passes.empty()) {
    return;
  }
  form.notes.emplace_back("NCHW; tensor cores want NHWC: input and output are transposed");
}

// K of a form whose channels are padded to `channels`.
void pad_channels(const Layer& layer, std::int64_t channels, GemmForm& form) {
  const std::int64_t now = layer.channels;
  const double grown = real(channels) / real(now);
  form.problem.k = form.problem.k / now * channels;
  if (form.problem.stored_a) {
    form.problem.stored_a = *form.problem.stored_a / now * channels;
  }
  form.problem.run_a = form.problem.run_b = channels;
  const double bytes = layer.input_bytes * (1 + grown);
  if (!form.passes.empty() && form.passes.front().what == kToChannelsLast) {
    form.passes.front() = {fmt::format("{} of {} channels", kToChannelsLast, channels), bytes};
  } else {
    form.passes.push_back({fmt::format("{} channels copied to {}", now, channels), bytes});
  }
  form.notes.push_back(fmt::format("{} channels are no multiple of {}: padded to {}", now,
                                   kPiece / operand_size(form.problem.precision).count(),
                                   channels));
}

// A form whose output channels are padded: the weights were, once and for all, the output is
// copied to where it belongs.
void pad_outputs(const Layer& layer, std::int64_t unit, GemmForm& form) {
  const std::int64_t now = layer.problem.n;
  form.problem.n = round_up(now, unit);
  const double grown = real(form.problem.n) / real(now);
  form.passes.push_back({fmt::format("{} output channels copied to {}", form.problem.n, now),
                         layer.output_bytes * (1 + grown)});
  form.notes.push_back(fmt::format("{} output channels are no multiple of {}: padded to {}", now,
                                   unit, form.problem.n));
}

// Rows of a GEMM's operands, copied to multiples of 16 B.
void pad_rows(std::int64_t unit, GemmForm& form) {
  GemmProblem& problem = form.problem;
  const std::array sides{std::tuple{"A", problem.m * problem.k, run_of_a(problem), &problem.run_a},
                         std::tuple{"B", problem.k * problem.n, run_of_b(problem), &problem.run_b}};
  for (const auto& [name, elements, run, padded] : sides) {
    if (run % unit == 0) {
      continue;
    }
    *padded = round_up(run, unit);
    const double bytes = real(problem.batch * elements * operand_size(problem.precision).count());
    form.passes.push_back(
        {fmt::format("{}'s rows of {} elements copied to {}", name, run, **padded),
         bytes * (1 + real(**padded) / real(run))});
    form.notes.push_back(fmt::format("{}'s rows of {} elements are no multiple of {}: padded to {}",
                                     name, run, unit, **padded));
  }
}

// What is not aligned in a form, and how its kernels live with it.
void note_pieces(const Gpu& gpu, std::int64_t unit, GemmForm& form) {
  const GemmProblem& problem = form.problem;
  const std::int64_t run = run_of_a(problem) % unit != 0 ? run_of_a(problem) : run_of_b(problem);
  if (run % unit == 0) {
    return;
  }
  const bool hopper = gpu.rate(problem.precision, GpuPath::kWgmma) > 0;
  form.notes.push_back(
      fmt::format("rows of {} elements are no multiple of {}: copied in smaller pieces{}", run,
                  unit, hopper ? ", without the TMA and so without warpgroup MMA" : ""));
}

// Operands that the chip's fastest path cannot read as they lie, each transposed in a pass that
// pads its rows, too. Nothing: there are none.
std::optional<GemmForm> transposed(const Gpu& gpu, const Layer& layer, std::int64_t unit) {
  GemmForm form{layer.problem, {}, true, {}};
  GemmProblem& problem = form.problem;
  const GpuPath path =
      gpu.rate(problem.precision, GpuPath::kWgmma) > 0 ? GpuPath::kWgmma : GpuPath::kMma;
  for (const bool of_a : {true, false}) {
    if (reads_as_it_lies(problem, path, of_a)) {
      continue;
    }
    const std::int64_t run = round_up(problem.k, unit);
    const double lines = real(problem.batch * (of_a ? problem.m : problem.n));
    const double size = real(operand_size(problem.precision).count());
    (of_a ? problem.a : problem.b) = of_a ? MatrixLayout::kRow : MatrixLayout::kColumn;
    (of_a ? problem.run_a : problem.run_b) = run;
    const char* name = of_a ? "A" : "B";
    form.passes.push_back(
        {fmt::format("{} transposed", name), lines * size * real(problem.k + run)});
    form.notes.push_back(
        fmt::format("{} is contiguous across K; {} of {} reads along K: transposed", name,
                    to_string(path), to_string(problem.precision)));
  }
  return form.passes.empty() ? std::nullopt : std::optional{form};
}

// All ways to meet what is violated in `plain`, or not to.
void add_padded(const Gpu& gpu, const Layer& layer, const GemmForm& plain,
                std::vector<GemmForm>& forms) {
  const GemmProblem& problem = plain.problem;
  const std::int64_t unit = kPiece / operand_size(problem.precision).count();
  const std::int64_t output_unit = kPiece / std::gcd(kPiece, problem.output.count());
  const bool aligned = run_of_a(problem) % unit == 0 && run_of_b(problem) % unit == 0;
  const bool outputs = problem.n % output_unit == 0;
  const bool grouped = layer.convolution && layer.channels == 0;  // depthwise: nothing to pad
  for (const bool pads_inputs : {true, false}) {
    for (const bool pads_outputs : {true, false}) {
      if ((pads_inputs && (aligned || grouped)) ||
          (pads_outputs && (outputs || grouped || !layer.convolution))) {
        continue;
      }
      GemmForm form = plain;
      if (pads_inputs && layer.convolution) {
        pad_channels(layer, round_up(layer.channels, unit), form);
      } else if (pads_inputs) {
        pad_rows(unit, form);
      }
      if (pads_outputs) {
        pad_outputs(layer, output_unit, form);
      } else if (!outputs && layer.convolution) {
        form.notes.push_back(
            fmt::format("{} output channels are no multiple of {}: written in smaller pieces",
                        problem.n, output_unit));
      }
      note_pieces(gpu, unit, form);
      forms.push_back(std::move(form));
    }
  }
}

std::vector<GemmForm> tensor_forms(const Gpu& gpu, const Layer& layer, const GpuRequest& request) {
  const std::int64_t unit = kPiece / operand_size(layer.problem.precision).count();
  std::vector<GemmForm> forms;
  if (const auto form = transposed(gpu, layer, unit)) {
    add_padded(gpu, layer, *form, forms);
  }
  GemmForm plain{layer.problem, {}, true, {}};
  if (layer.convolution && request.layout == ConvLayout::kNchw) {
    add_transposition(layer, plain);
  }
  add_padded(gpu, layer, plain, forms);
  return forms;
}

// "f32, f16, s8".
std::string precisions_of(const Gpu& gpu) {
  std::string list;
  for (std::size_t i = 0; i < kGpuPrecisions; ++i) {
    if (gpu.rates[i].chip > 0 || gpu.rates[i].simt > 0) {
      list += list.empty() ? "" : ", ";
      list += to_string(static_cast<GpuPrecision>(i));
    }
  }
  return list;
}

std::vector<GemmForm> forms_of(const Gpu& gpu, const Layer& layer, const GpuRequest& request) {
  std::vector<GemmForm> forms;
  if (gpu.rate(layer.problem.precision).chip > 0) {
    forms = tensor_forms(gpu, layer, request);
  }
  if (gpu.rate(layer.problem.precision).simt > 0) {
    GemmForm simt{layer.problem, {}, false, {}};
    if (!forms.empty()) {
      simt.notes.emplace_back("without tensor cores");
    } else {
      simt.notes.push_back(fmt::format("{} has no tensor cores for {}: FMA instructions", gpu.name,
                                       to_string(layer.problem.precision)));
    }
    forms.push_back(simt);
  }
  return forms;
}

bool is_zero_somewhere(const Tensor& tensor) { return tensor.density < 1; }

// Whether the weights are pruned 2:4 along the dim of K that is contiguous in memory: of an image
// its channels.
bool is_pruned(const Workload& workload, const Operands& operands) {
  const Shared<Pattern>& pattern = workload.tensors[operands.weight].pattern;
  if (!pattern || pattern->kind != PatternKind::kStructured || pattern->kept != 2 ||
      pattern->block != 4 || workload.gemm_axis(pattern->dim) != GemmAxis::kK) {
    return false;
  }
  const auto& ranks = workload.tensors[operands.input].ranks;
  return std::any_of(ranks.begin(), ranks.end(), [&pattern](const Rank& rank) {
    return rank.terms.size() == 1 && rank.terms.front().dim == pattern->dim;
  });
}

// Adds the forms of sparse tensor cores to `forms`, after those of dense ones; says of the others
// that they multiply zeros.
void add_pruned(const Gpu& gpu, const Workload& workload, const Operands& operands,
                std::vector<GemmForm>& forms) {
  if (std::none_of(workload.tensors.begin(), workload.tensors.end(), is_zero_somewhere)) {
    return;
  }
  std::vector<GemmForm> pruned;
  std::string note =
      "zeros are multiplied as other numbers are: kernels skip those of weights that are "
      "structured 2:4 along K alone";
  if (is_pruned(workload, operands)) {
    auto found = pruned_forms(gpu, forms);
    if (const auto* why = std::get_if<std::string>(&found)) {
      note = "zeros are multiplied as other numbers are: " + *why;
    } else {
      pruned = std::get<0>(std::move(found));
      note = fmt::format(
          "dense tensor cores: zeros are multiplied as other numbers are; sparse ones have to be "
          "predicted {:.2f} times as fast, the error of that prediction (docs/sparsity.md#gpus)",
          least_gain_of_pruning(gpu, pruned.front().problem));
    }
  }
  for (GemmForm& form : forms) {
    form.notes.push_back(note);
  }
  const auto simt = std::find_if(forms.begin(), forms.end(),
                                 [](const GemmForm& form) { return !form.tensor_cores; });
  forms.insert(simt, pruned.begin(), pruned.end());
}

}  // namespace

bool is_convolution(const Workload& workload) {
  const std::optional<Operands> operands = operands_of(workload);
  if (!operands || has_window(workload.tensors[operands->input])) {
    return operands.has_value();
  }
  // A batch of GEMMs has a dim more in all three tensors, but no filter.
  const auto& ranks = workload.tensors[operands->weight].ranks;
  return std::count_if(ranks.begin(), ranks.end(), [&](const Rank& rank) {
           return workload.gemm_axis(rank.terms.front().dim) != GemmAxis::kBatch;
         }) > 2;
}

std::variant<std::vector<GemmForm>, std::string> gemm_forms(const Gpu& gpu,
                                                            const Workload& workload,
                                                            const GpuRequest& request) {
  const std::optional<Operands> operands = operands_of(workload);
  if (!operands) {
    return "kernels multiply two operands; this einsum has " +
           std::to_string(workload.tensors.size() - 1);
  }
  const Bits width = workload.tensors[operands->input].bits;
  const std::optional<GpuPrecision> precision =
      request.precision ? request.precision : precision_of(width);
  if (!precision) {
    return fmt::format("no precision has operands of {} b; name one with --precision",
                       width.count());
  }
  Layer layer;
  layer.operands = *operands;
  layer.problem = as_gemm(workload, *operands, *precision);
  layer.convolution = is_convolution(workload);
  layer.channels = channels_of(workload, operands->input);
  if (!layer.convolution) {
    layer.problem.a = request.a;
    layer.problem.b = request.b;
    layer.channels = 0;  // of a GEMM rows lie together, not channels
  } else {
    layer.problem.run_a = layer.problem.run_b = std::max<std::int64_t>(1, layer.channels);
  }
  const double size = real(operand_size(*precision).count());
  layer.input_bytes = real(workload.tensors[operands->input].stored_elements.value_or(
                          box(workload, operands->input))) *
                      size;
  layer.output_bytes = real(layer.problem.batch * layer.problem.m * layer.problem.n) *
                       real(layer.problem.output.count());
  std::vector<GemmForm> forms = forms_of(gpu, layer, request);
  if (forms.empty()) {
    const GpuPrecision wider =
        operand_size(*precision) == Bytes{1} ? GpuPrecision::kF16 : GpuPrecision::kF32;
    return fmt::format("{} cannot multiply {}; it has {}: converted in a pass it is {}", gpu.name,
                       to_string(*precision), precisions_of(gpu), to_string(wider));
  }
  const Bits other = workload.tensors[operands->weight].bits;
  add_pruned(gpu, workload, *operands, forms);
  for (GemmForm& form : forms) {
    if (other != width) {
      form.notes.push_back(fmt::format("operands of {} b and {} b: both are taken as stored in {}",
                                       width.count(), other.count(), to_string(*precision)));
    }
  }
  if (layer.convolution && layer.channels == 0) {
    for (GemmForm& form : forms) {
      form.notes.push_back(
          fmt::format("each group multiplies {} x {} x {}: most of a tile is padding",
                      layer.problem.m, layer.problem.n, layer.problem.k));
    }
  }
  return forms;
}

std::variant<std::vector<GemmForm>, std::string> pruned_forms(const Gpu& gpu,
                                                              const std::vector<GemmForm>& forms) {
  constexpr std::int64_t kAmpere = 80;
  if (gpu.compute_capability < kAmpere) {
    return "tensor cores before 8.0 skip nothing";
  }
  std::vector<GemmForm> pruned;
  bool has_widths = false;
  for (GemmForm form : forms) {
    GemmProblem& problem = form.problem;
    const std::int64_t size = operand_size(problem.precision).count();
    if (!form.tensor_cores || size > 2) {
      continue;
    }
    has_widths = true;
    // CUTLASS, generator.py: alignment_constraints. Results are row-major with the pruned operand's
    // rows, so that the other's are contiguous there.
    const std::int64_t unit = kPiece / size;
    if (problem.m % unit == 0 && problem.n % unit == 0 && problem.k % unit == 0) {
      problem.pruned_b = true;
      form.notes.emplace_back("sparse tensor cores: weights are 2:4, and their zeros are skipped");
      pruned.push_back(std::move(form));
    }
  }
  if (pruned.empty()) {
    return has_widths ? "sparse kernels want multiples of 16 B of rows, columns and K"
                      : "sparse kernels have operands of 8 b and 16 b";
  }
  return pruned;
}

// Of 192 GEMMs that this model prunes, the tenth-lowest share of the predicted gain that was
// measured: of those that arithmetic bounds, and of those that memory does.
// github.com/bcacdwk/vllmbench, slidesparse/benchmark_kernel: the best algorithms of cuBLASLt and
// of cuSPARSELt, January 2026; A100 80GB PCIe and RTX 4090 in f16, H100 PCIe in bf16; from 64 rows
// on.
double least_gain_of_pruning(const Gpu& gpu, const GemmProblem& problem) {
  constexpr double kOfArithmetic = 0.91;      // of 127
  constexpr double kOfMemory = 0.70;          // of 32, on the A100 and the RTX 4090
  constexpr double kOfMemoryOnHopper = 0.38;  // of 33
  constexpr std::int64_t kHopper = 90;
  GemmProblem dense = problem;
  dense.pruned_b = false;
  const auto [a, b, c] = matrix_bytes(dense);
  const double operations =
      real(problem.batch) * real(problem.m) * real(problem.n) * real(problem.k);
  const double rate =
      gpu.rate(problem.precision).chip * static_cast<double>(gpu.sms) * gpu.clock.count();
  if ((a + b + c) / gpu.dram_bandwidth.count() <= operations / rate) {
    return 1 / kOfArithmetic;
  }
  return 1 / (gpu.compute_capability < kHopper ? kOfMemory : kOfMemoryOnHopper);
}

Seconds pass_time(const Gpu& gpu, const GpuCalibration& calibration, const GemmForm& form) {
  Seconds time{0};
  for (const ExtraPass& pass : form.passes) {
    time += Seconds{calibration.launch.count() +
                    pass.bytes / (calibration.dram * gpu.dram_bandwidth.count())};
  }
  return time;
}

}  // namespace mapsim
