// SPDX-License-Identifier: Apache-2.0
#include "interop/onnx_fold.hpp"

#include <onnx/defs/tensor_proto_util.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mapsim {

namespace {

constexpr std::size_t kMostNumbers = 256;  // shapes, axes and the like are short

// A scalar or a list of whole numbers.
struct Numbers {
  std::vector<std::int64_t> values;
  bool scalar = false;
};
using Known = std::optional<Numbers>;

class Folder {
 public:
  explicit Folder(onnx::GraphProto& graph) : graph_{graph} {
    for (const auto& tensor : graph.initializer()) {
      learn(tensor.name(), tensor);
    }
    for (const auto* list : {&graph.input(), &graph.value_info(), &graph.output()}) {
      for (const auto& value : *list) {
        types_[value.name()] = &value.type().tensor_type();
      }
    }
    for (const auto& output : graph.output()) {
      kept_.insert(output.name());
    }
  }

  std::size_t fold() {
    std::vector<onnx::NodeProto> left;
    std::vector<onnx::TensorProto> made;
    for (const onnx::NodeProto& node : graph_.node()) {
      if (node.op_type() == "Constant") {
        know_constant(node);
      }
      Known known = node.output_size() == 1 && node.domain().empty() && node.op_type() != "Constant"
                        ? result(node)
                        : std::nullopt;
      if (known && known->values.size() <= kMostNumbers) {
        if (!kept_.contains(node.output(0))) {
          made.push_back(tensor_of(node.output(0), *known));
        }
        known_[node.output(0)] = std::move(*known);
      }
      if (made.empty() || made.back().name() != (node.output_size() > 0 ? node.output(0) : "")) {
        left.push_back(node);
      }
    }
    if (!made.empty()) {
      graph_.mutable_node()->Assign(left.begin(), left.end());
      for (onnx::TensorProto& tensor : made) {
        *graph_.add_initializer() = std::move(tensor);
      }
    }
    return made.size();
  }

 private:
  // What libonnx cannot parse is not known.
  void learn(const std::string& name, const onnx::TensorProto& tensor) {
    try {
      know(name, tensor);
    } catch (const std::exception&) {
      known_.erase(name);
    }
  }

  void know(const std::string& name, const onnx::TensorProto& tensor) {
    std::int64_t count = 1;
    for (const std::int64_t dim : tensor.dims()) {
      count = dim < 0 || dim > static_cast<std::int64_t>(kMostNumbers) ? 0 : count * dim;
    }
    if (tensor.dims_size() > 1 || count > static_cast<std::int64_t>(kMostNumbers)) {
      return;
    }
    Numbers numbers{{}, tensor.dims_size() == 0};
    if (tensor.data_type() == onnx::TensorProto::INT64) {
      numbers.values = onnx::ParseData<std::int64_t>(&tensor);
    } else if (tensor.data_type() == onnx::TensorProto::INT32) {
      for (const std::int32_t value : onnx::ParseData<std::int32_t>(&tensor)) {
        numbers.values.push_back(value);
      }
    } else {
      return;
    }
    if (numbers.values.size() == static_cast<std::size_t>(count)) {
      known_[name] = std::move(numbers);
    }
  }

  void know_constant(const onnx::NodeProto& node) {
    for (const auto& attribute : node.attribute()) {
      if (node.output_size() == 1 && attribute.has_t()) {
        learn(node.output(0), attribute.t());
      } else if (node.output_size() == 1 && attribute.name() == "value_int") {
        known_[node.output(0)] = {{attribute.i()}, true};
      } else if (node.output_size() == 1 && attribute.name() == "value_ints") {
        known_[node.output(0)] = {{attribute.ints().begin(), attribute.ints().end()}, false};
      }
    }
  }

