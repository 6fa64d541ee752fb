// SPDX-License-Identifier: Apache-2.0
#include "interop/onnx_inline.hpp"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

constexpr int kDeepest = 64;  // calls within calls
constexpr std::size_t kMostNodes = 1'000'000;

using Names = std::map<std::string, std::string>;  // inside the function: outside

// The name outside; what only the function knows gets a name of its own.
const std::string& outside(Names& names, const std::string& prefix, const std::string& name) {
  return names.try_emplace(name, name.empty() ? name : prefix + name).first->second;
}

void rename(onnx::NodeProto& node, Names& names, const std::string& prefix);

void rename(onnx::GraphProto& graph, Names& names, const std::string& prefix) {
  for (auto& weight : *graph.mutable_initializer()) {
    weight.set_name(outside(names, prefix, weight.name()));
  }
  for (auto* values : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
    for (auto& value : *values) {
      value.set_name(outside(names, prefix, value.name()));
    }
  }
  for (auto& node : *graph.mutable_node()) {
    rename(node, names, prefix);
  }
}

void rename(onnx::NodeProto& node, Names& names, const std::string& prefix) {
  for (auto* list : {node.mutable_input(), node.mutable_output()}) {
    for (std::string& name : *list) {
      name = outside(names, prefix, name);
    }
  }
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) {
      rename(*attribute.mutable_g(), names, prefix);
    }
  }
}

// Attributes that are those of the call.
void give_attributes(onnx::NodeProto& node, const onnx::NodeProto& call) {
  std::vector<onnx::AttributeProto> given;
  for (const auto& attribute : node.attribute()) {
    if (attribute.ref_attr_name().empty()) {
      given.push_back(attribute);
      continue;
    }
    for (const auto& actual : call.attribute()) {
      if (actual.name() == attribute.ref_attr_name()) {
        given.push_back(actual);
        given.back().set_name(attribute.name());
      }
    }
  }
  node.mutable_attribute()->Assign(given.begin(), given.end());
}

class Inliner {
 public:
  Inliner(const onnx::ModelProto& model, const std::string& file) : file_{file} {
    for (const auto& function : model.functions()) {
      functions_[{function.domain(), function.name()}] = &function;
    }
  }

  void expand(const onnx::NodeProto& node, int depth) {
    if (depth > kDeepest || ++expanded_ > kMostNodes) {
      throw ConfigError(
          {Diagnostic{file_, 0, 0, "",
                      "the model's functions call themselves, or far too many operators", ""}});
    }
    const auto at = functions_.find({node.domain(), node.op_type()});
    if (at == functions_.end()) {
      nodes.push_back(node);
    } else {
      call(node, *at->second, depth);
    }
  }

  std::vector<onnx::NodeProto> nodes;

 private:
  void call(const onnx::NodeProto& node, const onnx::FunctionProto& function, int depth) {
    Names names;
    const auto bind = [&names](const auto& formal, const auto& actual) {
      for (int i = 0; i < formal.size(); ++i) {
        if (i < actual.size() && !actual.Get(i).empty()) {
          names[formal.Get(i)] = actual.Get(i);
        }
      }
    };
    for (int i = node.input_size(); i < function.input_size(); ++i) {
      names[function.input(i)] = "";
    }
    bind(function.output(), node.output());
    bind(function.input(), node.input());
    // A call inside may make the same result.
    const std::string prefix = (node.output_size() > 0 ? node.output(0) : node.name()) +
                               (depth > 0 ? fmt::format("/inner{}/", depth) : "/");
    for (onnx::NodeProto inner : function.node()) {
      give_attributes(inner, node);
      rename(inner, names, prefix);
      if (!node.name().empty()) {
        inner.set_name(node.name() + '/' + (inner.name().empty() ? inner.op_type() : inner.name()));
      }
      expand(inner, depth + 1);
    }
  }

  const std::string& file_;
  std::size_t expanded_ = 0;
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> functions_;
};

// The operators of a branch in place of the `If`; what is made inside gets the result's name in
// front.
void put_branch(onnx::GraphProto branch, const onnx::NodeProto& node, onnx::GraphProto& graph,
                std::vector<onnx::NodeProto>& nodes) {
  const std::string prefix = (node.output_size() > 0 ? node.output(0) : node.name()) + '/';
  Names names;
  for (const auto& weight : branch.initializer()) {
    names[weight.name()] = prefix + weight.name();
  }
  for (const auto& inner : branch.node()) {
    for (const std::string& name : inner.output()) {
      names[name] = name.empty() ? name : prefix + name;
    }
  }
  rename(branch, names, "");
  for (const auto& weight : branch.initializer()) {
    *graph.add_initializer() = weight;
  }
  nodes.insert(nodes.end(), branch.node().begin(), branch.node().end());
  for (int i = 0; i < node.output_size(); ++i) {
    onnx::NodeProto& same = nodes.emplace_back();
    same.set_op_type("Identity");
    same.add_input(branch.output(i).name());
    same.add_output(node.output(i));
  }
}

}  // namespace

void inline_functions(onnx::ModelProto& model, const std::string& file) {
  if (model.functions_size() == 0) {
    return;
  }
  Inliner inliner{model, file};
  for (const auto& node : model.graph().node()) {
    inliner.expand(node, 0);
  }
  model.mutable_graph()->mutable_node()->Assign(inliner.nodes.begin(), inliner.nodes.end());
  std::set<std::string> domains;
  for (const auto& import : model.opset_import()) {
    domains.insert(import.domain());
  }
  for (const auto& function : model.functions()) {
    for (const auto& import : function.opset_import()) {
      if (domains.insert(import.domain()).second) {
        *model.add_opset_import() = import;
      }
    }
  }
  model.clear_functions();
}

bool take_branches(onnx::GraphProto& graph, const onnx::GraphProto& known) {
  std::map<std::string, bool> conditions;
  for (const auto& tensor : known.initializer()) {
    if (tensor.data_type() == onnx::TensorProto::BOOL && tensor.int32_data_size() == 1) {
      conditions[tensor.name()] = tensor.int32_data(0) != 0;
    }
  }
  std::vector<onnx::NodeProto> nodes;
  bool taken = false;
  for (const auto& node : std::vector<onnx::NodeProto>{graph.node().begin(), graph.node().end()}) {
    const auto condition = node.op_type() == "If" && node.input_size() == 1
                               ? conditions.find(node.input(0))
                               : conditions.end();
    const auto body =
        std::find_if(node.attribute().begin(), node.attribute().end(), [&](const auto& attribute) {
          return condition != conditions.end() && attribute.has_g() &&
                 attribute.name() == (condition->second ? "then_branch" : "else_branch");
        });
    if (body == node.attribute().end() || body->g().output_size() != node.output_size()) {
      nodes.push_back(node);
    } else {
      put_branch(body->g(), node, graph, nodes);
      taken = true;
    }
  }
  graph.mutable_node()->Assign(nodes.begin(), nodes.end());
  return taken;
}

}  // namespace mapsim
