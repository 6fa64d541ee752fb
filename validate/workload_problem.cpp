// SPDX-License-Identifier: Apache-2.0
#include "validate/workload_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>

namespace mapsim {
namespace {

using Convolution = std::decay_t<decltype(*KernelSpec{}.conv)>;

std::int64_t bound(const Workload& workload, const char* name) {
  const auto dim = workload.find_dim(name);
  return dim ? workload.dims[*dim].bound : 1;
}

// Stride, then dilation, of the rank of the input that slides over `output` and `filter`.
std::optional<std::array<std::int64_t, 2>> window(const Workload& workload, const Tensor& input,
                                                  const char* output, const char* filter) {
  const auto moves = workload.find_dim(output);
  const auto taps = workload.find_dim(filter);
  for (const Rank& rank : input.ranks) {
    std::array<std::int64_t, 2> found{0, 1};
    for (const Term& term : rank.terms) {
      if (moves && term.dim == *moves) {
        found[0] = term.coefficient;
      } else if (taps && term.dim == *taps) {
        found[1] = term.coefficient;
      }
    }
    if (found[0] > 0) {
      return found;
    }
  }
  return std::nullopt;
}

// What the windows touch along an axis, the padding included.
std::int64_t touched(std::int64_t outputs, std::int64_t taps, std::int64_t stride,
                     std::int64_t dilation) {
  return (outputs - 1) * stride + (taps - 1) * dilation + 1;
}

// Padding, and what the last stride leaves untouched, such that the input has `stored` elements per
// image and channel; the same on both axes before anything else.
void find_padding(Convolution& conv, std::int64_t stored) {
  const std::int64_t height = touched(conv.p, conv.r, conv.stride[0], conv.dilation[0]);
  const std::int64_t width = touched(conv.q, conv.s, conv.stride[1], conv.dilation[1]);
  conv.h = height;
  conv.w = width;
  const auto fits = [&](std::int64_t pad_h, std::int64_t left_h, std::int64_t pad_w,
                        std::int64_t left_w) {
    const std::int64_t h = height + left_h - 2 * pad_h;
    const std::int64_t w = width + left_w - 2 * pad_w;
    if (h < 1 || w < 1 || h * w != stored) {
      return false;
    }
    conv.h = h;
    conv.w = w;
    conv.padding = {pad_h, pad_w};
    return true;
  };
  const std::int64_t most_h = conv.dilation[0] * (conv.r - 1);
  const std::int64_t most_w = conv.dilation[1] * (conv.s - 1);
  for (std::int64_t pad = 0; pad <= std::min(most_h, most_w); ++pad) {
    for (std::int64_t left = 0; left < std::min(conv.stride[0], conv.stride[1]); ++left) {
      if (fits(pad, left, pad, left)) {
        return;
      }
    }
  }
  for (std::int64_t pad_h = 0; pad_h <= most_h; ++pad_h) {
    for (std::int64_t pad_w = 0; pad_w <= most_w; ++pad_w) {
      for (std::int64_t left = 0; left < conv.stride[0] * conv.stride[1]; ++left) {
        if (fits(pad_h, left % conv.stride[0], pad_w, left / conv.stride[0])) {
          return;
        }
      }
    }
  }
}

bool has_window(const Workload& workload) {
  for (const Tensor& tensor : workload.tensors) {
    for (const Rank& rank : tensor.ranks) {
      if (rank.terms.size() > 1) {
        return true;
      }
    }
  }
  return false;
}

std::variant<Convolution, std::string> convolution_of(const Workload& workload) {
  const auto id = workload.find_tensor("I");
  const auto height = id ? window(workload, workload.tensors[*id], "P", "R") : std::nullopt;
  const auto width = id ? window(workload, workload.tensors[*id], "Q", "S") : std::nullopt;
  if (!height || !width) {
    return "of convolutions, those of the shorthand conv2d are generated";
  }
  Convolution conv;
  conv.n = bound(workload, "N");
  conv.groups = bound(workload, "G");
  conv.c = bound(workload, "C");
  conv.k = bound(workload, "K");
  conv.p = bound(workload, "P");
  conv.q = bound(workload, "Q");
  conv.r = bound(workload, "R");
  conv.s = bound(workload, "S");
  conv.stride = {(*height)[0], (*width)[0]};
  conv.dilation = {(*height)[1], (*width)[1]};
  const auto stored = workload.tensors[*id].stored_elements;
  find_padding(conv, stored ? *stored / (conv.n * conv.groups * conv.c) : 0);
  return conv;
}

}  // namespace

std::variant<KernelSpec, std::string> kernel_problem(const Gpu& gpu, const Workload& workload,
                                                     const GpuRequest& request) {
  const auto forms = gemm_forms(gpu, workload, request);
  if (const auto* reason = std::get_if<std::string>(&forms)) {
    return *reason;
  }
  for (const GemmForm& form : std::get<0>(forms)) {
    if (!form.tensor_cores || !form.passes.empty()) {
      continue;
    }
    KernelSpec spec;
    spec.problem = form.problem;
    if (spec.problem.run_a == spec.problem.k && spec.problem.run_b == spec.problem.k) {
      spec.problem.run_a = spec.problem.run_b = std::nullopt;  // rows without gaps
    }
    if (has_window(workload)) {
      auto conv = convolution_of(workload);
      if (auto* reason = std::get_if<std::string>(&conv)) {
        return *reason;
      }
      spec.conv = std::get<0>(conv);
    }
    return spec;
  }
  return fmt::format("no form of {} runs on {}'s tensor cores without a pass beside the kernel",
                     workload.name, gpu.name);
}

std::string convolution_text(const KernelSpec& spec) {
  if (!spec.conv) {
    return "";
  }
  const Convolution& c = *spec.conv;
  return fmt::format(
      "n{} h{} w{} c{} k{} r{} s{} p{} q{} stride {}x{} dilation {}x{} padding {}x{} groups {}",
      c.n, c.h, c.w, c.c, c.k, c.r, c.s, c.p, c.q, c.stride[0], c.stride[1], c.dilation[0],
      c.dilation[1], c.padding[0], c.padding[1], c.groups);
}

}  // namespace mapsim
