// SPDX-License-Identifier: Apache-2.0
#include "interop/onnx_check.hpp"

#include <fmt/format.h>
#include <onnx/defs/schema.h>
#include <onnx/defs/tensor_proto_util.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "core/diagnostic.hpp"
#include "interop/onnx.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kNewestOpset = 25;  // onnx 1.20; fit_library() knows what changed

[[noreturn]] void fail(const std::string& file, const std::string& message) {
  throw ConfigError({Diagnostic{file, 0, 0, "", as_text(message), ""}});
}

bool is_own(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

// Of ONNX's own operators; 1: none is given.
std::int64_t opset_of(const onnx::ModelProto& model) {
  for (const auto& import : model.opset_import()) {
    if (is_own(import.domain())) {
      return import.version();
    }
  }
  return 1;
}

// As the library knows the operator; nullptr: not at all.
const onnx::OpSchema* schema_of(const onnx::NodeProto& node, std::int64_t opset) {
  return is_own(node.domain())
             ? onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(opset), "")
             : nullptr;
}

// Every tensor that a node reads is there when the node runs, and made once.
void check_order(const onnx::GraphProto& graph, const std::string& file) {
  std::set<std::string> made{""};
  for (const auto& input : graph.input()) {
    made.insert(input.name());
  }
  for (const auto& weight : graph.initializer()) {
    made.insert(weight.name());
  }
  for (const auto& weight : graph.sparse_initializer()) {
    made.insert(weight.values().name());
  }
  for (const auto& node : graph.node()) {
    for (const std::string& name : node.input()) {
      if (!made.contains(name)) {
        fail(file, fmt::format("{} {} reads {}, which nothing before it makes", node.op_type(),
                               quoted(node.name()), quoted(name)));
      }
    }
    for (const std::string& name : node.output()) {
      if (!made.insert(name).second && !name.empty()) {
        fail(file, fmt::format("{} {} makes {}, which is there already", node.op_type(),
                               quoted(node.name()), quoted(name)));
      }
    }
  }
}

void check_attributes(const onnx::NodeProto& node, const onnx::OpSchema& schema,
                      const std::string& file) {
  for (const auto& attribute : node.attribute()) {
    const auto known = schema.attributes().find(attribute.name());
    if (known != schema.attributes().end() && known->second.type != attribute.type()) {
      fail(file,
           fmt::format("{} {}: '{}' is of type {}, not {}", node.op_type(), quoted(node.name()),
                       attribute.name(), onnx::AttributeProto::AttributeType_Name(attribute.type()),
                       onnx::AttributeProto::AttributeType_Name(known->second.type)));
    }
  }
}

// Whole numbers that the model has as constants.
class Constants {
 public:
  explicit Constants(const onnx::GraphProto& graph) {
    for (const auto& tensor : graph.initializer()) {
      tensors_[tensor.name()] = &tensor;
    }
    for (const auto& node : graph.node()) {
      if (node.op_type() == "Constant" && node.output_size() == 1 && node.attribute_size() == 1 &&
          node.attribute(0).has_t()) {
        tensors_[node.output(0)] = &node.attribute(0).t();
      }
    }
  }

  bool has(const std::string& name) const { return tensors_.contains(name); }

  // Empty: none, or not known.
  std::vector<std::int64_t> list(const std::string& name) const {
    const auto at = tensors_.find(name);
    if (at == tensors_.end() || at->second->data_type() != onnx::TensorProto::INT64) {
      return {};
    }
    try {
      return onnx::ParseData<std::int64_t>(at->second);
    } catch (const std::exception&) {
      return {};  // in another file, or broken: inference says so
    }
  }

 private:
  std::map<std::string, const onnx::TensorProto*> tensors_;
};

void drop_attribute(onnx::NodeProto& node, const std::string& name) {
  auto& all = *node.mutable_attribute();
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const auto& attribute) { return attribute.name() == name; }),
            all.end());
}

