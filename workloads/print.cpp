// SPDX-License-Identifier: Apache-2.0
#include "workloads/print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "workloads/conv.hpp"
#include "workloads/form.hpp"
#include "workloads/gemm.hpp"

namespace mapsim {

namespace {

// Widths and densities, by name.
std::string tail_of(const Workload& workload) {
  std::vector<std::string> widths;
  std::vector<std::string> densities;
  for (const Tensor& tensor : workload.tensors) {
    widths.push_back(fmt::format("{}: {} b", tensor.name, tensor.bits.count()));
    if (tensor.pattern) {
      densities.push_back(fmt::format("{}: {}", tensor.name, tensor.pattern->text));
    } else if (tensor.density != 1) {
      densities.push_back(fmt::format("{}: {}", tensor.name, tensor.density));
    }
  }
  const Bits partial = workload.tensors[workload.output()].partial_bits;
  widths.push_back(fmt::format("partial: {} b", partial.count()));
  const std::string text = fmt::format("precision: {{{}}}\n", fmt::join(widths, ", "));
  return densities.empty() ? text
                           : text + fmt::format("density: {{{}}}\n", fmt::join(densities, ", "));
}

// Whether a shorthand says all of a workload but widths and densities.
bool says_all(Workload shorthand, const Workload& workload) {
  if (shorthand.tensors.size() != workload.tensors.size()) {
    return false;
  }
  for (const TensorId t : shorthand.tensors.ids()) {
    shorthand.tensors[t].bits = workload.tensors[t].bits;
    shorthand.tensors[t].partial_bits = workload.tensors[t].partial_bits;
    shorthand.tensors[t].density = workload.tensors[t].density;
    shorthand.tensors[t].pattern = workload.tensors[t].pattern;
  }
  return shorthand == workload;
}

// Without its input's extents and padding.
ConvShape bare_shape(const Workload& workload, const LayerView& view) {
  ConvShape shape;
  shape.batch = bound_of(workload, view.batch);
  shape.groups = bound_of(workload, view.group);
  shape.in_channels = shape.groups * bound_of(workload, view.channel);
  shape.out_channels = shape.groups * bound_of(workload, view.kernel);
  shape.kernel = {bound_of(workload, view.filter_rows), bound_of(workload, view.filter_columns)};
  shape.stride = view.stride;
  shape.dilation = view.dilation;
  shape.bias = workload.bias;
  return shape;
}

// An einsum knows the padded input only as far as the stride uses it: what is stored, and the note,
// tell which of the inputs and paddings it was.
std::optional<ConvShape> shape_of(const Workload& workload, const LayerView& view) {
  ConvShape shape = bare_shape(workload, view);
  const HeightWidth outputs{bound_of(workload, view.rows), bound_of(workload, view.columns)};
  const auto stored = workload.tensors[view.input].stored_elements;
  const HeightWidth used = input_for(shape, outputs);
  const std::int64_t images = shape.batch * shape.in_channels;
  const std::int64_t image = stored.value_or(0) % images == 0 ? stored.value_or(0) / images : 0;
  constexpr std::int64_t kMostTries = 64;
  std::array<std::vector<std::pair<std::int64_t, std::int64_t>>, 2> tries;  // padding, input
  for (const std::size_t axis : {0, 1}) {
    for (std::int64_t padding = 0; padding < kMostTries; ++padding) {
      for (std::int64_t rest = 0; rest < std::min(shape.stride[axis], kMostTries); ++rest) {
        tries[axis].emplace_back(padding, used[axis] + rest - 2 * padding);
      }
    }
  }
  for (const auto& [above, height] : tries[0]) {
    for (const auto& [left, width] : tries[1]) {
      shape.input = {height, width};
      shape.padding = {above, left};
      if (width > 0 && height > 0 && height <= image && image % height == 0 &&
          image / height == width && !problem_of(shape) &&
          says_all(conv2d(workload.name, shape), workload)) {
        return shape;
      }
    }
  }
  shape.input = used;
  shape.padding = {0, 0};
  shape.stored = stored;
  return !problem_of(shape) && says_all(conv2d(workload.name, shape), workload)
             ? std::optional{shape}
             : std::nullopt;
}

std::string conv_text(const ConvShape& shape) {
  const auto pair = [](const char* key, const HeightWidth& value, std::int64_t otherwise) {
    return value == HeightWidth{otherwise, otherwise}
               ? ""
               : fmt::format("  {}: [{}, {}]\n", key, value[0], value[1]);
  };
  const auto count = [](const char* key, std::int64_t value, std::int64_t otherwise) {
    return value == otherwise ? "" : fmt::format("  {}: {}\n", key, value);
  };
  return "conv2d:\n" + count("batch", shape.batch, 1) + count("in_channels", shape.in_channels, 0) +
         count("out_channels", shape.out_channels, 0) + pair("input", shape.input, 0) +
         pair("kernel", shape.kernel, 0) + pair("stride", shape.stride, 1) +
         pair("dilation", shape.dilation, 1) + pair("padding", shape.padding, 0) +
         count("groups", shape.groups, 1) + (shape.bias ? "  bias: true\n" : "") +
         count("stored", shape.stored.value_or(0), 0);
}

std::string gemm_text(const GemmShape& shape) {
  const std::string extents = fmt::format("m: {}, n: {}, k: {}", shape.m, shape.n, shape.k);
  return shape.batch ? fmt::format("batched_gemm: {{batch: {}, {}}}\n", *shape.batch, extents)
                     : fmt::format("gemm: {{{}{}}}\n", extents, shape.bias ? ", bias: true" : "");
}

// The shorthand of a workload; empty: it has none.
std::string shorthand(const Workload& workload) {
  const std::optional<LayerView> view = view_layer(workload);
  if (!view) {
    return "";
  }
  if (view->convolution) {
    const std::optional<ConvShape> shape = shape_of(workload, *view);
    return shape ? conv_text(*shape) : "";
  }
  GemmShape shape{bound_of(workload, view->rows), bound_of(workload, view->kernel),
                  bound_of(workload, view->channel), std::nullopt, workload.bias};
  if (view->group) {
    shape.batch = bound_of(workload, view->group);
  }
  const bool all = says_all(gemm(workload.name, shape), workload);
  return all && !(shape.batch && shape.bias) ? gemm_text(shape) : "";
}

}  // namespace

std::optional<ConvShape> conv_shape(const Workload& workload) {
  const std::optional<LayerView> view = view_layer(workload);
  return view && view->convolution ? shape_of(workload, *view) : std::nullopt;
}

std::string print_layer(const Workload& workload) {
  const std::string text = shorthand(workload);
  return text.empty() ? print_workload(workload)
                      : fmt::format("name: {}\n{}{}", workload.name, text, tail_of(workload));
}

std::string print_workload(const Workload& workload) {
  std::vector<std::string> dims;
  for (const Dim& dim : workload.dims) {
    dims.push_back(fmt::format("{}: {}", dim.name, dim.bound));
  }
  std::vector<std::string> roles;
  for (const TensorId t : workload.tensors.ids()) {
    if (t != workload.output()) {
      const Tensor& tensor = workload.tensors[t];
      roles.push_back(fmt::format("{}: {}", tensor.name, to_string(tensor.role)));
    }
  }
  return fmt::format("name: {}\neinsum:\n  equation: {}\n  dims: {{{}}}\n  roles: {{{}}}\n{}",
                     workload.name, workload.equation(), fmt::join(dims, ", "),
                     fmt::join(roles, ", "), tail_of(workload));
}

std::string print_chain(const EinsumChain& chain) {
  std::string text = fmt::format("name: {}\nchain:\n", chain.name);
  for (std::size_t e = 0; e < chain.einsums.size(); ++e) {
    const Workload& einsum = chain.einsums[e];
    std::string layer = print_layer(einsum);
    for (std::size_t at = layer.find('\n'); at + 1 < layer.size(); at = layer.find('\n', at + 1)) {
      layer.insert(at + 1, "    ");
    }
    text += "  - " + layer;
    std::vector<std::string> operands;
    for (const TensorId t : einsum.tensors.ids()) {
      const std::string& name = chain.names[e][t];
      if (name == fmt::format("{}.{}", einsum.name, einsum.tensors[t].name)) {
        continue;
      }
      if (t == einsum.output()) {
        text += fmt::format("    out: {}\n", name);
      } else {
        operands.push_back(fmt::format("{}: {}", einsum.tensors[t].name, name));
      }
    }
    if (!operands.empty()) {
      text += fmt::format("    in: {{{}}}\n", fmt::join(operands, ", "));
    }
  }
  return text;
}

}  // namespace mapsim
