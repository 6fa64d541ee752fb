// SPDX-License-Identifier: Apache-2.0
#include "validate/kernels/source_parts.hpp"

namespace mapsim {

KernelTypes types_of(const GemmProblem& problem) {
  const std::int64_t output = problem.output.count();
  const auto pick = [&](const char* narrow, const char* wide) {
    const std::int64_t size = operand_size(problem.precision).count();
    return std::string{output == size ? narrow : output == 4 ? wide : ""};
  };
  switch (problem.precision) {
    case GpuPrecision::kF16:
      return {"half", "half", "float", pick("half", "float")};
    case GpuPrecision::kF16Acc16:
      return {"half", "half", "half", pick("half", "float")};
    case GpuPrecision::kBf16:
      return {"bfloat16", "bfloat16", "float", pick("bfloat16", "float")};
    case GpuPrecision::kTf32:
      return {"float", "wmma::precision::tf32", "float", pick("float", "float")};
    case GpuPrecision::kS8:
      return {"signed char", "signed char", "int", pick("signed char", "int")};
    case GpuPrecision::kF64:
      return {"double", "double", "double", pick("double", "float")};
    case GpuPrecision::kF32:
    case GpuPrecision::kFp8:
      return {};
  }
  return {};
}

KernelRows rows_of(const KernelSpec& spec) {
  if (spec.conv) {
    const KernelConvolution& conv = *spec.conv;
    return {conv.groups * conv.c, conv.r * conv.s * conv.c, conv.groups * conv.k};
  }
  return {run_of_a(spec.problem), run_of_b(spec.problem), spec.problem.n};
}

bool is_plain(const KernelConvolution& conv) {
  return conv.r == 1 && conv.s == 1 && conv.stride == std::array<std::int64_t, 2>{1, 1} &&
         conv.padding == std::array<std::int64_t, 2>{0, 0} && conv.p == conv.h &&
         conv.q == conv.w && conv.groups == 1;
}

bool is_window(const KernelSpec& spec) { return spec.conv && !is_plain(*spec.conv); }

std::string entry_text(const std::string& arguments, const std::string& name, std::int64_t threads,
                       const char* body) {
  return fmt::format(
      "extern \"C\" __global__ void __launch_bounds__({})\n"
      "{}(const mapsim_kernel::{} arguments) {{\n"
      "  mapsim_kernel::{}<mapsim_kernel::Spec>(arguments);\n"
      "}}\n",
      threads, name, arguments, body);
}

}  // namespace mapsim
