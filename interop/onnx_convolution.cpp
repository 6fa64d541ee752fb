// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "interop/onnx_ops.hpp"
#include "workloads/conv.hpp"
#include "workloads/einsum.hpp"
#include "workloads/limits.hpp"

namespace mapsim {

namespace {

using Shape = std::vector<std::int64_t>;
constexpr std::int64_t kMostPhases = 4096;

// One axis that a window slides along.
struct Axis {
  std::int64_t input = 1, kernel = 1, stride = 1, dilation = 1;
  std::int64_t before = 0, after = 0;  // padding
  std::int64_t output = 1;             // of a ConvTranspose
  std::int64_t window() const { return dilation * (kernel - 1) + 1; }
};
using Axes = std::array<Axis, 2>;  // of one axis the second

std::int64_t bounded(std::int64_t value, std::int64_t least, const std::string& what) {
  if (value < least || value > kMaxExtent) {
    throw std::invalid_argument{
        fmt::format("{}: {} is not between {} and 2^30", what, value, least)};
  }
  return value;
}

std::int64_t elements(std::initializer_list<std::int64_t> extents) {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) {
    if (extent > kMaxOperations / product) {
      throw std::invalid_argument{"more than 2^53 elements"};
    }
    product *= extent;
  }
  return product;
}

// An attribute with so many values, or `otherwise` for each.
Shape per_axis(const OnnxNode& node, const std::string& key, std::size_t count,
               std::int64_t otherwise, std::int64_t least) {
  const auto at = node.integers.find(key);
  if (at == node.integers.end()) {
    return Shape(count, otherwise);
  }
  if (at->second.size() != count) {
    throw std::invalid_argument{
        fmt::format("'{}' has {} values, not {}", key, at->second.size(), count)};
  }
  for (const std::int64_t value : at->second) {
    bounded(value, least, key);
  }
  return at->second;
}

std::string automatic(const OnnxNode& node) {
  const auto at = node.words.find("auto_pad");
  return at == node.words.end() || at->second.empty() ? "NOTSET" : at->second;
}

// So much padding in all; SAME_LOWER has the odd one in front.
void share(Axis& axis, std::int64_t padding, bool lower) {
  axis.before = lower ? padding - padding / 2 : padding / 2;
  axis.after = padding - axis.before;
}

Axes axes_of(const OnnxNode& node, const Shape& in, const Shape& kernel) {
  const std::size_t count = in.size() - 2;
  const Shape kernels(kernel.begin() + 2, kernel.end());
  const bool given = node.integers.contains("kernel_shape");
  if (kernels.size() != count ||
      (given && per_axis(node, "kernel_shape", count, 1, 1) != kernels)) {
    throw std::invalid_argument{"data, weights and 'kernel_shape' contradict each other"};
  }
  const Shape strides = per_axis(node, "strides", count, 1, 1);
  const Shape dilations = per_axis(node, "dilations", count, 1, 1);
  const Shape pads = per_axis(node, "pads", 2 * count, 0, 0);
  Axes axes;
  for (std::size_t i = 0; i < count; ++i) {
    axes[i + 2 - count] = {bounded(in[i + 2], 1, "input"),
                           bounded(kernels[i], 1, "kernel"),
                           strides[i],
                           dilations[i],
                           pads[i],
                           pads[i + count]};
    bounded(axes[i + 2 - count].window(), 1, "window");
  }
  return axes;
}

Workload convolution(const OnnxNode& node, Axes axes, ConvShape conv, const Precision& widths) {
  const std::string padding = automatic(node);
  bool symmetric = true;
  for (std::size_t i = 0; i < 2; ++i) {
    Axis& axis = axes[i];
    if (padding.starts_with("SAME")) {
      const std::int64_t outputs = (axis.input + axis.stride - 1) / axis.stride;
      share(axis,
            std::max<std::int64_t>(0, (outputs - 1) * axis.stride + axis.window() - axis.input),
            padding == "SAME_LOWER");
    } else if (padding == "VALID") {
      axis.before = axis.after = 0;
    }
    symmetric = symmetric && axis.before == axis.after;
    conv.kernel[i] = axis.kernel;
    conv.stride[i] = axis.stride;
    conv.dilation[i] = axis.dilation;
    conv.input[i] = axis.input;
    conv.padding[i] = axis.before;
  }
  if (!symmetric) {
    conv.stored = elements({conv.batch, conv.in_channels, conv.input[0], conv.input[1]});
    for (std::size_t i = 0; i < 2; ++i) {
      conv.input[i] += axes[i].before + axes[i].after;
      conv.padding[i] = 0;
    }
  }
  return conv2d("", conv, widths);
}

// Padding and outputs of a transposed axis. `wanted`: the extent that 'output_shape' gives.
void finish_transposed(Axis& axis, std::int64_t output_padding, std::int64_t wanted,
                       const std::string& padding) {
  const std::int64_t whole = axis.stride * (axis.input - 1) + output_padding + axis.window();
  if (wanted > 0 || padding.starts_with("SAME")) {
    axis.output = wanted > 0 ? wanted : axis.input * axis.stride;
    share(axis, std::max<std::int64_t>(0, whole - axis.output), padding != "SAME_UPPER");
    return;
  }
  if (padding == "VALID") {
    axis.before = axis.after = 0;
  }
  axis.output = bounded(whole - axis.before - axis.after, 1, "output");
}

// Outputs of a transposed axis that see the same number of inputs: kernel elements r with one
// r * dilation mod stride.
struct Phase {
  std::int64_t taps = 1, outputs = 1;
  friend auto operator<=>(const Phase&, const Phase&) = default;
};
// How many phases of each shape an axis has. Outputs that no input reaches are in none.
std::map<Phase, std::int64_t> phases(const Axis& axis) {
  const std::int64_t period = axis.stride / std::gcd(axis.stride, axis.dilation);
  if (std::min(period, axis.kernel) > kMostPhases) {
    throw std::invalid_argument{fmt::format("more than {} phases", kMostPhases)};
  }
  std::map<Phase, std::int64_t> found;
  for (std::int64_t r = 0; r < std::min(period, axis.kernel); ++r) {
    // Position of the first output of this phase: r * dilation - before, modulo the stride.
    const std::int64_t shift = (r * axis.dilation - axis.before) % axis.stride;
    const std::int64_t first = shift < 0 ? shift + axis.stride : shift;
    if (first < axis.output) {
      ++found[{(axis.kernel - r + period - 1) / period,
               (axis.output - 1 - first) / axis.stride + 1}];
    }
  }
  return found;
}

// Each phase is a convolution without stride (Shi et al., arXiv 1609.07009, section 2); phases of
// one shape are more kernels of one convolution.
std::vector<Workload> transposed(const OnnxNode& node, Axes axes, const ConvShape& whole,
                                 const Precision& widths, std::size_t count) {
  const Shape output_padding = per_axis(node, "output_padding", count, 0, 0);
  const Shape wanted = per_axis(node, "output_shape", count, 0, 1);
  for (std::size_t i = 0; i < count; ++i) {
    finish_transposed(axes[i + 2 - count], output_padding[i], wanted[i], automatic(node));
  }
  std::vector<Workload> layers;
  for (const auto& [high, rows] : phases(axes[0])) {
    for (const auto& [wide, columns] : phases(axes[1])) {
      ConvShape conv = whole;
      conv.out_channels = elements({whole.out_channels, rows, columns});
      std::array<std::int64_t, 2> seen{};  // of the input
      for (std::size_t i = 0; i < 2; ++i) {
        const Phase& phase = i == 0 ? high : wide;
        conv.kernel[i] = phase.taps;
        conv.dilation[i] = axes[i].dilation / std::gcd(axes[i].stride, axes[i].dilation);
        conv.input[i] = phase.outputs + conv.dilation[i] * (phase.taps - 1);
        seen[i] = std::min(axes[i].input, conv.input[i]);
      }
      if (seen != conv.input) {
        conv.stored = elements({whole.batch, whole.in_channels, seen[0], seen[1]});
      }
      layers.push_back(conv2d("", conv, widths));
    }
  }
  return layers;
}

}  // namespace

