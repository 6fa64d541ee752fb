// SPDX-License-Identifier: Apache-2.0
#include "interop/onnx_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace mapsim {

namespace {

constexpr std::int64_t kMostExtent = std::int64_t{1} << 56;
constexpr std::size_t kMostAxes = 64;

std::unordered_map<std::string_view, OnnxRule> all_rules() {
  std::unordered_map<std::string_view, OnnxRule> rules;
  for (const auto& part : {elementwise_rules(), window_rules(), product_rules(), layout_rules(),
                           selection_rules(), creation_rules(), sequence_rules()}) {
    for (const OnnxRuleEntry& entry : part) {
      rules.emplace(entry.op, entry.rule);
    }
  }
  return rules;
}

}  // namespace

// Out of line: of lists in braces, g++ 12 warns of values that are never there.
Facts results(TensorFacts first) {
  Facts facts;
  facts.push_back(std::move(first));
  return facts;
}

Facts results(TensorFacts first, TensorFacts second) {
  Facts facts = results(std::move(first));
  facts.push_back(std::move(second));
  return facts;
}

Facts results(TensorFacts first, TensorFacts second, TensorFacts third) {
  Facts facts = results(std::move(first), std::move(second));
  facts.push_back(std::move(third));
  return facts;
}

bool TensorFacts::is_known() const {
  return shape && std::find(shape->begin(), shape->end(), kUnknownExtent) == shape->end();
}

bool TensorFacts::is_constant() const {
  return values && std::none_of(values->begin(), values->end(),
                                [](OnnxNumber value) { return std::isnan(value); });
}

const TensorFacts& OnnxOperator::input(std::size_t i) const {
  static const TensorFacts kNothing;
  return is_given(i) ? *inputs_[i] : kNothing;
}

std::optional<OnnxShape> OnnxOperator::wholes(std::size_t i) const {
  const TensorFacts& facts = input(i);
  if (!facts.is_constant()) {
    return std::nullopt;
  }
  OnnxShape whole;
  for (const OnnxNumber value : *facts.values) {
    // 2^63 as a number of 64 bits is no whole number of ours; the largest one below it is.
    if (!(value >= -0x1p63L && value < 0x1p63L) || std::trunc(value) != value) {
      return std::nullopt;
    }
    whole.push_back(static_cast<std::int64_t>(value));
  }
  return whole;
}

std::int64_t OnnxOperator::integer(std::string_view attribute, std::int64_t otherwise) const {
  const ModelAttribute* found = node_.find(attribute);
  return found != nullptr && found->type == kOnnxIntegerAttribute ? found->integer : otherwise;
}

std::optional<OnnxShape> OnnxOperator::integers(std::string_view attribute) const {
  const ModelAttribute* found = node_.find(attribute);
  return found != nullptr && found->type == kOnnxIntegersAttribute ? std::optional{found->integers}
                                                                   : std::nullopt;
}

std::string OnnxOperator::text(std::string_view attribute, std::string_view otherwise) const {
  const ModelAttribute* found = node_.find(attribute);
  return found != nullptr && found->type == kOnnxTextAttribute ? found->text
                                                               : std::string{otherwise};
}

OnnxOperator::List OnnxOperator::list(std::size_t i, std::string_view attribute) const {
  if (!is_given(i)) {
    return {true, integers(attribute)};
  }
  std::optional<OnnxShape> values = wholes(i);
  return {values.has_value(), values};
}

bool is_real_type(int type) {
  return type == kOnnxFloat || type == kOnnxDouble || type == kOnnxFloat16 ||
         type == kOnnxBfloat16 || (type >= 17 && type <= 20) || type == 23 || type == 24;
}

bool is_number_type(int type) {
  return type > 0 && type <= 26 && type != kOnnxString && type != kOnnxComplex64 &&
         type != kOnnxComplex128;
}

std::int64_t extent_times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (a == 0 || b == 0) {
    return 0;
  }
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) || product > kMostExtent
             ? kUnknownExtent
             : product;
}

std::int64_t extent_plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) || sum > kMostExtent ? kUnknownExtent
                                                                                   : sum;
}

std::int64_t elements_of(std::span<const std::int64_t> shape) {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) {
    product = extent_times(product, extent);
  }
  return product;
}

std::optional<std::size_t> place(std::int64_t axis, std::size_t rank) {
  const auto axes = static_cast<std::int64_t>(rank);
  return axis < -axes || axis >= axes
             ? std::nullopt
             : std::optional{static_cast<std::size_t>(axis < 0 ? axis + axes : axis)};
}

std::optional<OnnxShape> broadcast(const std::optional<OnnxShape>& a,
                                   const std::optional<OnnxShape>& b) {
  if (!a || !b) {
    return std::nullopt;
  }
  OnnxShape shape(std::max(a->size(), b->size()), 1);
  for (std::size_t i = 1; i <= shape.size(); ++i) {  // from the innermost
    const std::int64_t of_a = i <= a->size() ? (*a)[a->size() - i] : 1;
    const std::int64_t of_b = i <= b->size() ? (*b)[b->size() - i] : 1;
    std::int64_t& extent = shape[shape.size() - i];
    if (of_a == of_b || of_b == 1) {
      extent = of_a;
    } else if (of_a == 1 || of_a == kUnknownExtent) {
      extent = of_b;  // what is unknown is 1, or the same
    } else if (of_b == kUnknownExtent) {
      extent = of_a;
    } else {
      return std::nullopt;
    }
  }
  return shape;
}

std::optional<OnnxShape> common(const std::optional<OnnxShape>& a,
                                const std::optional<OnnxShape>& b) {
  if (!a || !b || a->size() != b->size()) {
    return std::nullopt;
  }
  OnnxShape shape = *a;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    shape[i] = shape[i] == (*b)[i] ? shape[i] : kUnknownExtent;
  }
  return shape;
}

TensorFacts consistent(TensorFacts facts) {
  if (facts.shape && facts.shape->size() > kMostAxes) {
    facts.shape.reset();
  }
  if (facts.shape) {
    for (std::int64_t& extent : *facts.shape) {
      extent = extent < 0 || extent > kMostExtent ? kUnknownExtent : extent;
    }
  }
  if (facts.values && (!facts.is_known() || elements_of(*facts.shape) !=
                                                static_cast<std::int64_t>(facts.values->size()))) {
    facts.values.reset();
  }
  return facts;
}

Facts infer_results(const OnnxOperator& operation, std::size_t& budget) {
  static const std::unordered_map<std::string_view, OnnxRule> kRules = all_rules();
  const ModelNode& node = operation.node();
  const auto rule = node.is_own() ? kRules.find(node.op) : kRules.end();
  Facts facts = rule == kRules.end() ? Facts{} : rule->second(operation);
  facts.resize(operation.outputs());
  for (TensorFacts& result : facts) {
    result = consistent(std::move(result));
  }
  if (facts.empty() || rule == kRules.end() || facts[0].values || !facts[0].is_known() ||
      facts[0].sequence) {
    return facts;
  }
  const std::int64_t elements = elements_of(*facts[0].shape);
  const std::size_t each = operation.inputs() + 1;
  if (elements >= 0 && elements <= static_cast<std::int64_t>(kMostOnnxNumbers) &&
      (static_cast<std::size_t>(elements) + 1) * each <= budget) {
    budget -= (static_cast<std::size_t>(elements) + 1) * each;
    facts[0].values = fold_values(operation, facts[0]);
  }
  return facts;
}

}  // namespace mapsim
