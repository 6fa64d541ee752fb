// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "interop/onnx_rules.hpp"

namespace mapsim {

// Known properties of the tensors of a graph, and of outer tensors that its operators may read.
class OnnxScope {
 public:
  explicit OnnxScope(const OnnxScope* outer = nullptr) : outer_{outer} {}
  void set(const std::string& name, TensorFacts facts) { facts_[name] = std::move(facts); }
  const TensorFacts& find(const std::string& name) const;  // for an unknown name, no facts

 private:
  const OnnxScope* outer_;
  std::unordered_map<std::string, TensorFacts> facts_;
};

// The facts that the file gives about a tensor or a constant.
TensorFacts facts_of(const ModelValue& value);
TensorFacts facts_of(const ModelTensor& constant);

// Infers the shapes of a graph's tensors, operator by operator, from the shapes of its inputs.
// Where an operator determines nothing, the `claims` of the file count. The operators of the branch
// that an `If` takes replace it. Calls `done` with each operator, and with a scope that has its
// tensors and the constants so far.
class OnnxInference {
 public:
  using Done = std::function<void(const ModelNode&, const OnnxScope&)>;
  // `inputs`: values of inputs of one element, which are whole numbers.
  OnnxInference(std::int64_t opset, std::unordered_map<std::string, TensorFacts> claims,
                std::map<std::string, std::int64_t> inputs = {})
      : opset_{opset}, claims_{std::move(claims)}, inputs_{std::move(inputs)} {}

  void run(const ModelGraph& graph, const Done& done);

 private:
  void run(const std::vector<ModelNode>& nodes, OnnxScope& scope, const Done& done);
  const ModelGraph* taken_body(const ModelNode& node, const OnnxScope& scope) const;
  Facts results(const ModelNode& node, const OnnxScope& scope);
  Facts of_branches(const ModelNode& node, const OnnxScope& scope);
  Facts of_loop(const ModelNode& node, const OnnxScope& scope);
  Facts of_scan(const ModelNode& node, const OnnxScope& scope);
  Facts body_results(const ModelGraph& body, const OnnxScope& outer, Facts inputs);

  std::int64_t opset_;
  std::unordered_map<std::string, TensorFacts> claims_;
  std::map<std::string, std::int64_t> inputs_;
  std::size_t budget_ = 8'000'000;  // limit of computed values; shapes of any model need far fewer
};

}  // namespace mapsim
