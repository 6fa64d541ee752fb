// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "interop/onnx_rules.hpp"

namespace mapsim {

namespace {

// Operators that pick, join or sum up along axes.

Facts concat(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  if (operation.inputs() == 0 || !operation.shape(0)) {
    return facts;
  }
  OnnxShape shape = *operation.shape(0);
  const auto axis = place(operation.integer("axis", 1), shape.size());
  if (!axis) {
    return facts;
  }
  for (std::size_t i = 1; i < operation.inputs(); ++i) {
    const auto& part = operation.shape(i);
    if (!part || part->size() != shape.size()) {
      return facts;
    }
    for (std::size_t j = 0; j < shape.size(); ++j) {
      if (j == *axis) {
        shape[j] = extent_plus(shape[j], (*part)[j]);
      } else if (shape[j] == kUnknownExtent) {
        shape[j] = (*part)[j];
      } else if ((*part)[j] != kUnknownExtent && (*part)[j] != shape[j]) {
        return facts;
      }
    }
  }
  facts[0].shape = shape;
  return facts;
}

// Extents of the parts along the axis: as a list says, or equal ones, from opset 18 on the last
// smaller.
std::vector<std::int64_t> parts(const OnnxOperator& operation, std::int64_t extent) {
  const std::size_t count = operation.outputs();
  const std::vector<std::int64_t> unknown(count, kUnknownExtent);
  const OnnxOperator::List given = operation.list(1, "split");
  if (!given.known || (given.values && given.values->size() != count)) {
    return unknown;
  }
  if (given.values) {
    return *given.values;
  }
  if (extent == kUnknownExtent || count == 0) {
    return unknown;
  }
  const auto number = static_cast<std::int64_t>(count);
  const std::int64_t each = (extent + number - 1) / number;
  const std::int64_t last = extent - each * (number - 1);
  const bool uneven = operation.integer("num_outputs", 0) > 0;
  if (last < 0 || (last != each && !uneven)) {
    return unknown;
  }
  std::vector<std::int64_t> extents(count, each);
  extents.back() = last;
  return extents;
}

// The values of each part of a list.
void split_values(const OnnxOperator& operation, const std::vector<std::int64_t>& extents,
                  Facts& facts) {
  const auto& values = operation.input(0).values;
  if (!values || operation.shape(0)->size() != 1) {
    return;
  }
  std::int64_t at = 0;
  const auto size = static_cast<std::int64_t>(values->size());
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (extents[i] < 0 || extents[i] > size - at) {
      return;
    }
    facts[i].values = OnnxNumbers{values->begin() + at, values->begin() + at + extents[i]};
    at += extents[i];
  }
}

Facts split(const OnnxOperator& operation) {
  Facts facts(operation.outputs(), TensorFacts{operation.type(0)});
  const auto& data = operation.shape(0);
  const auto axis = data ? place(operation.integer("axis", 0), data->size()) : std::nullopt;
  if (!axis) {
    return facts;
  }
  const std::vector<std::int64_t> extents = parts(operation, (*data)[*axis]);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    facts[i].shape = data;
    (*facts[i].shape)[*axis] = extents[i];
  }
  split_values(operation, extents, facts);
  return facts;
}

Facts slice(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const auto& data = operation.shape(0);
  if (!data) {
    return facts;
  }
  const auto cuts = slice_cuts(operation);
  facts[0].shape = OnnxShape(data->size(), kUnknownExtent);
  for (std::size_t i = 0; cuts && i < data->size(); ++i) {
    (*facts[0].shape)[i] = (*cuts)[i].count;
  }
  return facts;
}

Facts gather(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const auto& data = operation.shape(0);
  const auto& indices = operation.shape(1);
  const auto axis = data ? place(operation.integer("axis", 0), data->size()) : std::nullopt;
  if (axis && indices) {
    const auto at = data->begin() + static_cast<std::ptrdiff_t>(*axis);
    OnnxShape shape{data->begin(), at};
    shape.insert(shape.end(), indices->begin(), indices->end());
    shape.insert(shape.end(), at + 1, data->end());
    facts[0].shape = shape;
  }
  return facts;
}

Facts gather_elements(const OnnxOperator& operation) {
  return results({operation.type(0), operation.shape(1)});
}