std::vector<Workload> onnx_convolutions(const OnnxNode& node, const OnnxOp& op,
                                        const Precision& widths) {
  const Shape in = known_shape(node.inputs[op.data], 3);
  const Shape kernel = known_shape(node.inputs[op.weight], 3);
  const Axes axes = axes_of(node, in, kernel);
  ConvShape conv;
  conv.batch = bounded(in[0], 1, "batch");
  conv.in_channels = bounded(in[1], 1, "channels");
  conv.groups = bounded(attribute(node, "group", 1), 1, "group");
  conv.bias = node.inputs.size() > 2 && op.weight == 1 && node.op != "ConvInteger";
  elements({conv.batch, conv.in_channels, axes[0].input, axes[1].input});
  const bool forward = op.kind == OnnxKind::kConv;  // weights [K][C / groups], or [C][K / groups]
  if (forward ? elements({kernel[1], conv.groups}) != in[1]
              : kernel[0] != in[1] || in[1] % conv.groups != 0) {
    throw std::invalid_argument{
        fmt::format("{} channels of data in {} groups contradict weights of {}x{}", in[1],
                    conv.groups, kernel[0], kernel[1])};
  }
  if (forward) {
    conv.out_channels = kernel[0];
    return {convolution(node, axes, conv, widths)};
  }
  conv.out_channels = elements({kernel[1], conv.groups});
  return transposed(node, axes, conv, widths, in.size() - 2);
}

}  // namespace mapsim
