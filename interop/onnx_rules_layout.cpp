// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "interop/onnx_rules.hpp"

namespace mapsim {

namespace {

// Operators that give the same elements another shape, repeat, pad or interpolate them.

bool is_unknown(OnnxNumber value) { return std::isnan(value); }

// A value as an extent.
std::int64_t extent_of(OnnxNumber value) {
  return value >= 0 && value < 0x1p57L ? static_cast<std::int64_t>(value) : kUnknownExtent;
}

// Values as extents; where not even they are known, as many unknown ones as there are.
std::optional<OnnxShape> extents(const TensorFacts& facts) {
  if (facts.values) {
    OnnxShape shape;
    std::transform(facts.values->begin(), facts.values->end(), std::back_inserter(shape),
                   extent_of);
    return shape;
  }
  return facts.is_known() && facts.shape->size() == 1 && facts.shape->front() < 64
             ? std::optional{OnnxShape(static_cast<std::size_t>(facts.shape->front()),
                                       kUnknownExtent)}
             : std::nullopt;
}

// The wanted shape of a Reshape: 0 as in the data, -1 what is left over.
std::optional<OnnxShape> reshaped(const TensorFacts& data, const OnnxNumbers& wanted, bool zeros) {
  OnnxShape shape;
  std::optional<std::size_t> free;
  bool more_free = false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == 0 && !zeros) {
      shape.push_back(data.shape && i < data.shape->size() ? (*data.shape)[i] : kUnknownExtent);
      continue;
    }
    const bool left_over = wanted[i] == -1 || is_unknown(wanted[i]);
    more_free = more_free || (left_over && free);
    free = left_over ? i : free;
    shape.push_back(left_over ? kUnknownExtent : extent_of(wanted[i]));
  }
  if (free && !more_free && data.is_known()) {
    OnnxShape others = shape;
    others[*free] = 1;
    const std::int64_t rest = elements_of(others), whole = elements_of(*data.shape);
    shape[*free] = rest > 0 && whole >= 0 && whole % rest == 0 ? whole / rest : kUnknownExtent;
  }
  return shape;
}

Facts reshape(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const auto attribute = operation.integers("shape");
  if (!operation.is_given(1) && attribute) {
    facts[0].shape =
        reshaped(operation.input(0), OnnxNumbers{attribute->begin(), attribute->end()}, false);
  } else if (operation.input(1).values) {
    facts[0].shape = reshaped(operation.input(0), *operation.input(1).values,
                              operation.integer("allowzero", 0) != 0);
  } else {
    facts[0].shape = extents(operation.input(1));
  }
  return facts;
}

Facts flatten(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  if (const auto& data = operation.shape(0)) {
    const std::int64_t axis = operation.integer("axis", 1);
    const auto rank = static_cast<std::int64_t>(data->size());
    if (axis >= -rank && axis <= rank) {
      const std::span<const std::int64_t> all{*data};
      const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
      facts[0].shape = {elements_of(all.first(at)), elements_of(all.subspan(at))};
    }
  }
  return facts;
}

Facts transpose(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const auto& data = operation.shape(0);
  const auto order = operation.integers("perm");
  if (!data || (order && order->size() != data->size())) {
    return facts;
  }
  OnnxShape shape;
  for (std::size_t i = 0; i < data->size(); ++i) {
    const auto from = order ? place((*order)[i], data->size()) : data->size() - 1 - i;
    if (!from) {
      return facts;
    }
    shape.push_back((*data)[*from]);
  }
  facts[0].shape = shape;
  return facts;
}

// Which axes a list names, each once.
std::optional<std::vector<bool>> named(const OnnxShape& axes, std::size_t rank) {
  std::vector<bool> found(rank, false);
  for (const std::int64_t axis : axes) {
    const auto at = place(axis, rank);
    if (!at || found[*at]) {
      return std::nullopt;
    }
    found[*at] = true;
  }
  return found;
}

Facts squeeze(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const OnnxOperator::List axes = operation.list(1, "axes");
  const auto& data = operation.shape(0);
  if (!data || !axes.known || (!axes.values && !operation.input(0).is_known())) {
    return facts;
  }
  const auto goes = axes.values ? named(*axes.values, data->size()) : std::nullopt;
  if (axes.values && !goes) {
    return facts;
  }
  OnnxShape shape;
  for (std::size_t i = 0; i < data->size(); ++i) {
    if (goes ? !(*goes)[i] : (*data)[i] != 1) {
      shape.push_back((*data)[i]);
    } else if (goes && (*data)[i] != 1 && (*data)[i] != kUnknownExtent) {
      return facts;
    }
  }
  facts[0].shape = shape;
  return facts;
}

Facts unsqueeze(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const OnnxOperator::List axes = operation.list(1, "axes");
  const auto& data = operation.shape(0);
  if (!data || !axes.known || !axes.values) {
    return facts;
  }
  const auto is_new = named(*axes.values, data->size() + axes.values->size());
  if (is_new) {
    OnnxShape shape;
    auto old = data->begin();
    for (const bool added : *is_new) {
      shape.push_back(added ? 1 : *old++);
    }
    facts[0].shape = shape;
  }
  return facts;
}