  onnx::TensorProto tensor_of(const std::string& name, const Numbers& numbers) const {
    onnx::TensorProto tensor;
    tensor.set_name(name);
    const auto type = types_.find(name);
    const int wanted = type == types_.end() ? 0 : type->second->elem_type();
    const bool narrow = wanted == onnx::TensorProto::INT32 || wanted == onnx::TensorProto::BOOL;
    tensor.set_data_type(narrow ? wanted : static_cast<int>(onnx::TensorProto::INT64));
    if (!numbers.scalar) {
      tensor.add_dims(static_cast<std::int64_t>(numbers.values.size()));
    }
    for (const std::int64_t value : numbers.values) {
      if (narrow) {
        tensor.add_int32_data(static_cast<std::int32_t>(value));
      } else {
        tensor.add_int64_data(value);
      }
    }
    return tensor;
  }

  static std::optional<std::int64_t> integer(const onnx::NodeProto& node, const char* name) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == name && attribute.type() == onnx::AttributeProto::INT) {
        return attribute.i();
      }
    }
    return std::nullopt;
  }

  // An input, or before some opset an attribute, with a list.
  Known list(const onnx::NodeProto& node, int input, const char* name) const {
    if (input < node.input_size() && !node.input(input).empty()) {
      return operand(node, input);
    }
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == name) {
        return Numbers{{attribute.ints().begin(), attribute.ints().end()}, false};
      }
    }
    return std::nullopt;
  }

  Known operand(const onnx::NodeProto& node, int input) const {
    const auto at = input < node.input_size() ? known_.find(node.input(input)) : known_.end();
    return at == known_.end() ? std::nullopt : Known{at->second};
  }

  Known shape(const onnx::NodeProto& node) const {
    const auto at = node.input_size() > 0 ? types_.find(node.input(0)) : types_.end();
    if (at == types_.end() || !at->second->has_shape()) {
      const Known numbers = operand(node, 0);
      return numbers && !numbers->scalar
                 ? Known{Numbers{{static_cast<std::int64_t>(numbers->values.size())}, false}}
                 : std::nullopt;
    }
    Numbers dims;
    for (const auto& dim : at->second->shape().dim()) {
      if (!dim.has_dim_value() || dim.dim_value() < 0) {
        return std::nullopt;
      }
      dims.values.push_back(dim.dim_value());
    }
    return dims;
  }

  Known result(const onnx::NodeProto& node) const;
  Known part_of_shape(const onnx::NodeProto& node) const;
  Known size(const onnx::NodeProto& node) const;
  Known range(const onnx::NodeProto& node) const;
  Known gather(const onnx::NodeProto& node) const;
  Known slice(const onnx::NodeProto& node) const;
  Known concat(const onnx::NodeProto& node) const;
  Known arithmetic(const onnx::NodeProto& node) const;
  Known where(const onnx::NodeProto& node) const;
  Known filled(const onnx::NodeProto& node) const;

  onnx::GraphProto& graph_;
  std::map<std::string, Numbers> known_;
  std::map<std::string, const onnx::TypeProto_Tensor*> types_;
  std::set<std::string> kept_;  // results of the model stay where they are made
};

std::int64_t clamped(std::int64_t value, std::int64_t least, std::int64_t most) {
  return std::max(least, std::min(value, most));
}

// From opset 15 on from `start` to `end`, counted from the back where negative.
Known Folder::part_of_shape(const onnx::NodeProto& node) const {
  Known dims = shape(node);
  if (dims) {
    const auto rank = static_cast<std::int64_t>(dims->values.size());
    const auto place = [&](const char* name, std::int64_t otherwise) {
      const std::int64_t at = integer(node, name).value_or(otherwise);
      return clamped(at < 0 ? clamped(at, -rank, 0) + rank : at, 0, rank);
    };
    const std::int64_t start = place("start", 0);
    const std::int64_t end = std::max(start, place("end", rank));
    dims->values = {dims->values.begin() + start, dims->values.begin() + end};
  }
  return dims;
}

Known Folder::size(const onnx::NodeProto& node) const {
  const Known dims = shape(node);
  if (!dims) {
    return std::nullopt;
  }
  std::int64_t product = 1;
  for (const std::int64_t extent : dims->values) {
    if (__builtin_mul_overflow(product, extent, &product)) {
      return std::nullopt;
    }
  }
  return Numbers{{product}, true};
}

