// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "interop/onnx_rules.hpp"

namespace mapsim {

namespace {

// Lists of tensors, of which the shape that all have is known, and options, which are such lists.

Facts construct(const OnnxOperator& operation) {
  std::optional<OnnxShape> shape = operation.shape(0);
  for (std::size_t i = 1; i < operation.inputs(); ++i) {
    shape = common(shape, operation.shape(i));
  }
  return results({operation.type(0), shape, {}, true});
}

Facts empty(const OnnxOperator& operation) {
  return results({static_cast<int>(operation.integer("dtype", kOnnxFloat)), {}, {}, true});
}

Facts insert(const OnnxOperator& operation) {
  return results({operation.type(0), common(operation.shape(0), operation.shape(1)), {}, true});
}

Facts unchanged(const OnnxOperator& operation) {
  return results({operation.type(0), operation.shape(0), {}, true});
}

Facts element(const OnnxOperator& operation) {
  return results({operation.type(0), operation.shape(0)});
}

Facts length(const OnnxOperator&) { return results({kOnnxInt64, OnnxShape{}}); }

Facts scalar_truth(const OnnxOperator&) { return results({kOnnxBool, OnnxShape{}}); }

// Parts of one size, or of sizes that a list gives.
Facts split_sequence(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0), operation.shape(0), {}, true});
  auto& shape = facts[0].shape;
  const auto axis = shape ? place(operation.integer("axis", 0), shape->size()) : std::nullopt;
  if (!axis) {
    shape.reset();
    return facts;
  }
  const std::int64_t extent = (*shape)[*axis];
  const auto sizes = operation.wholes(1);
  if (!operation.is_given(1)) {
    if (operation.integer("keepdims", 1) == 0) {
      shape->erase(shape->begin() + static_cast<std::ptrdiff_t>(*axis));
    } else {
      (*shape)[*axis] = 1;
    }
    return facts;
  }
  const bool equal =
      sizes && !sizes->empty() &&
      std::all_of(sizes->begin(), sizes->end(), [&](auto size) { return size == sizes->front(); });
  const bool is_list = operation.shape(1) && operation.shape(1)->size() == 1;
  (*shape)[*axis] =
      equal && sizes->front() > 0 && (is_list || (extent >= 0 && extent % sizes->front() == 0))
          ? sizes->front()
          : kUnknownExtent;
  return facts;
}

// How many there are is not known.
Facts concat_sequence(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0), operation.shape(0)});
  auto& shape = facts[0].shape;
  if (!shape) {
    return facts;
  }
  const bool is_new = operation.integer("new_axis", 0) != 0;
  const auto axis = place(operation.integer("axis", 0), shape->size() + (is_new ? 1 : 0));
  if (!axis) {
    shape.reset();
  } else if (is_new) {
    shape->insert(shape->begin() + static_cast<std::ptrdiff_t>(*axis), kUnknownExtent);
  } else {
    (*shape)[*axis] = kUnknownExtent;
  }
  return facts;
}

constexpr std::array kSequenceRules{OnnxRuleEntry{"ConcatFromSequence", concat_sequence},
                                    OnnxRuleEntry{"Optional", unchanged},
                                    OnnxRuleEntry{"OptionalGetElement", element},
                                    OnnxRuleEntry{"OptionalHasElement", scalar_truth},
                                    OnnxRuleEntry{"SequenceAt", element},
                                    OnnxRuleEntry{"SequenceConstruct", construct},
                                    OnnxRuleEntry{"SequenceEmpty", empty},
                                    OnnxRuleEntry{"SequenceErase", unchanged},
                                    OnnxRuleEntry{"SequenceInsert", insert},
                                    OnnxRuleEntry{"SequenceLength", length},
                                    OnnxRuleEntry{"SplitToSequence", split_sequence}};

}  // namespace

std::span<const OnnxRuleEntry> sequence_rules() { return kSequenceRules; }

}  // namespace mapsim