Facts gather_nd(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const auto& data = operation.shape(0);
  const auto& indices = operation.shape(1);
  const std::int64_t batch = operation.integer("batch_dims", 0);
  if (!data || !indices || indices->empty() || indices->back() < 0 || batch < 0) {
    return facts;
  }
  const auto rank = static_cast<std::int64_t>(data->size());
  if (indices->back() > rank || batch > rank - indices->back()) {
    return facts;
  }
  facts[0].shape = OnnxShape{indices->begin(), indices->end() - 1};
  facts[0].shape->insert(facts[0].shape->end(), data->begin() + batch + indices->back(),
                         data->end());
  return facts;
}

// How many are picked depends on the data.
Facts compress(const OnnxOperator& operation) {
  const bool flat = operation.node().find("axis") == nullptr;
  Facts facts = results(
      {operation.type(0), flat ? std::optional{OnnxShape{kUnknownExtent}} : operation.shape(0)});
  if (!flat && facts[0].shape) {
    const auto axis = place(operation.integer("axis", 0), facts[0].shape->size());
    if (axis) {
      (*facts[0].shape)[*axis] = kUnknownExtent;
    } else {
      facts[0].shape.reset();
    }
  }
  return facts;
}

Facts nonzero(const OnnxOperator& operation) {
  Facts facts = results({kOnnxInt64, OnnxShape{kUnknownExtent, kUnknownExtent}});
  if (operation.shape(0)) {
    facts[0].shape->front() = static_cast<std::int64_t>(operation.shape(0)->size());
  }
  // Exporters number the places of a list so: those of a constant full of ones.
  if (operation.input(0).is_constant() && operation.shape(0)->size() == 1) {
    facts[0].values.emplace();
    OnnxNumber at = 0;
    for (const OnnxNumber value : *operation.input(0).values) {
      if (value != 0) {
        facts[0].values->push_back(at);
      }
      ++at;
    }
    facts[0].shape->back() = static_cast<std::int64_t>(facts[0].values->size());
  }
  return facts;
}

Facts unique(const OnnxOperator& operation) {
  Facts facts = compress(operation);
  facts.insert(facts.end(), 3, TensorFacts{kOnnxInt64, OnnxShape{kUnknownExtent}});
  return facts;
}

Facts non_max_suppression(const OnnxOperator&) {
  return results({kOnnxInt64, OnnxShape{kUnknownExtent, 3}});
}

Facts one_hot(const OnnxOperator& operation) {
  Facts facts = results({operation.type(2)});
  const auto& indices = operation.shape(0);
  const auto depth = operation.wholes(1);
  const auto axis =
      indices ? place(operation.integer("axis", -1), indices->size() + 1) : std::nullopt;
  if (axis) {
    facts[0].shape = indices;
    facts[0].shape->insert(facts[0].shape->begin() + static_cast<std::ptrdiff_t>(*axis),
                           depth && depth->size() == 1 ? depth->front() : kUnknownExtent);
  }
  return facts;
}

Facts top_k(const OnnxOperator& operation) {
  std::optional<OnnxShape> shape = operation.shape(0);
  const auto given = operation.wholes(1);
  const std::int64_t k =
      given && given->size() == 1 ? given->front() : operation.integer("k", kUnknownExtent);
  const auto axis = shape ? place(operation.integer("axis", -1), shape->size()) : std::nullopt;
  if (axis) {
    (*shape)[*axis] = k;
  } else {
    shape.reset();
  }
  return results({operation.type(0), shape}, {kOnnxInt64, shape});
}

// Without some axes, or with an extent of 1 along them.
std::optional<OnnxShape> reduced(const OnnxShape& data, const std::vector<bool>& goes, bool keep) {
  OnnxShape shape;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!goes[i]) {
      shape.push_back(data[i]);
    } else if (keep) {
      shape.push_back(1);
    }
  }
  return shape;
}

Facts reduce(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const auto& data = operation.shape(0);
  const OnnxOperator::List axes = operation.list(1, "axes");
  const bool keep = operation.integer("keepdims", 1) != 0;
  if (!data || (!axes.known && !keep)) {
    return facts;
  }
  if (!axes.known) {
    facts[0].shape = OnnxShape(data->size(), kUnknownExtent);
    return facts;
  }
  const bool all = !axes.values || axes.values->empty();
  if (all && operation.integer("noop_with_empty_axes", 0) != 0) {
    facts[0].shape = data;
    return facts;
  }
  std::vector<bool> goes(data->size(), all);
  for (const std::int64_t axis : axes.values.value_or(OnnxShape{})) {
    const auto at = place(axis, data->size());
    if (!at) {
      return facts;
    }
    goes[*at] = true;
  }
  facts[0].shape = reduced(*data, goes, keep);
  return facts;
}

