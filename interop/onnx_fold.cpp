// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "interop/onnx_rules.hpp"

namespace mapsim {

namespace {

// Values that operators compute of known values: what models compute of shapes. Values that are not
// known are no numbers, and make none.

constexpr OnnxNumber kNotKnown = std::numeric_limits<OnnxNumber>::quiet_NaN();
using Folded = std::optional<OnnxNumbers>;

OnnxNumber truth(bool value) { return value ? 1 : 0; }

// As a tensor of this type holds it.
OnnxNumber rounded(int type, OnnxNumber value) {
  if (type == kOnnxBool) {
    return std::isnan(value) ? value : truth(value != 0);
  }
  if (type == kOnnxDouble) {
    return static_cast<double>(value);
  }
  if (is_real_type(type)) {
    return static_cast<float>(value);
  }
  value = std::trunc(value);
  return value >= -0x1p63L && value < 0x1p64L ? value : kNotKnown;
}

// How far apart neighbours along each axis lie in row-major order.
std::vector<std::int64_t> strides_of(const OnnxShape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  return strides;
}

// For each axis of a result, where each of its coordinates leads to in the operand.
using Offsets = std::vector<std::vector<std::int64_t>>;

std::vector<std::int64_t> offsets_along(std::int64_t count, std::int64_t start, std::int64_t step) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < count; ++i) {
    offsets.push_back(start + i * step);
  }
  return offsets;
}

// The elements whose places are sums of one offset of each axis, in row-major order.
OnnxNumbers take(const OnnxNumbers& values, const Offsets& offsets) {
  std::vector<std::int64_t> places{0};
  for (const auto& along : offsets) {
    std::vector<std::int64_t> longer;
    longer.reserve(places.size() * along.size());
    for (const std::int64_t at : places) {
      for (const std::int64_t offset : along) {
        longer.push_back(at + offset);
      }
    }
    places = std::move(longer);
  }
  OnnxNumbers taken;
  for (const std::int64_t at : places) {
    taken.push_back(values[static_cast<std::size_t>(at)]);
  }
  return taken;
}

// Operands with all their values, known or not.
const OnnxNumbers* values_of(const OnnxOperator& operation, std::size_t i) {
  const auto& values = operation.input(i).values;
  return values ? &*values : nullptr;
}

// An operand as large as the result.
Folded spread(const OnnxOperator& operation, std::size_t i, const OnnxShape& shape) {
  const OnnxNumbers* values = values_of(operation, i);
  if (values == nullptr) {
    return std::nullopt;
  }
  const OnnxShape& own = *operation.shape(i);
  const std::vector<std::int64_t> strides = strides_of(own);
  Offsets offsets;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::size_t behind = shape.size() - axis;
    const bool repeats = behind > own.size() || own[own.size() - behind] == 1;
    if (!repeats && own[own.size() - behind] != shape[axis]) {
      return std::nullopt;
    }
    offsets.push_back(offsets_along(shape[axis], 0, repeats ? 0 : strides[own.size() - behind]));
  }
  return own.size() > shape.size() ? std::nullopt : Folded{take(*values, offsets)};
}

using Binary = OnnxNumber (*)(OnnxNumber, OnnxNumber);
Binary find_binary(std::string_view op) {
  static const std::unordered_map<std::string_view, Binary> kBinaries{
      {"Add", [](OnnxNumber a, OnnxNumber b) { return a + b; }},
      {"Sub", [](OnnxNumber a, OnnxNumber b) { return a - b; }},
      {"Mul", [](OnnxNumber a, OnnxNumber b) { return a * b; }},
      {"Div", [](OnnxNumber a, OnnxNumber b) { return b == 0 ? kNotKnown : a / b; }},
      {"Pow", [](OnnxNumber a, OnnxNumber b) { return std::pow(a, b); }},
      {"Max", [](OnnxNumber a, OnnxNumber b) { return a > b ? a : b; }},
      {"Min", [](OnnxNumber a, OnnxNumber b) { return a < b ? a : b; }},
      {"Equal", [](OnnxNumber a, OnnxNumber b) { return truth(a == b); }},
      {"Less", [](OnnxNumber a, OnnxNumber b) { return truth(a < b); }},
      {"Greater", [](OnnxNumber a, OnnxNumber b) { return truth(a > b); }},
      {"LessOrEqual", [](OnnxNumber a, OnnxNumber b) { return truth(a <= b); }},
      {"GreaterOrEqual", [](OnnxNumber a, OnnxNumber b) { return truth(a >= b); }},
      {"And", [](OnnxNumber a, OnnxNumber b) { return truth(a != 0 && b != 0); }},
      {"Or", [](OnnxNumber a, OnnxNumber b) { return truth(a != 0 || b != 0); }},
      {"Xor", [](OnnxNumber a, OnnxNumber b) { return truth((a != 0) != (b != 0)); }}};
  const auto at = kBinaries.find(op);
  return at == kBinaries.end() ? nullptr : at->second;
}