Facts expand(const OnnxOperator& operation) {
  return results({operation.type(0), broadcast(operation.shape(0), extents(operation.input(1)))});
}

Facts tile(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const auto& data = operation.shape(0);
  const auto repeats = operation.wholes(1);
  if (!data) {
    return facts;
  }
  OnnxShape shape(data->size(), kUnknownExtent);
  if (operation.opset() < 6) {  // so often along one axis
    const auto axis = operation.wholes(2);
    const auto at = repeats && axis && repeats->size() == 1 && axis->size() == 1
                        ? place(axis->front(), data->size())
                        : std::nullopt;
    if (at) {
      shape = *data;
      shape[*at] = extent_times(shape[*at], repeats->front());
    }
  } else if (repeats) {
    if (repeats->size() != data->size()) {
      return facts;
    }
    std::transform(data->begin(), data->end(), repeats->begin(), shape.begin(), extent_times);
  }
  facts[0].shape = shape;
  return facts;
}

Facts pad(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const auto& data = operation.shape(0);
  const OnnxOperator::List pads = operation.list(1, operation.opset() < 2 ? "paddings" : "pads");
  const OnnxOperator::List axes = operation.list(3, "axes");
  if (!data || !axes.known) {
    return facts;
  }
  OnnxShape along = axes.values.value_or(OnnxShape(data->size(), 0));
  for (std::size_t i = 0; !axes.values && i < along.size(); ++i) {
    along[i] = static_cast<std::int64_t>(i);
  }
  facts[0].shape = OnnxShape(data->size(), kUnknownExtent);
  if (!pads.known || !pads.values || pads.values->size() != 2 * along.size()) {
    return facts;
  }
  facts[0].shape = data;
  for (std::size_t i = 0; i < along.size(); ++i) {
    const auto at = place(along[i], data->size());
    const std::int64_t before = (*pads.values)[i], after = (*pads.values)[i + along.size()];
    constexpr std::int64_t kMost = std::int64_t{1} << 56;
    if (!at || std::abs(before) > kMost || std::abs(after) > kMost) {
      return results({operation.type(0)});
    }
    std::int64_t& extent = (*facts[0].shape)[*at];
    extent = extent == kUnknownExtent
                 ? kUnknownExtent
                 : std::max<std::int64_t>(kUnknownExtent, extent + before + after);
  }
  return facts;
}

Facts depth_to_space(const OnnxOperator& operation) {
  const auto& data = operation.shape(0);
  const std::int64_t block = operation.integer("blocksize", 0);
  Facts facts = results({operation.type(0)});
  if (data && data->size() == 4 && block > 0 && block < (1 << 20)) {
    const std::int64_t channels = (*data)[1];
    facts[0].shape = {(*data)[0],
                      channels == kUnknownExtent ? kUnknownExtent : channels / (block * block),
                      extent_times((*data)[2], block), extent_times((*data)[3], block)};
  }
  return facts;
}

Facts space_to_depth(const OnnxOperator& operation) {
  const auto& data = operation.shape(0);
  const std::int64_t block = operation.integer("blocksize", 0);
  Facts facts = results({operation.type(0)});
  if (data && data->size() == 4 && block > 0 && block < (1 << 20)) {
    const auto parts = [block](std::int64_t extent) {
      return extent == kUnknownExtent ? kUnknownExtent : extent / block;
    };
    facts[0].shape = {(*data)[0], extent_times((*data)[1], block * block), parts((*data)[2]),
                      parts((*data)[3])};
  }
  return facts;
}

// floor(extent x factor), in single precision as ONNX has it.
std::int64_t scaled_extent(std::int64_t extent, OnnxNumber factor) {
  const double product =
      std::floor(static_cast<double>(static_cast<float>(extent) * static_cast<float>(factor)));
  return extent == kUnknownExtent || !(product >= 0 && product < 0x1p56)
             ? kUnknownExtent
             : static_cast<std::int64_t>(product);
}

std::optional<OnnxShape> scaled(const OnnxShape& data, const OnnxNumbers& factors,
                                const std::vector<std::size_t>& along) {
  OnnxShape shape = data;
  if (factors.size() != along.size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < along.size(); ++i) {
    shape[along[i]] = scaled_extent(shape[along[i]], factors[i]);
  }
  return shape;
}

// One scale for all axes, the least or the largest that sizes ask for.
void keep_ratio(const OnnxShape& data, const std::vector<std::size_t>& along,
                const std::string& policy, OnnxShape& shape) {
  double scale = policy == "not_larger" ? HUGE_VAL : 0;
  for (const std::size_t axis : along) {
    const double own = static_cast<double>(shape[axis]) / static_cast<double>(data[axis]);
    scale = policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
  }
  for (const std::size_t axis : along) {
    const double extent = std::floor(scale * static_cast<double>(data[axis]) + 0.5);
    shape[axis] =
        extent >= 0 && extent < 0x1p56 ? static_cast<std::int64_t>(extent) : kUnknownExtent;
  }
}