// From opset 18 on every reduction reads its axes, as ReduceSum does from 13 on.
void give_axes(onnx::NodeProto& node, const Constants& constants) {
  const std::vector<std::int64_t> axes =
      node.input_size() == 2 ? constants.list(node.input(1)) : std::vector<std::int64_t>{};
  if (!axes.empty()) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name("axes");
    attribute.set_type(onnx::AttributeProto::INTS);
    attribute.mutable_ints()->Assign(axes.begin(), axes.end());
    node.mutable_input()->RemoveLast();
  }
}

// What newer opsets added that changes no shape.
void drop_news(onnx::NodeProto& node) {
  for (const char* name : {"saturate", "round_mode", "antialias", "noop_with_empty_axes"}) {
    drop_attribute(node, name);
  }
  if (node.op_type() == "Split") {
    drop_attribute(node, "num_outputs");  // the results are there to be counted
  }
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "keep_aspect_ratio_policy" && attribute.s() == "stretch") {
      drop_attribute(node, "keep_aspect_ratio_policy");
      break;
    }
  }
}

bool fits(const onnx::NodeProto& node, const onnx::OpSchema& schema) {
  return node.input_size() <= schema.max_input() &&
         std::all_of(node.attribute().begin(), node.attribute().end(), [&](const auto& attribute) {
           return schema.attributes().contains(attribute.name());
         });
}

bool overflows(const onnx::NodeProto& node, const Constants& constants) {
  if ((node.op_type() != "Tile" && node.op_type() != "Pad") || node.input_size() < 2) {
    return false;
  }
  const std::vector<std::int64_t> numbers = constants.list(node.input(1));
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  return std::any_of(numbers.begin(), numbers.end(),
                     [](std::int64_t number) { return number > kMost || number < -kMost; });
}

}  // namespace

void check_onnx(const onnx::ModelProto& model, const std::string& file) {
  const std::int64_t opset = opset_of(model);
  if (opset < 1 || opset > kNewestOpset) {
    fail(file, fmt::format("opset {}: 1 to {} are known here", opset, kNewestOpset));
  }
  check_order(model.graph(), file);
  for (const auto& node : model.graph().node()) {
    if (const onnx::OpSchema* schema = schema_of(node, opset)) {
      check_attributes(node, *schema, file);
    }
  }
}

void fit_library(onnx::ModelProto& model) {
  const std::int64_t opset = opset_of(model);
  const int newest = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second;
  const Constants constants{model.graph()};
  std::vector<onnx::NodeProto> nodes{model.graph().node().begin(), model.graph().node().end()};
  for (onnx::NodeProto& node : nodes) {
    const onnx::OpSchema* schema = schema_of(node, opset);
    if (schema == nullptr) {
      continue;
    }
    if (opset > newest) {
      drop_news(node);
      if (node.op_type().starts_with("Reduce") && node.op_type() != "ReduceSum") {
        give_axes(node, constants);
      }
    }
    if ((opset > newest && !fits(node, *schema)) || overflows(node, constants)) {
      node.set_op_type("of no known shape: " + node.op_type());
    }
  }
  model.mutable_graph()->mutable_node()->Assign(nodes.begin(), nodes.end());
}

void stretch_shapes(onnx::GraphProto& graph, std::int64_t batch) {
  const Constants constants{graph};
  std::vector<onnx::TensorProto> made;
  for (auto& node : *graph.mutable_node()) {
    const bool fills = node.op_type() == "Expand";
    if ((node.op_type() != "Reshape" && !fills) || node.input_size() != 2 ||
        node.output_size() != 1 || (!fills && constants.has(node.input(0)))) {
      continue;
    }
    std::vector<std::int64_t> shape = constants.list(node.input(1));
    if (shape.size() < 2 || shape[0] != 1) {
      continue;
    }
    shape[0] = batch;
    onnx::TensorProto& tensor = made.emplace_back();
    tensor.set_name(node.output(0) + " of more inputs");
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(shape.size()));
    tensor.mutable_int64_data()->Assign(shape.begin(), shape.end());
    node.set_input(1, tensor.name());
  }
  for (onnx::TensorProto& tensor : made) {
    *graph.add_initializer() = std::move(tensor);
  }
}

}  // namespace mapsim