// With the sign of the divisor; with `fmod`, of the dividend.
OnnxNumber remainder(OnnxNumber a, OnnxNumber b, bool fmod) {
  const OnnxNumber rest = b == 0 ? kNotKnown : std::fmod(a, b);
  return fmod || rest == 0 || (rest < 0) == (b < 0) ? rest : rest + b;
}

Folded binary(const OnnxOperator& operation, const TensorFacts& result, const auto& combine) {
  Folded sum = spread(operation, 0, *result.shape);
  for (std::size_t i = 1; sum && i < operation.inputs(); ++i) {
    const Folded other = spread(operation, i, *result.shape);
    if (!other) {
      return std::nullopt;
    }
    for (std::size_t at = 0; at < sum->size(); ++at) {
      OnnxNumber& value = (*sum)[at];
      const bool known = !std::isnan(value) && !std::isnan((*other)[at]);
      value = known ? rounded(result.type, combine(value, (*other)[at])) : kNotKnown;
    }
  }
  return sum;
}

using Unary = OnnxNumber (*)(OnnxNumber);
Unary find_unary(std::string_view op) {
  static const std::unordered_map<std::string_view, Unary> kUnaries{
      {"Abs", [](OnnxNumber a) { return std::abs(a); }},
      {"Cast", [](OnnxNumber a) { return a; }},
      {"CastLike", [](OnnxNumber a) { return a; }},
      {"Ceil", [](OnnxNumber a) { return std::ceil(a); }},
      {"Flatten", [](OnnxNumber a) { return a; }},
      {"Floor", [](OnnxNumber a) { return std::floor(a); }},
      {"Identity", [](OnnxNumber a) { return a; }},
      {"Neg", [](OnnxNumber a) { return -a; }},
      {"Not", [](OnnxNumber a) { return std::isnan(a) ? a : truth(a == 0); }},
      {"Reciprocal", [](OnnxNumber a) { return a == 0 ? kNotKnown : 1 / a; }},
      {"Reshape", [](OnnxNumber a) { return a; }},
      {"Round", [](OnnxNumber a) { return std::nearbyint(a); }},  // halves to even
      {"Sqrt", [](OnnxNumber a) { return std::sqrt(a); }},
      {"Squeeze", [](OnnxNumber a) { return a; }},
      {"Unsqueeze", [](OnnxNumber a) { return a; }}};
  const auto at = kUnaries.find(op);
  return at == kUnaries.end() ? nullptr : at->second;
}

Folded unary(const OnnxOperator& operation, const TensorFacts& result, Unary change) {
  const OnnxNumbers* values = values_of(operation, 0);
  if (values == nullptr ||
      elements_of(*result.shape) != static_cast<std::int64_t>(values->size())) {
    return std::nullopt;
  }
  OnnxNumbers changed;
  for (const OnnxNumber value : *values) {
    changed.push_back(rounded(result.type, change(value)));
  }
  return changed;
}

Folded where(const OnnxOperator& operation, const TensorFacts& result) {
  const Folded condition = spread(operation, 0, *result.shape);
  const Folded yes = spread(operation, 1, *result.shape), no = spread(operation, 2, *result.shape);
  if (!condition || !yes || !no) {
    return std::nullopt;
  }
  OnnxNumbers chosen;
  for (std::size_t i = 0; i < condition->size(); ++i) {
    const OnnxNumber which = (*condition)[i];
    const bool equal = (*yes)[i] == (*no)[i];
    chosen.push_back(std::isnan(which) && !equal ? kNotKnown : which != 0 ? (*yes)[i] : (*no)[i]);
  }
  return chosen;
}

Folded transpose(const OnnxOperator& operation, const TensorFacts& result) {
  const OnnxNumbers* values = values_of(operation, 0);
  if (values == nullptr) {
    return std::nullopt;
  }
  const std::vector<std::int64_t> strides = strides_of(*operation.shape(0));
  const auto order = operation.integers("perm");
  Offsets offsets;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::size_t from = order ? *place((*order)[i], strides.size()) : strides.size() - 1 - i;
    offsets.push_back(offsets_along((*result.shape)[i], 0, strides[from]));
  }
  return take(*values, offsets);
}

Folded slice(const OnnxOperator& operation, const TensorFacts&) {
  const OnnxNumbers* values = values_of(operation, 0);
  const auto cuts = values == nullptr ? std::nullopt : slice_cuts(operation);
  if (!cuts) {
    return std::nullopt;
  }
  const std::vector<std::int64_t> strides = strides_of(*operation.shape(0));
  Offsets offsets;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const Cut& cut = (*cuts)[i];
    offsets.push_back(offsets_along(cut.count, cut.start * strides[i], cut.step * strides[i]));
  }
  return take(*values, offsets);
}

