// SPDX-License-Identifier: Apache-2.0
#include "interop/onnx_infer.hpp"

#include <algorithm>

#include "interop/onnx_inline.hpp"

namespace mapsim {

namespace {

// The body that an attribute holds.
const ModelGraph* body_of(const ModelNode& node, std::string_view attribute) {
  const ModelAttribute* found = node.find(attribute);
  return found == nullptr || found->graphs.size() != 1 ? nullptr : &found->graphs[0];
}

TensorFacts without_values(const TensorFacts& facts) {
  return {facts.type, facts.shape, std::nullopt, facts.sequence};
}

}  // namespace

const TensorFacts& OnnxScope::find(const std::string& name) const {
  static const TensorFacts kNothing;
  const auto at = facts_.find(name);
  return at != facts_.end() ? at->second : outer_ == nullptr ? kNothing : outer_->find(name);
}

TensorFacts facts_of(const ModelValue& value) {
  TensorFacts facts{value.type, std::nullopt, std::nullopt, value.sequence};
  if (value.shape) {
    facts.shape.emplace();
    for (const ModelDim& dim : *value.shape) {
      facts.shape->push_back(dim.extent);
    }
  }
  return consistent(std::move(facts));
}

TensorFacts facts_of(const ModelTensor& constant) {
  return consistent({constant.type, constant.dims, values_of(constant), false, true});
}

void OnnxInference::run(const ModelGraph& graph, const Done& done) {
  OnnxScope scope;
  for (const ModelValue& input : graph.inputs) {
    TensorFacts facts = facts_of(input);
    const auto given = inputs_.find(input.name);
    if (given != inputs_.end() && facts.is_known() && elements_of(*facts.shape) == 1) {
      facts.values = OnnxNumbers{static_cast<OnnxNumber>(given->second)};
    }
    scope.set(input.name, std::move(facts));
  }
  for (const ModelTensor& constant : graph.constants) {
    scope.set(constant.name, facts_of(constant));
  }
  run(graph.nodes, scope, done);
}

void OnnxInference::run(const std::vector<ModelNode>& nodes, OnnxScope& scope, const Done& done) {
  for (const ModelNode& node : nodes) {
    if (const ModelGraph* body = taken_body(node, scope)) {
      const TakenBranch taken = taken_branch(node, *body);
      for (const ModelTensor& constant : taken.constants) {
        scope.set(constant.name, facts_of(constant));
      }
      run(taken.nodes, scope, done);
      continue;
    }
    Facts facts = results(node, scope);
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const auto claim = claims_.find(node.outputs[i]);
      if (!facts[i].is_known() && claim != claims_.end()) {
        facts[i] = claim->second;
      }
      scope.set(node.outputs[i], std::move(facts[i]));
    }
    done(node, scope);
  }
}

// Of an `If` whose condition is known (PyTorch asks so whether an axis to squeeze is 1).
const ModelGraph* OnnxInference::taken_body(const ModelNode& node, const OnnxScope& scope) const {
  if (node.op != "If" || !node.is_own() || node.inputs.size() != 1) {
    return nullptr;
  }
  const TensorFacts& condition = scope.find(node.inputs[0]);
  if (condition.type != kOnnxBool || !condition.is_constant() || condition.values->size() != 1) {
    return nullptr;
  }
  const ModelGraph* body =
      body_of(node, condition.values->front() != 0 ? "then_branch" : "else_branch");
  return body == nullptr || body->outputs.size() != node.outputs.size() ? nullptr : body;
}

Facts OnnxInference::results(const ModelNode& node, const OnnxScope& scope) {
  Facts facts;
  if (node.is_own() && node.op == "If") {
    facts = of_branches(node, scope);
  } else if (node.is_own() && node.op == "Loop") {
    facts = of_loop(node, scope);
  } else if (node.is_own() && node.op == "Scan") {
    facts = of_scan(node, scope);
  } else {
    std::vector<const TensorFacts*> inputs;
    for (const std::string& name : node.inputs) {
      inputs.push_back(&scope.find(name));
    }
    facts = infer_results(OnnxOperator{node, opset_, std::move(inputs)}, budget_);
  }
  facts.resize(node.outputs.size());
  return facts;
}