Facts arg_extreme(const OnnxOperator& operation) {
  Facts facts = results({kOnnxInt64});
  const auto& data = operation.shape(0);
  const auto axis = data ? place(operation.integer("axis", 0), data->size()) : std::nullopt;
  if (axis) {
    std::vector<bool> goes(data->size(), false);
    goes[*axis] = true;
    facts[0].shape = reduced(*data, goes, operation.integer("keepdims", 1) != 0);
  }
  return facts;
}

constexpr std::array kSelectionRules{
    OnnxRuleEntry{"ArgMax", arg_extreme},  OnnxRuleEntry{"ArgMin", arg_extreme},
    OnnxRuleEntry{"Compress", compress},   OnnxRuleEntry{"Concat", concat},
    OnnxRuleEntry{"Gather", gather},       OnnxRuleEntry{"GatherElements", gather_elements},
    OnnxRuleEntry{"GatherND", gather_nd},  OnnxRuleEntry{"NonMaxSuppression", non_max_suppression},
    OnnxRuleEntry{"NonZero", nonzero},     OnnxRuleEntry{"OneHot", one_hot},
    OnnxRuleEntry{"ReduceL1", reduce},     OnnxRuleEntry{"ReduceL2", reduce},
    OnnxRuleEntry{"ReduceLogSum", reduce}, OnnxRuleEntry{"ReduceLogSumExp", reduce},
    OnnxRuleEntry{"ReduceMax", reduce},    OnnxRuleEntry{"ReduceMean", reduce},
    OnnxRuleEntry{"ReduceMin", reduce},    OnnxRuleEntry{"ReduceProd", reduce},
    OnnxRuleEntry{"ReduceSum", reduce},    OnnxRuleEntry{"ReduceSumSquare", reduce},
    OnnxRuleEntry{"Slice", slice},         OnnxRuleEntry{"Split", split},
    OnnxRuleEntry{"TopK", top_k},          OnnxRuleEntry{"Unique", unique}};

}  // namespace

// What a Slice takes of each axis. Far ends mean "to the end".
Cut cut_of(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto from_back = [extent](std::int64_t at) { return at < 0 ? at + extent : at; };
  const bool forward = step > 0;
  const std::int64_t most = forward ? extent : extent - 1;
  const std::int64_t first =
      std::clamp<std::int64_t>(from_back(start), 0, std::max<std::int64_t>(most, 0));
  const std::int64_t last = forward ? std::clamp<std::int64_t>(from_back(end), 0, extent)
                                    : std::clamp<std::int64_t>(from_back(end), -1, most);
  // Beyond the extent every step is as good as the extent itself.
  const std::int64_t by = std::clamp<std::int64_t>(step, -extent - 1, extent + 1);
  const std::int64_t room = forward ? last - first : first - last;
  const std::int64_t stride = forward ? by : -by;
  return {first, by, extent == 0 || room <= 0 ? 0 : (room - 1) / stride + 1};
}

std::optional<std::vector<Cut>> slice_cuts(const OnnxOperator& operation) {
  const OnnxShape& data = *operation.shape(0);
  const OnnxOperator::List starts = operation.list(1, "starts"), ends = operation.list(2, "ends");
  const OnnxOperator::List axes = operation.list(3, "axes"), steps = operation.list(4, "steps");
  if (!starts.values || !ends.values || !axes.known || !steps.known ||
      starts.values->size() != ends.values->size() ||
      (axes.values && axes.values->size() != starts.values->size()) ||
      (steps.values && steps.values->size() != starts.values->size())) {
    return std::nullopt;
  }
  std::vector<Cut> cuts;
  std::transform(data.begin(), data.end(), std::back_inserter(cuts),
                 [](std::int64_t extent) { return Cut{0, 1, extent}; });
  for (std::size_t i = 0; i < starts.values->size(); ++i) {
    const auto axis =
        place(axes.values ? (*axes.values)[i] : static_cast<std::int64_t>(i), data.size());
    const std::int64_t step = steps.values ? (*steps.values)[i] : 1;
    if (!axis || step == 0) {
      return std::nullopt;
    }
    cuts[*axis] = data[*axis] == kUnknownExtent
                      ? Cut{0, 1, kUnknownExtent}
                      : cut_of(data[*axis], (*starts.values)[i], (*ends.values)[i], step);
  }
  return cuts;
}

std::span<const OnnxRuleEntry> selection_rules() { return kSelectionRules; }

}  // namespace mapsim