Folded gather(const OnnxOperator& operation, const TensorFacts&) {
  const OnnxNumbers* values = values_of(operation, 0);
  const auto indices = operation.wholes(1);
  if (values == nullptr || !indices) {
    return std::nullopt;
  }
  const OnnxShape& shape = *operation.shape(0);
  const std::vector<std::int64_t> strides = strides_of(shape);
  const std::size_t along = *place(operation.integer("axis", 0), shape.size());
  Offsets offsets;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    offsets.push_back(offsets_along(shape[i], 0, strides[i]));
  }
  offsets[along].clear();
  for (const std::int64_t index : *indices) {
    if (index < -shape[along] || index >= shape[along]) {
      return std::nullopt;
    }
    offsets[along].push_back((index < 0 ? index + shape[along] : index) * strides[along]);
  }
  return take(*values, offsets);
}

Folded expand(const OnnxOperator& operation, const TensorFacts& result) {
  return spread(operation, 0, *result.shape);
}

Folded tile(const OnnxOperator& operation, const TensorFacts& result) {
  const OnnxNumbers* values = values_of(operation, 0);
  if (values == nullptr) {
    return std::nullopt;
  }
  const OnnxShape& shape = *operation.shape(0);
  const std::vector<std::int64_t> strides = strides_of(shape);
  Offsets offsets(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    for (std::int64_t at = 0; at < (*result.shape)[i]; ++at) {
      offsets[i].push_back(at % shape[i] * strides[i]);
    }
  }
  return take(*values, offsets);
}

// Operand by operand behind each place in front of the axis.
Folded concat(const OnnxOperator& operation, const TensorFacts& result) {
  const std::size_t axis = *place(operation.integer("axis", 1), result.shape->size());
  const std::int64_t rows = elements_of(std::span{*result.shape}.first(axis));
  OnnxNumbers all;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < operation.inputs(); ++i) {
      const OnnxNumbers* values = values_of(operation, i);
      if (values == nullptr) {
        return std::nullopt;
      }
      const auto part = static_cast<std::ptrdiff_t>(values->size()) / rows;
      all.insert(all.end(), values->begin() + row * part, values->begin() + (row + 1) * part);
    }
  }
  return all;
}

Folded filled(const OnnxOperator& operation, const TensorFacts& result) {
  const ModelAttribute* given = operation.node().find("value");
  OnnxNumber value = 0;
  if (given != nullptr) {
    const auto values = given->tensors.empty() ? std::nullopt : values_of(given->tensors[0]);
    if (!values || values->size() != 1) {
      return std::nullopt;
    }
    value = values->front();
  }
  return OnnxNumbers(static_cast<std::size_t>(elements_of(*result.shape)), value);
}

// Of all elements together only.
Folded reduce(const OnnxOperator& operation, const TensorFacts& result) {
  const OnnxNumbers* values = values_of(operation, 0);
  if (values == nullptr || values->empty() || elements_of(*result.shape) != 1) {
    return std::nullopt;
  }
  const std::string& op = operation.node().op;
  OnnxNumber sum = values->front();
  for (std::size_t i = 1; i < values->size(); ++i) {
    const OnnxNumber value = (*values)[i];
    const bool known = !std::isnan(sum) && !std::isnan(value);
    sum = !known               ? kNotKnown
          : op == "ReduceProd" ? sum * value
          : op == "ReduceMax"  ? std::max(sum, value)
          : op == "ReduceMin"  ? std::min(sum, value)
                               : sum + value;
  }
  sum = op == "ReduceMean" ? sum / static_cast<OnnxNumber>(values->size()) : sum;
  return OnnxNumbers{rounded(result.type, sum)};
}

using Fold = Folded (*)(const OnnxOperator&, const TensorFacts&);
Fold find_fold(std::string_view op) {
  static const std::unordered_map<std::string_view, Fold> kFolds{
      {"Concat", concat},    {"ConstantOfShape", filled},
      {"Expand", expand},    {"Gather", gather},
      {"ReduceMax", reduce}, {"ReduceMean", reduce},
      {"ReduceMin", reduce}, {"ReduceProd", reduce},
      {"ReduceSum", reduce}, {"Slice", slice},
      {"Tile", tile},        {"Transpose", transpose},
      {"Where", where}};
  const auto at = kFolds.find(op);
  return at == kFolds.end() ? nullptr : at->second;
}

}  // namespace

std::optional<OnnxNumbers> fold_values(const OnnxOperator& operation, const TensorFacts& result) {
  if (elements_of(*result.shape) == 0) {
    return OnnxNumbers{};
  }
  const std::string& op = operation.node().op;
  if (const Fold fold = find_fold(op)) {
    return fold(operation, result);
  }
  if (const Unary change = find_unary(op)) {
    return unary(operation, result, change);
  }
  if (op == "Mod") {
    const bool fmod = operation.integer("fmod", 0) != 0;
    return binary(operation, result,
                  [fmod](OnnxNumber a, OnnxNumber b) { return remainder(a, b, fmod); });
  }
  const Binary combine = find_binary(op);
  return combine == nullptr || operation.inputs() == 0 ? std::nullopt
                                                       : binary(operation, result, combine);
}

}  // namespace mapsim
