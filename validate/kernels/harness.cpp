// SPDX-License-Identifier: Apache-2.0
#include "validate/kernels/harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "validate/kernels/kernel_text.hpp"
#include "validate/kernels/source_mma.hpp"
#include "validate/kernels/source_parts.hpp"
#include "validate/kernels/source_wgmma.hpp"

namespace mapsim {
namespace {

std::string renamed(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The fields of its arguments that are no pointers.
std::string arguments_text(const std::string& name, const KernelArguments& a) {
  std::string text = fmt::format("  mapsim_harness::Arguments {}{{}};\n", name);
  const auto set = [&](const char* field, auto value) {
    text += fmt::format("  {}.{} = {};\n", name, field, value);
  };
  set("batch_a", a.batch_a), set("batch_b", a.batch_b), set("batch_bias", a.batch_bias);
  set("batch_c", a.batch_c), set("batch_residual", a.batch_residual);
  set("row_a", a.row_a), set("row_b", a.row_b), set("row_c", a.row_c);
  set("row_residual", a.row_residual);
  set("alpha", a.alpha), set("beta", a.beta), set("scale", a.scale);
  set("m", a.m), set("n", a.n), set("k", a.k), set("batch", a.batch), set("slices", a.slices);
  set("raster", a.raster);
  set("h", a.h), set("w", a.w), set("channels", a.channels), set("taps_h", a.taps_h);
  set("taps_w", a.taps_w), set("outputs_h", a.outputs_h), set("outputs_w", a.outputs_w);
  set("stride_h", a.stride_h), set("stride_w", a.stride_w), set("dilation_h", a.dilation_h);
  set("dilation_w", a.dilation_w), set("pad_h", a.pad_h), set("pad_w", a.pad_w);
  return text;
}

// Kernels of one text get names of their own by their number.
std::string numbered(const std::string& entry, std::size_t i) {
  return fmt::format("{}_n{}", entry, i);
}

bool is_wgmma(const HarnessKernel& kernel) { return kernel.spec.kernel.path == GpuPath::kWgmma; }

std::string entries(const HarnessKernel& kernel, const KernelSource& source, std::size_t i) {
  const std::string spec = fmt::format("mapsim_kernel::Spec{}>", i);
  const std::string name = numbered(source.entry, i);
  std::string text = is_wgmma(kernel)
                         ? wgmma_entry(kernel.spec, name, source.threads)
                         : entry_text("RunArguments", name, source.threads, "mma_gemm");
  if (!source.reduce_entry.empty()) {
    text += entry_text("RunArguments", numbered(source.reduce_entry, i), source.reduce_threads,
                       "reduce_slices");
  }
  return renamed(std::move(text), "mapsim_kernel::Spec>", spec);
}

// The function that encodes its tensor maps.
std::string encoder_text(const KernelSpec& spec, std::size_t i) {
  const auto plans = tensor_maps(spec);
  std::string text = fmt::format("void encode{}(mapsim_harness::Arguments& to) {{\n", i);
  for (const bool of_a : {true, false}) {
    const TensorMapPlan& plan = (*plans)[of_a ? 0 : 1];
    const char* const name = of_a ? "a" : "b";
    text += fmt::format(
        "  to.map_{} = mapsim_harness::encode(to.{}, {}, {{{}, {}, {}}}, {{{}, {}}}, {{{}, {}, "
        "{}}}, CU_TENSOR_MAP_SWIZZLE_{}B);\n",
        name, name, map_type_name(plan.precision), plan.extents[0], plan.extents[1],
        plan.extents[2], plan.strides[0], plan.strides[1], plan.box[0], plan.box[1], plan.box[2],
        plan.swizzle);
  }
  return text + "}\n";
}

std::string line_of(const HarnessKernel& kernel, const KernelSource& source, std::size_t i) {
  const bool splits = !source.reduce_entry.empty();
  const auto address = [&](const std::string& entry) {
    return "reinterpret_cast<const void*>(" + numbered(entry, i) + ")";
  };
  return fmt::format(
      "  kernels.push_back({{\"{} split {} raster {}\", {}, {}, {}, {}, {}, {}, {}, {}, {}, "
      "arguments{}}});\n",
      source.entry, kernel.spec.kernel.split_k, kernel.spec.kernel.raster, address(source.entry),
      splits ? address(source.reduce_entry) : "nullptr",
      is_wgmma(kernel) ? fmt::format("encode{}", i) : "nullptr", source.grid[0], source.threads,
      source.shared.count(), splits ? source.reduce_grid[0] : 1, splits ? source.reduce_threads : 1,
      kernel.predicted.count(), i);
}

std::string problem_text(std::span<const HarnessKernel> kernels) {
  const KernelSpec& spec = kernels.front().spec;
  const GemmProblem& p = spec.problem;
  const KernelBuffers buffers = kernel_buffers(spec);
  std::int64_t workspace = 0;
  for (const HarnessKernel& kernel : kernels) {
    workspace = std::max(workspace, kernel_buffers(kernel.spec).workspace.count());
  }
  const std::int64_t size = operand_size(p.precision).count();
  const double operations = 2.0 * static_cast<double>(p.batch) * static_cast<double>(p.m) *
                            static_cast<double>(p.n) * static_cast<double>(p.k);
  return fmt::format(
      "  const mapsim_harness::Problem problem{{{}, {}, {}, {}, {}, {:e}, {}, {}, {}, {}}};\n",
      buffers.a.count() / size, buffers.b.count() / size,
      buffers.bias.count() / sum_size(p.precision).count(), p.batch * p.m * p.n, workspace,
      operations, p.a == MatrixLayout::kRow, p.b == MatrixLayout::kColumn,
      spec.conv && !is_plain(*spec.conv),
      p.precision != GpuPrecision::kF16Acc16 && spec.epilogue.activation == Activation::kNone);
}

}  // namespace

std::string harness_source(const Gpu& gpu, std::span<const HarnessKernel> kernels,
                           const std::string& remark) {
  const bool has_wgmma = std::any_of(kernels.begin(), kernels.end(), is_wgmma);
  std::set<std::string> instructions;  // of warpgroup MMA
  std::string constants, functions, main = "int main(int argc, char** argv) {\n";
  main += problem_text(kernels) + "  std::vector<mapsim_harness::Kernel> kernels;\n";
  std::string encoders;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const KernelSource source = kernel_source(gpu, kernels[i].spec);
    constants += spec_text(gpu, kernels[i].spec, fmt::format("Spec{}", i));
    functions += entries(kernels[i], source, i);
    if (is_wgmma(kernels[i])) {
      instructions.insert(wgmma_instruction(kernels[i].spec));
      encoders += encoder_text(kernels[i].spec, i);
    }
    main +=
        arguments_text(fmt::format("arguments{}", i), kernel_buffers(kernels[i].spec).arguments);
    main += line_of(kernels[i], source, i);
  }
  main += "  return mapsim_harness::run<mapsim_kernel::Spec0>(problem, kernels, argc, argv);\n}\n";
  std::string text = fmt::format(
      "// {} kernels of one problem, in the order of 'mapsim search' for {}.\n"
      "// Build: nvcc -std=c++17 -O3 {} THIS.cu -o kernels\n"
      "// Run:   ./kernels [ROUNDS]\n"
      "// Times, predicted and measured, are of a launch among many in a row, with what the last "
      "one "
      "left in the L2 cache.\n",
      kernels.size(), gpu.name,
      has_wgmma ? fmt::format("-gencode arch=compute_{0}a,code=sm_{0}a", gpu.compute_capability)
                : fmt::format("-arch=sm_{}", gpu.compute_capability));
  if (!remark.empty()) {
    text += "// The first: " + remark + '\n';
  }
  text += std::string{kernel_text::device} + kernel_text::common + kernel_text::device_mma;
  if (has_wgmma) {
    text += kernel_text::device_wgmma;
  }
  for (const std::string& instruction : instructions) {
    text += instruction;
  }
  text += std::string{kernel_text::tile_loader} + kernel_text::epilogue + kernel_text::mma_gemm;
  if (has_wgmma) {
    text += kernel_text::wgmma_gemm;
  }
  text += constants + functions + kernel_text::harness;
  return text + (has_wgmma ? kernel_text::harness_maps : "") + encoders + main;
}

}  // namespace mapsim