// What a body makes of operands that are bound to its inputs.
Facts OnnxInference::body_results(const ModelGraph& body, const OnnxScope& outer, Facts inputs) {
  OnnxScope scope{&outer};
  for (std::size_t i = 0; i < body.inputs.size(); ++i) {
    scope.set(body.inputs[i].name, i < inputs.size() ? inputs[i] : TensorFacts{});
  }
  for (const ModelTensor& constant : body.constants) {
    scope.set(constant.name, facts_of(constant));
  }
  run(body.nodes, scope, [](const ModelNode&, const OnnxScope&) {});
  Facts facts;
  for (const ModelValue& output : body.outputs) {
    facts.push_back(without_values(scope.find(output.name)));
  }
  return facts;
}

Facts OnnxInference::of_branches(const ModelNode& node, const OnnxScope& scope) {
  const ModelGraph* yes = body_of(node, "then_branch");
  const ModelGraph* no = body_of(node, "else_branch");
  if (yes == nullptr || no == nullptr) {
    return {};
  }
  const Facts of_yes = body_results(*yes, scope, {}), of_no = body_results(*no, scope, {});
  Facts facts;
  for (std::size_t i = 0; i < std::min(of_yes.size(), of_no.size()); ++i) {
    facts.push_back({of_yes[i].type == of_no[i].type ? of_yes[i].type : 0,
                     common(of_yes[i].shape, of_no[i].shape), std::nullopt, of_yes[i].sequence});
  }
  return facts;
}

// Operands: how often, whether, states. A state keeps its shape if one round keeps those of all;
// what each round adds to a list is known but for its length.
Facts OnnxInference::of_loop(const ModelNode& node, const OnnxScope& scope) {
  const ModelGraph* body = body_of(node, "body");
  if (body == nullptr || node.inputs.size() < 2) {
    return {};
  }
  Facts inputs{{kOnnxInt64, OnnxShape{}}, {kOnnxBool, OnnxShape{}}};
  for (std::size_t i = 2; i < node.inputs.size(); ++i) {
    inputs.push_back(without_values(scope.find(node.inputs[i])));
  }
  Facts facts = body_results(*body, scope, inputs);
  if (facts.empty()) {
    return {};
  }
  facts.erase(facts.begin());  // whether to go on
  const std::size_t states = inputs.size() - 2;
  bool keeps = facts.size() >= states;
  for (std::size_t i = 0; keeps && i < states; ++i) {
    keeps = facts[i].shape == inputs[i + 2].shape;
  }
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (!keeps) {
      facts[i].shape.reset();
    } else if (i >= states && facts[i].shape) {
      facts[i].shape->insert(facts[i].shape->begin(), kUnknownExtent);
    }
  }
  return facts;
}

// From opset 9 on: states, then tensors that are gone through along an axis, the first unless an
// attribute names another.
Facts OnnxInference::of_scan(const ModelNode& node, const OnnxScope& scope) {
  const ModelGraph* body = body_of(node, "body");
  const OnnxOperator operation{node, opset_, {}};
  const std::int64_t scanned = operation.integer("num_scan_inputs", 0);
  const auto count = static_cast<std::int64_t>(node.inputs.size());
  if (body == nullptr || opset_ < 9 || scanned < 1 || scanned > count) {
    return {};
  }
  const auto states = static_cast<std::size_t>(count - scanned);
  const auto axis_of = [&operation](const char* list, std::size_t i) {
    const auto axes = operation.integers(list);
    return axes && i < axes->size() ? (*axes)[i] : 0;
  };
  Facts inputs;
  std::int64_t length = kUnknownExtent;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    TensorFacts facts = without_values(scope.find(node.inputs[i]));
    if (i >= states && facts.shape) {
      const auto axis = place(axis_of("scan_input_axes", i - states), facts.shape->size());
      if (axis) {
        const auto at = facts.shape->begin() + static_cast<std::ptrdiff_t>(*axis);
        length = *at == kUnknownExtent ? length : *at;
        facts.shape->erase(at);
      } else {
        facts.shape.reset();
      }
    }
    inputs.push_back(std::move(facts));
  }
  Facts facts = body_results(*body, scope, inputs);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    auto& shape = facts[i].shape;
    if (i < states && (i >= inputs.size() || shape != inputs[i].shape)) {
      shape.reset();
    } else if (i >= states && shape) {
      const auto axis = place(axis_of("scan_output_axes", i - states), shape->size() + 1);
      if (axis) {
        shape->insert(shape->begin() + static_cast<std::ptrdiff_t>(*axis), length);
      } else {
        shape.reset();
      }
    }
  }
  return facts;
}

}  // namespace mapsim