std::vector<std::size_t> resized_axes(const OnnxOperator& operation, std::size_t rank) {
  std::vector<std::size_t> along;
  if (const auto axes = operation.integers("axes")) {
    for (const std::int64_t axis : *axes) {
      along.push_back(place(axis, rank).value_or(rank));
    }
    std::erase(along, rank);
    return along;
  }
  for (std::size_t i = 0; i < rank; ++i) {
    along.push_back(i);
  }
  return along;
}

// Operands: data, region, scales, sizes; at opset 10 data, scales.
Facts resize(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const auto& data = operation.shape(0);
  if (!data) {
    return facts;
  }
  const std::vector<std::size_t> along = resized_axes(operation, data->size());
  const TensorFacts& scales = operation.input(operation.opset() < 11 ? 1 : 2);
  const auto sizes = operation.wholes(3);
  if (scales.is_constant() && !scales.values->empty()) {
    facts[0].shape = scaled(*data, *scales.values, along);
  } else if (sizes && sizes->size() == along.size()) {
    facts[0].shape = data;
    for (std::size_t i = 0; i < along.size(); ++i) {
      (*facts[0].shape)[along[i]] = (*sizes)[i];
    }
    const std::string policy = operation.text("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch" && operation.input(0).is_known()) {
      keep_ratio(*data, along, policy, *facts[0].shape);
    }
  } else {
    facts[0].shape = data;
    for (const std::size_t axis : along) {
      (*facts[0].shape)[axis] = kUnknownExtent;
    }
  }
  return facts;
}

Facts upsample(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const auto& data = operation.shape(0);
  if (!data) {
    return facts;
  }
  OnnxNumbers factors;
  const ModelAttribute* given = operation.node().find("scales");
  const ModelAttribute* high = operation.node().find("height_scale");
  const ModelAttribute* wide = operation.node().find("width_scale");
  if (operation.is_given(1)) {
    factors = operation.input(1).is_constant() ? *operation.input(1).values : OnnxNumbers{};
  } else if (given != nullptr) {
    factors = {given->reals.begin(), given->reals.end()};
  } else if (high != nullptr && wide != nullptr) {
    factors = {1, 1, high->real, wide->real};
  }
  facts[0].shape = factors.empty() ? OnnxShape(data->size(), kUnknownExtent)
                                   : scaled(*data, factors, resized_axes(operation, data->size()));
  return facts;
}

// To the middle of a wanted shape.
Facts center_crop_pad(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const auto& data = operation.shape(0);
  const auto wanted = extents(operation.input(1));
  if (data && wanted) {
    const std::vector<std::size_t> along = resized_axes(operation, data->size());
    if (along.size() == wanted->size()) {
      facts[0].shape = data;
      for (std::size_t i = 0; i < along.size(); ++i) {
        (*facts[0].shape)[along[i]] = (*wanted)[i];
      }
    }
  }
  return facts;
}

// Filled with one value, whose type counts.
Facts constant_of_shape(const OnnxOperator& operation) {
  const ModelAttribute* value = operation.node().find("value");
  const bool given = value != nullptr && !value->tensors.empty();
  return results({given ? value->tensors[0].type : int{kOnnxFloat}, extents(operation.input(0))});
}

// NxHxWx2, or NxDxHxWx3, of images of a wanted size NxCxHxW.
Facts affine_grid(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  if (const auto size = extents(operation.input(1)); size && size->size() > 2) {
    facts[0].shape = {size->front()};
    facts[0].shape->insert(facts[0].shape->end(), size->begin() + 2, size->end());
    facts[0].shape->push_back(static_cast<std::int64_t>(size->size()) - 2);
  }
  return facts;
}

constexpr std::array kLayoutRules{OnnxRuleEntry{"AffineGrid", affine_grid},
                                  OnnxRuleEntry{"CenterCropPad", center_crop_pad},
                                  OnnxRuleEntry{"ConstantOfShape", constant_of_shape},
                                  OnnxRuleEntry{"DepthToSpace", depth_to_space},
                                  OnnxRuleEntry{"Expand", expand},
                                  OnnxRuleEntry{"Flatten", flatten},
                                  OnnxRuleEntry{"Pad", pad},
                                  OnnxRuleEntry{"Reshape", reshape},
                                  OnnxRuleEntry{"Resize", resize},
                                  OnnxRuleEntry{"SpaceToDepth", space_to_depth},
                                  OnnxRuleEntry{"Squeeze", squeeze},
                                  OnnxRuleEntry{"Tile", tile},
                                  OnnxRuleEntry{"Transpose", transpose},
                                  OnnxRuleEntry{"Unsqueeze", unsqueeze},
                                  OnnxRuleEntry{"Upsample", upsample}};

}  // namespace

std::span<const OnnxRuleEntry> layout_rules() { return kLayoutRules; }

}  // namespace mapsim
