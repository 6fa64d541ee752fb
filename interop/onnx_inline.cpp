// SPDX-License-Identifier: Apache-2.0
#include "interop/onnx_inline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

constexpr int kDeepest = 64;                             // calls within calls
constexpr std::size_t kMostNodes = 1'000'000;            // as inlined
constexpr std::size_t kMostText = std::size_t{1} << 28;  // bytes of names that inlining makes

// Names inside a function or branch, and what they are called outside.
class Names {
 public:
  // What only the inside knows gets `prefix` in front.
  explicit Names(std::string prefix) : prefix_{std::move(prefix)} {}

  void bind(const std::string& inside, const std::string& outside) { names_[inside] = outside; }
  void make(const std::string& inside) { names_[inside] = inside.empty() ? "" : prefix_ + inside; }

  // A name that is not known yet is made, or with `bound_only` that of something outside.
  std::string outside(const std::string& inside, bool bound_only) {
    const auto at = names_.find(inside);
    if (at != names_.end()) {
      return at->second;
    }
    if (bound_only) {
      return inside;
    }
    make(inside);
    return names_[inside];
  }

 private:
  std::string prefix_;
  std::map<std::string, std::string> names_;
};

void rename(ModelNode& node, Names& names, bool bound_only);

void rename(ModelGraph& graph, Names& names, bool bound_only) {
  for (ModelTensor& constant : graph.constants) {
    constant.name = names.outside(constant.name, bound_only);
  }
  for (auto* values : {&graph.inputs, &graph.outputs, &graph.values}) {
    for (ModelValue& value : *values) {
      value.name = names.outside(value.name, bound_only);
    }
  }
  for (ModelNode& node : graph.nodes) {
    rename(node, names, bound_only);
  }
}

void rename(ModelNode& node, Names& names, bool bound_only) {
  for (auto* list : {&node.inputs, &node.outputs}) {
    for (std::string& name : *list) {
      name = names.outside(name, bound_only);
    }
  }
  for (ModelAttribute& attribute : node.attributes) {
    for (ModelGraph& body : attribute.graphs) {
      rename(body, names, bound_only);
    }
  }
}

using Attributes = std::map<std::string, ModelAttribute>;

// Attributes that are those of the call, in bodies as well; one that the call lacks is left out. A
// copy of one costs as much as the whole call, `parts`.
void give_attributes(ModelNode& node, const Attributes& actual, std::size_t parts) {
  std::vector<ModelAttribute> given;
  for (ModelAttribute& attribute : node.attributes) {
    const auto at = actual.find(attribute.reference);
    if (!attribute.reference.empty() && at == actual.end()) {
      continue;
    }
    if (!attribute.reference.empty()) {
      std::string name = attribute.name;
      attribute = at->second;
      node.parts += parts;
      attribute.name = std::move(name);
    }
    for (ModelGraph& body : attribute.graphs) {
      for (ModelNode& inner : body.nodes) {
        give_attributes(inner, actual, parts);
        node.parts += inner.parts;
      }
    }
    given.push_back(std::move(attribute));
  }
  node.attributes = std::move(given);
}

std::string result_or_name(const ModelNode& node) {
  return node.outputs.empty() ? node.name : node.outputs[0];
}

class Inliner {
 public:
  Inliner(const Model& model, const std::string& file) : file_{file} {
    for (const ModelFunction& function : model.functions) {
      functions_[{function.domain, function.name, function.overload}] = &function;
    }
  }

  void expand(ModelNode node, int depth) {
    parts_ += node.parts;
    text_ += result_or_name(node).size() + node.name.size();
    if (depth > kDeepest || nodes.size() >= kMostNodes || parts_ > kMostOnnxParts ||
        ++calls_ > kMostNodes || text_ > kMostText) {
      throw ConfigError(
          {Diagnostic{file_, 0, 0, "",
                      "the model's functions call themselves, or far too many operators", ""}});
    }
    const auto at = functions_.find({node.domain, node.op, node.overload});
    if (at == functions_.end()) {
      nodes.push_back(std::move(node));
    } else {
      call(node, *at->second, depth);
    }
  }

  std::vector<ModelNode> nodes;

 private:
  void call(const ModelNode& node, const ModelFunction& function, int depth) {
    // A call inside may make the same result.
    Names names{result_or_name(node) + (depth > 0 ? fmt::format("/inner{}/", depth) : "/")};
    for (std::size_t i = node.inputs.size(); i < function.inputs.size(); ++i) {
      names.bind(function.inputs[i], "");
    }
    const auto bind = [&names](const auto& formal, const auto& actual) {
      for (std::size_t i = 0; i < std::min(formal.size(), actual.size()); ++i) {
        if (!actual[i].empty()) {
          names.bind(formal[i], actual[i]);
        }
      }
    };
    bind(function.outputs, node.outputs);
    bind(function.inputs, node.inputs);
    Attributes actual;
    for (const auto* attributes : {&node.attributes, &function.defaults}) {
      for (const ModelAttribute& attribute : *attributes) {
        actual.emplace(attribute.name, attribute);
      }
    }
    for (ModelNode inner : function.nodes) {
      give_attributes(inner, actual, node.parts);
      rename(inner, names, false);
      if (!node.name.empty()) {
        inner.name = node.name + '/' + (inner.name.empty() ? inner.op : inner.name);
      }
      expand(std::move(inner), depth + 1);
    }
  }

  const std::string& file_;
  std::size_t parts_ = 0, calls_ = 0, text_ = 0;
  std::map<std::tuple<std::string, std::string, std::string>, const ModelFunction*> functions_;
};

}  // namespace

void inline_functions(Model& model, const std::string& file) {
  if (model.functions.empty()) {
    return;
  }
  Inliner inliner{model, file};
  for (ModelNode& node : model.graph.nodes) {
    inliner.expand(std::move(node), 0);
  }
  model.graph.nodes = std::move(inliner.nodes);
  for (const ModelFunction& function : model.functions) {
    model.opsets.insert(function.opsets.begin(), function.opsets.end());
  }
}

TakenBranch taken_branch(const ModelNode& node, ModelGraph branch) {
  Names names{result_or_name(node) + '/'};
  for (const ModelTensor& constant : branch.constants) {
    names.make(constant.name);
  }
  for (const ModelNode& inner : branch.nodes) {
    for (const std::string& name : inner.outputs) {
      names.make(name);
    }
  }
  rename(branch, names, true);
  TakenBranch taken{std::move(branch.nodes), std::move(branch.constants)};
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    ModelNode& same = taken.nodes.emplace_back();
    same.op = "Identity";
    same.inputs = {branch.outputs[i].name};
    same.outputs = {node.outputs[i]};
  }
  return taken;
}

}  // namespace mapsim