Known Folder::range(const onnx::NodeProto& node) const {
  const Known first = operand(node, 0);
  const Known limit = operand(node, 1);
  const Known step = operand(node, 2);
  const auto is_small = [](const Known& known) {
    return known && known->values.size() == 1 && std::abs(known->values[0]) < (1 << 30);
  };
  if (!is_small(first) || !is_small(limit) || !is_small(step) || step->values[0] == 0) {
    return std::nullopt;
  }
  const std::int64_t by = step->values[0];
  Numbers numbers;
  for (std::int64_t at = first->values[0];
       (by > 0 ? at < limit->values[0] : at > limit->values[0]) &&
       numbers.values.size() <= kMostNumbers;
       at += by) {
    numbers.values.push_back(at);
  }
  return numbers;  // too many are not kept
}

// Axis 0 of a list.
Known Folder::gather(const onnx::NodeProto& node) const {
  const Known data = operand(node, 0);
  const Known indices = operand(node, 1);
  if (!data || !indices || data->scalar || integer(node, "axis").value_or(0) != 0) {
    return std::nullopt;
  }
  const auto size = static_cast<std::int64_t>(data->values.size());
  Numbers taken{{}, indices->scalar};
  for (const std::int64_t index : indices->values) {
    if (index < -size || index >= size) {
      return std::nullopt;
    }
    taken.values.push_back(
        data->values[static_cast<std::size_t>(index < 0 ? index + size : index)]);
  }
  return taken;
}

Known Folder::slice(const onnx::NodeProto& node) const {
  const Known data = operand(node, 0);
  const Known starts = list(node, 1, "starts");
  const Known ends = list(node, 2, "ends");
  const Known steps = node.input_size() > 4 ? operand(node, 4) : Known{Numbers{{1}, false}};
  const auto is_one = [](const Known& known) { return known && known->values.size() == 1; };
  if (!data || data->scalar || !is_one(starts) || !is_one(ends) || !is_one(steps) ||
      steps->values[0] == 0) {
    return std::nullopt;
  }
  const auto size = static_cast<std::int64_t>(data->values.size());
  const std::int64_t step = clamped(steps->values[0], -size - 1, size + 1);
  const auto place = [size](std::int64_t at, std::int64_t least, std::int64_t most) {
    return clamped(at < 0 ? clamped(at, -size - 1, 0) + size : at, least, most);
  };
  const bool forward = step > 0;
  std::int64_t at =
      forward ? place(starts->values[0], 0, size) : place(starts->values[0], 0, size - 1);
  const std::int64_t end = forward                   ? place(ends->values[0], 0, size)
                           : ends->values[0] < -size ? -1
                                                     : place(ends->values[0], -1, size - 1);
  Numbers taken;
  for (; forward ? at < end : at > end; at += step) {
    taken.values.push_back(data->values[static_cast<std::size_t>(at)]);
  }
  return taken;
}

Known Folder::concat(const onnx::NodeProto& node) const {
  Numbers all;
  for (int i = 0; i < node.input_size(); ++i) {
    const Known part = operand(node, i);
    if (!part || part->scalar || all.values.size() > kMostNumbers) {
      return std::nullopt;
    }
    all.values.insert(all.values.end(), part->values.begin(), part->values.end());
  }
  return all;
}

// One value, or as many as the other operand has.
std::optional<std::size_t> common_size(std::initializer_list<const Numbers*> operands) {
  std::size_t size = 1;
  for (const Numbers* numbers : operands) {
    const std::size_t own = numbers->values.size();
    if (own == 0 || (own != 1 && size != 1 && own != size)) {
      return std::nullopt;
    }
    size = std::max(size, own);
  }
  return size;
}
std::int64_t value_at(const Numbers& numbers, std::size_t i) {
  return numbers.values[numbers.values.size() == 1 ? 0 : i];
}

// Absent: not whole, or beyond 64 bits.
std::optional<std::int64_t> combined(const std::string& op, std::int64_t a, std::int64_t b) {
  std::int64_t value = 0;
  if (op == "Equal") {
    return a == b ? 1 : 0;
  }
  if (op == "Max" || op == "Min") {
    return op == "Max" ? std::max(a, b) : std::min(a, b);
  }
  if (op == "Div") {
    return b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())
               ? std::nullopt
               : std::optional{a / b};
  }
  const bool over = op == "Add"   ? __builtin_add_overflow(a, b, &value)
                    : op == "Sub" ? __builtin_sub_overflow(a, b, &value)
                                  : __builtin_mul_overflow(a, b, &value);
  return over ? std::nullopt : std::optional{value};
}

