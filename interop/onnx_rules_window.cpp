// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "interop/onnx_rules.hpp"

namespace mapsim {

namespace {

// Windows that slide along axes: convolutions and pools.

constexpr std::int64_t kMostAttribute = std::int64_t{1} << 40;  // sums of a few fit

// Of an axis that a window slides along.
struct WindowAxis {
  std::int64_t input = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
  std::int64_t window() const { return dilation * (kernel - 1) + 1; }
};

std::optional<OnnxShape> per_axis(const OnnxOperator& operation, const char* key, std::size_t count,
                                  std::int64_t otherwise, std::int64_t least) {
  const OnnxShape values = operation.integers(key).value_or(OnnxShape(count, otherwise));
  const bool fits = std::all_of(values.begin(), values.end(), [least](std::int64_t value) {
    return value >= least && value <= kMostAttribute;
  });
  return fits && values.size() == count ? std::optional{values} : std::nullopt;
}

// The axes behind the first two; absent: attributes that contradict the data.
std::optional<std::vector<WindowAxis>> axes_of(const OnnxOperator& operation, const OnnxShape& data,
                                               const OnnxShape& kernel) {
  const std::size_t count = data.size() - 2;
  const auto strides = per_axis(operation, "strides", count, 1, 1);
  const auto dilations = per_axis(operation, "dilations", count, 1, 1);
  const auto pads = per_axis(operation, "pads", 2 * count, 0, -kMostAttribute);
  if (!strides || !dilations || !pads || kernel.size() != count) {
    return std::nullopt;
  }
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < count; ++i) {
    axes.push_back(
        {data[i + 2], kernel[i], (*strides)[i], (*dilations)[i], (*pads)[i], (*pads)[i + count]});
    if (kernel[i] < 1 || kernel[i] > kMostAttribute ||
        extent_times(kernel[i], (*dilations)[i]) == kUnknownExtent) {
      return std::nullopt;
    }
  }
  return axes;
}

// How often the window of an axis is laid on; with `ceil`, also where it ends beyond the padding,
// unless it begins there (ONNX 1.16 on).
std::int64_t windows(const WindowAxis& axis, const std::string& padding, bool ceil) {
  if (axis.input == kUnknownExtent) {
    return kUnknownExtent;
  }
  if (padding.starts_with("SAME")) {
    return (axis.input + axis.stride - 1) / axis.stride;
  }
  const bool valid = padding == "VALID";
  const std::int64_t before = valid ? 0 : axis.before, after = valid ? 0 : axis.after;
  const std::int64_t room = axis.input + before + after - axis.window();
  if (room < 0) {
    return kUnknownExtent;
  }
  std::int64_t count = room / axis.stride + 1;
  if (ceil && room % axis.stride != 0 && count * axis.stride < axis.input + before) {
    ++count;
  }
  return count;
}

// `kernel`: where the operator's attribute gives none.
std::optional<OnnxShape> slid(const OnnxOperator& operation, std::int64_t channels,
                              const std::optional<OnnxShape>& kernel) {
  const auto& data = operation.shape(0);
  const auto extents = operation.integers("kernel_shape");
  if (!data || data->size() < 2 || (!extents && !kernel)) {
    return std::nullopt;
  }
  const auto axes = axes_of(operation, *data, extents ? *extents : *kernel);
  if (!axes) {
    return std::nullopt;
  }
  OnnxShape shape{(*data)[0], channels};
  for (const WindowAxis& axis : *axes) {
    shape.push_back(windows(axis, operation.text("auto_pad", "NOTSET"),
                            operation.integer("ceil_mode", 0) != 0));
  }
  return shape;
}

std::optional<OnnxShape> convolved(const OnnxOperator& operation, std::size_t weight) {
  const auto& weights = operation.shape(weight);
  if (!weights || weights->size() < 2) {
    return operation.integers("kernel_shape") ? slid(operation, kUnknownExtent, std::nullopt)
                                              : std::nullopt;
  }
  return slid(operation, (*weights)[0], OnnxShape{weights->begin() + 2, weights->end()});
}

Facts conv(const OnnxOperator& operation) {
  return results({operation.type(0), convolved(operation, 1)});
}
Facts conv_integer(const OnnxOperator& operation) {
  return results({kOnnxInt32, convolved(operation, 1)});
}
Facts qlinear_conv(const OnnxOperator& operation) {
  return results({operation.type(7), convolved(operation, 3)});
}

Facts pool(const OnnxOperator& operation) {
  const auto& data = operation.shape(0);
  const auto shape =
      data && data->size() >= 2 ? slid(operation, (*data)[1], std::nullopt) : std::nullopt;
  return results({operation.type(0), shape},
                 {kOnnxInt64, shape});  // the second: where maxima stood
}

Facts global_pool(const OnnxOperator& operation) {
  std::optional<OnnxShape> shape = operation.shape(0);
  if (shape && shape->size() >= 2) {
    std::fill(shape->begin() + 2, shape->end(), 1);
  }
  return results({operation.type(0), shape});
}

std::int64_t spread(const WindowAxis& axis, std::int64_t output_padding,
                    const std::string& padding) {
  if (axis.input == kUnknownExtent) {
    return kUnknownExtent;
  }
  if (padding.starts_with("SAME")) {
    return extent_times(axis.input, axis.stride);
  }
  const bool valid = padding == "VALID";
  const std::int64_t whole = extent_times(axis.stride, axis.input - 1);
  const std::int64_t pads = valid ? 0 : axis.before + axis.after;
  const std::int64_t extent = whole + output_padding + axis.window() - pads;
  return axis.input < 1 || whole == kUnknownExtent || extent < 1 ? kUnknownExtent : extent;
}

Facts conv_transpose(const OnnxOperator& operation) {
  const auto& data = operation.shape(0);
  const auto& weights = operation.shape(1);
  Facts facts = results({operation.type(0)});
  if (!data || data->size() < 2 || !weights || weights->size() != data->size()) {
    return facts;
  }
  const std::size_t count = data->size() - 2;
  const OnnxShape kernel{weights->begin() + 2, weights->end()};
  const auto axes = axes_of(operation, *data, operation.integers("kernel_shape").value_or(kernel));
  const auto more = per_axis(operation, "output_padding", count, 0, 0);
  const auto wanted = operation.integers("output_shape");
  if (!axes || !more || (wanted && wanted->size() != count)) {
    return facts;
  }
  facts[0].shape = {(*data)[0], extent_times((*weights)[1], operation.integer("group", 1))};
  for (std::size_t i = 0; i < count; ++i) {
    facts[0].shape->push_back(
        wanted ? (*wanted)[i]
               : spread((*axes)[i], (*more)[i], operation.text("auto_pad", "NOTSET")));
  }
  return facts;
}

Facts max_unpool(const OnnxOperator& operation) {
  const auto& data = operation.shape(0);
  Facts facts = results({operation.type(0)});
  if (operation.is_given(2)) {
    facts[0].shape = operation.wholes(2);
    return facts;
  }
  const auto kernel = operation.integers("kernel_shape");
  const auto axes =
      data && data->size() >= 2 && kernel ? axes_of(operation, *data, *kernel) : std::nullopt;
  if (axes) {
    facts[0].shape = {(*data)[0], (*data)[1]};
    for (const WindowAxis& axis : *axes) {
      facts[0].shape->push_back(spread(axis, 0, "NOTSET"));
    }
  }
  return facts;
}

// As many as there are regions, each of one size.
std::optional<OnnxShape> of_regions(const OnnxOperator& operation, std::int64_t rows,
                                    std::int64_t columns) {
  const auto& data = operation.shape(0);
  const auto& regions = operation.shape(1);
  return data && data->size() == 4 && regions && regions->size() == 2
             ? std::optional{OnnxShape{(*regions)[0], (*data)[1], rows, columns}}
             : std::nullopt;
}
Facts roi_align(const OnnxOperator& operation) {
  return results({operation.type(0), of_regions(operation, operation.integer("output_height", 1),
                                                operation.integer("output_width", 1))});
}
Facts max_roi_pool(const OnnxOperator& operation) {
  const auto pooled = operation.integers("pooled_shape");
  Facts facts = results({operation.type(0)});
  if (pooled && pooled->size() == 2) {
    facts[0].shape = of_regions(operation, (*pooled)[0], (*pooled)[1]);
  }
  return facts;
}

// Columns to an image: channels hold whole blocks.
Facts col2im(const OnnxOperator& operation) {
  const auto& data = operation.shape(0);
  const auto image = operation.wholes(1);
  const auto block = operation.wholes(2);
  Facts facts = results({operation.type(0)});
  if (data && data->size() == 3 && image && block) {
    const std::int64_t size = elements_of(*block);
    facts[0].shape = {
        (*data)[0], size > 0 && (*data)[1] != kUnknownExtent ? (*data)[1] / size : kUnknownExtent};
    facts[0].shape->insert(facts[0].shape->end(), image->begin(), image->end());
  }
  return facts;
}

// In: NxCxDx...; where to look: NxHxWx2.
Facts grid_sample(const OnnxOperator& operation) {
  const auto& data = operation.shape(0);
  const auto& grid = operation.shape(1);
  Facts facts = results({operation.type(0)});
  if (data && grid && data->size() == grid->size() && data->size() > 2) {
    facts[0].shape = {(*data)[0], (*data)[1]};
    facts[0].shape->insert(facts[0].shape->end(), grid->begin() + 1, grid->end() - 1);
  }
  return facts;
}

constexpr std::array kWindowRules{OnnxRuleEntry{"AveragePool", pool},
                                  OnnxRuleEntry{"Col2Im", col2im},
                                  OnnxRuleEntry{"Conv", conv},
                                  OnnxRuleEntry{"ConvInteger", conv_integer},
                                  OnnxRuleEntry{"ConvTranspose", conv_transpose},
                                  OnnxRuleEntry{"DeformConv", conv},
                                  OnnxRuleEntry{"GlobalAveragePool", global_pool},
                                  OnnxRuleEntry{"GlobalLpPool", global_pool},
                                  OnnxRuleEntry{"GlobalMaxPool", global_pool},
                                  OnnxRuleEntry{"GridSample", grid_sample},
                                  OnnxRuleEntry{"LpPool", pool},
                                  OnnxRuleEntry{"MaxPool", pool},
                                  OnnxRuleEntry{"MaxRoiPool", max_roi_pool},
                                  OnnxRuleEntry{"MaxUnpool", max_unpool},
                                  OnnxRuleEntry{"QLinearConv", qlinear_conv},
                                  OnnxRuleEntry{"RoiAlign", roi_align}};

}  // namespace

std::span<const OnnxRuleEntry> window_rules() { return kWindowRules; }

}  // namespace mapsim
