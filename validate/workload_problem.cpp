// SPDX-License-Identifier: Apache-2.0
#include "validate/workload_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <type_traits>
#include <vector>

#include "workloads/print.hpp"

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

// The image and its padding, where only the number of stored elements per image and channel is
// known: whichever gives it. The text: several do.
std::optional<std::string> guess_image(Convolution& conv, std::int64_t stored) {
  conv.h = touched(conv.p, conv.r, conv.stride[0], conv.dilation[0]);
  conv.w = touched(conv.q, conv.s, conv.stride[1], conv.dilation[1]);
  // Of an axis, by extent: the paddings that leave it, and what the last stride leaves untouched.
  const auto tries = [](std::int64_t extent, std::int64_t stride, std::int64_t most) {
    std::multimap<std::int64_t, std::int64_t> paddings;
    for (std::int64_t padding = 0; padding <= most; ++padding) {
      for (std::int64_t rest = 0; rest < stride && extent + rest - 2 * padding >= 1; ++rest) {
        paddings.emplace(extent + rest - 2 * padding, padding);
      }
    }
    return paddings;
  };
  const auto widths = tries(conv.w, conv.stride[1], conv.dilation[1] * (conv.s - 1));
  std::vector<std::array<std::int64_t, 4>> found;  // height, width, paddings
  for (const auto& [height, above] :
       tries(conv.h, conv.stride[0], conv.dilation[0] * (conv.r - 1))) {
    const auto [first, last] = widths.equal_range(stored % height == 0 ? stored / height : 0);
    for (auto width = first; width != last; ++width) {
      found.push_back({height, width->first, above, width->second});
    }
  }
  if (found.size() > 1) {
    return fmt::format(
        "an input of {} elements can be {}x{} with a padding of {}x{} or {}x{} with {}x{}: write "
        "the layer as conv2d, which says it",
        stored, found[0][0], found[0][1], found[0][2], found[0][3], found[1][0], found[1][1],
        found[1][2], found[1][3]);
  }
  if (!found.empty()) {
    conv.h = found[0][0], conv.w = found[0][1];
    conv.padding = {found[0][2], found[0][3]};
  }
  return std::nullopt;
}

// As conv2d says it; else a guess. The text: nobody knows.
std::optional<std::string> find_image(const Workload& workload, const Tensor& input,
                                      Convolution& conv) {
  const std::optional<ConvShape> shape = conv_shape(workload);
  if (shape && shape->stored) {
    return "its padding differs between sides, and the file does not say which side has more";
  }
  if (shape) {
    conv.h = shape->input[0], conv.w = shape->input[1];
    conv.padding = shape->padding;
    return std::nullopt;
  }
  return guess_image(conv, input.stored_elements.value_or(0) / (conv.n * conv.groups * conv.c));
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
  if (auto reason = find_image(workload, workload.tensors[*id], conv)) {
    return *reason;
  }
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
    if (!form.tensor_cores || form.problem.pruned_b || !form.passes.empty()) {
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
  const auto& all = std::get<0>(forms);
  const auto form = std::find_if(all.begin(), all.end(),
                                 [](const GemmForm& candidate) { return candidate.tensor_cores; });
  if (form == all.end()) {
    return fmt::format("{} has no tensor cores for {}, and kernels are written for those alone",
                       gpu.name, to_string(all.front().problem.precision));
  }
  return fmt::format("{} takes another pass beside the kernel: {}", workload.name,
                     form->passes.front().what);
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