Known Folder::arithmetic(const onnx::NodeProto& node) const {
  const Known a = operand(node, 0);
  const Known b = operand(node, 1);
  const auto size = a && b && node.input_size() == 2 ? common_size({&*a, &*b}) : std::nullopt;
  if (!size) {
    return std::nullopt;
  }
  Numbers numbers{{}, a->scalar && b->scalar};
  for (std::size_t i = 0; i < *size; ++i) {
    const auto value = combined(node.op_type(), value_at(*a, i), value_at(*b, i));
    if (!value) {
      return std::nullopt;
    }
    numbers.values.push_back(*value);
  }
  return numbers;
}

Known Folder::where(const onnx::NodeProto& node) const {
  const Known condition = operand(node, 0);
  const Known yes = operand(node, 1);
  const Known no = operand(node, 2);
  const auto size = condition && yes && no ? common_size({&*condition, &*yes, &*no}) : std::nullopt;
  if (!size) {
    return std::nullopt;
  }
  Numbers numbers{{}, condition->scalar && yes->scalar && no->scalar};
  for (std::size_t i = 0; i < *size; ++i) {
    numbers.values.push_back(value_at(value_at(*condition, i) != 0 ? *yes : *no, i));
  }
  return numbers;
}

// ConstantOfShape of a list.
Known Folder::filled(const onnx::NodeProto& node) const {
  const Known size = operand(node, 0);
  if (!size || size->values.size() != 1 || size->values[0] < 0 ||
      size->values[0] > static_cast<std::int64_t>(kMostNumbers)) {
    return std::nullopt;
  }
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_t() && attribute.t().data_type() == onnx::TensorProto::INT64 &&
        attribute.t().data_location() != onnx::TensorProto::EXTERNAL) {
      const std::vector<std::int64_t> value = onnx::ParseData<std::int64_t>(&attribute.t());
      return value.size() != 1
                 ? std::nullopt
                 : Known{Numbers{std::vector<std::int64_t>(
                                     static_cast<std::size_t>(size->values[0]), value[0]),
                                 false}};
    }
  }
  return std::nullopt;  // zeros of floats
}

Known Folder::result(const onnx::NodeProto& node) const {
  const std::string& op = node.op_type();
  if (op == "Shape") {
    return part_of_shape(node);
  }
  if (op == "Size") {
    return size(node);
  }
  if (op == "Range") {
    return range(node);
  }
  if (op == "Gather") {
    return gather(node);
  }
  if (op == "Slice") {
    return slice(node);
  }
  if (op == "Concat") {
    return concat(node);
  }
  if (op == "Where") {
    return where(node);
  }
  if (op == "ConstantOfShape") {
    return filled(node);
  }
  constexpr std::array kBinary{"Add", "Sub", "Mul", "Div", "Equal", "Max", "Min"};
  if (std::find(kBinary.begin(), kBinary.end(), op) != kBinary.end()) {
    return arithmetic(node);
  }
  Known value = operand(node, 0);
  if (!value) {
    return std::nullopt;
  }
  const std::int64_t to = integer(node, "to").value_or(0);
  const bool whole = to == onnx::TensorProto::INT64 || to == onnx::TensorProto::INT32;
  if (op == "Identity" || (op == "Cast" && whole)) {
    return value;
  }
  const Known axes = list(node, 1, "axes");
  if (op == "Unsqueeze" && value->scalar && axes && axes->values.size() == 1) {
    value->scalar = false;
    return value;
  }
  if (op == "Squeeze" && !value->scalar && value->values.size() == 1) {
    value->scalar = true;
    return value;
  }
  const Known target = operand(node, 1);
  if (op == "Reshape" && target && target->values.size() == 1) {
    value->scalar = false;
    return value;
  }
  return std::nullopt;
}

}  // namespace

std::size_t fold_integers(onnx::GraphProto& graph) { return Folder{graph}.fold(); }

}  // namespace mapsim
