// SPDX-License-Identifier: Apache-2.0
#include "workloads/conv.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "workloads/einsum.hpp"
#include "workloads/limits.hpp"

namespace mapsim {
namespace {

struct Named {
  const char* key;
  std::int64_t value;
  std::int64_t least;
};

std::vector<Named> extents(const ConvShape& shape) {
  std::vector<Named> all{{"batch", shape.batch, 1},
                         {"in_channels", shape.in_channels, 1},
                         {"out_channels", shape.out_channels, 1},
                         {"groups", shape.groups, 1}};
  for (const std::size_t axis : {0, 1}) {
    all.push_back({"input", shape.input[axis], 1});
    all.push_back({"kernel", shape.kernel[axis], 1});
    all.push_back({"stride", shape.stride[axis], 1});
    all.push_back({"dilation", shape.dilation[axis], 1});
    all.push_back({"padding", shape.padding[axis], 0});
  }
  return all;
}

std::int64_t window(const ConvShape& shape, std::size_t axis) {
  return shape.dilation[axis] * (shape.kernel[axis] - 1) + 1;
}

std::int64_t padded(const ConvShape& shape, std::size_t axis) {
  return shape.input[axis] + 2 * shape.padding[axis];
}

std::string by(const HeightWidth& size) { return fmt::format("{}x{}", size[0], size[1]); }

bool is_depthwise(const ConvShape& shape) {
  return shape.groups > 1 && shape.groups == shape.in_channels &&
         shape.groups == shape.out_channels;
}

std::string note(const ConvShape& shape) {
  const HeightWidth whole{padded(shape, 0), padded(shape, 1)};
  const HeightWidth output = shape.output();
  const HeightWidth used{(output[0] - 1) * shape.stride[0] + window(shape, 0),
                         (output[1] - 1) * shape.stride[1] + window(shape, 1)};
  const auto [height, width] = shape.padding;
  if (shape.stored) {
    return fmt::format("counted on an input of {}; the roofline uses the {} elements in memory",
                       by(whole), *shape.stored);
  }
  if (height == 0 && width == 0) {
    return used == whole ? ""
                         : fmt::format("the stride uses {} of the {} input", by(used), by(whole));
  }
  return fmt::format(
      "padding {}: counted on the padded {} input{}; the roofline uses the stored {}",
      height == width ? fmt::format("{}", height) : by(shape.padding), by(whole),
      used == whole ? "" : fmt::format(", of which the stride uses {}", by(used)), by(shape.input));
}

std::vector<Dim> dims_of(const ConvShape& shape) {
  std::vector<Dim> dims{{"N", shape.batch}};
  if (shape.groups > 1) {
    dims.push_back({"G", shape.groups});
  }
  if (!is_depthwise(shape)) {
    dims.push_back({"K", shape.out_channels / shape.groups});
    dims.push_back({"C", shape.in_channels / shape.groups});
  }
  const auto [height, width] = shape.output();
  dims.insert(dims.end(),
              {{"P", height}, {"Q", width}, {"R", shape.kernel[0]}, {"S", shape.kernel[1]}});
  return dims;
}

}  // namespace

HeightWidth ConvShape::output() const {
  HeightWidth result{};
  for (const std::size_t axis : {0, 1}) {
    result[axis] = (padded(*this, axis) - window(*this, axis)) / stride[axis] + 1;
  }
  return result;
}

HeightWidth input_for(const ConvShape& shape, const HeightWidth& output) {
  HeightWidth input{};
  for (const std::size_t axis : {0, 1}) {
    input[axis] =
        (output[axis] - 1) * shape.stride[axis] + window(shape, axis) - 2 * shape.padding[axis];
  }
  return input;
}

std::optional<ShapeProblem> problem_of(const ConvShape& shape) {
  for (const auto& [key, value, least] : extents(shape)) {
    if (value < least || value > kMaxExtent) {
      return ShapeProblem{key, fmt::format("{} is not between {} and 2^30", value, least)};
    }
  }
  for (const auto& [key, channels] : {std::pair{"in_channels", shape.in_channels},
                                      std::pair{"out_channels", shape.out_channels}}) {
    if (channels % shape.groups != 0) {
      return ShapeProblem{
          "groups", fmt::format("{} groups do not divide {} {}", shape.groups, channels, key)};
    }
  }
  for (const std::size_t axis : {0, 1}) {
    if (window(shape, axis) > padded(shape, axis)) {
      return ShapeProblem{"kernel",
                          fmt::format("the window of {} does not fit the padded input of {}",
                                      window(shape, axis), padded(shape, axis))};
    }
  }
  std::int64_t elements = 1;
  for (const std::int64_t extent :
       {shape.batch, shape.in_channels, shape.input[0], shape.input[1]}) {
    if (extent > kMaxOperations / elements) {
      return ShapeProblem{"input", "the input has more than 2^53 elements"};
    }
    elements *= extent;
  }
  if (shape.stored && (*shape.stored < 1 || *shape.stored > elements)) {
    return ShapeProblem{"stored", fmt::format("{} elements are not between 1 and the input's {}",
                                              *shape.stored, elements)};
  }
  return std::nullopt;
}

Workload conv2d(const std::string& name, const ConvShape& shape, const Precision& precision) {
  if (const std::optional<ShapeProblem> problem = problem_of(shape)) {
    throw std::invalid_argument{problem->what};
  }
  const bool depthwise = is_depthwise(shape);
  const char* g = shape.groups > 1 ? "[G]" : "";
  const char* k = depthwise ? "" : "[K]";
  const char* c = depthwise ? "" : "[C]";
  const std::string equation =
      fmt::format("O[N]{g}{k}[P][Q] += I[N]{g}{c}[{}*P+{}*R][{}*Q+{}*S] * W{g}{k}{c}[R][S]",
                  shape.stride[0], shape.dilation[0], shape.stride[1], shape.dilation[1],
                  fmt::arg("g", g), fmt::arg("k", k), fmt::arg("c", c));
  Workload workload = einsum(name, equation, dims_of(shape), precision);
  workload.tensors[*workload.find_tensor("I")].stored_elements =
      shape.stored.value_or(shape.batch * shape.in_channels * shape.input[0] * shape.input[1]);
  workload.bias = shape.bias;
  workload.note = note(shape);
  return workload;
}

}  // namespace mapsim
