// SPDX-License-Identifier: Apache-2.0
#include "interop/onnx_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/diagnostic.hpp"
#include "interop/onnx.hpp"
#include "interop/onnx_rules.hpp"

namespace mapsim {

void refuse_model(const std::string& file, const std::string& message) {
  throw ConfigError({Diagnostic{file, 0, 0, "", as_text(message), ""}});
}

namespace {

// "Gemm 'fc'"; of a node without a name the operator and what it makes.
std::string who(const ModelNode& node) {
  return !node.name.empty()     ? fmt::format("{} {}", node.op, quoted(node.name))
         : node.outputs.empty() ? node.op
                                : fmt::format("{} that makes {}", node.op, quoted(node.outputs[0]));
}

// Every tensor that a node reads is there when the node runs, and made once.
void check_order(const ModelGraph& graph, const std::string& file) {
  std::set<std::string> made{""};
  for (const ModelValue& input : graph.inputs) {
    made.insert(input.name);
  }
  for (const ModelTensor& constant : graph.constants) {
    made.insert(constant.name);
  }
  for (const ModelNode& node : graph.nodes) {
    for (const std::string& name : node.inputs) {
      if (!made.contains(name)) {
        refuse_model(file, fmt::format("{} reads {}, which nothing before it makes", who(node),
                                       quoted(name)));
      }
    }
    for (const std::string& name : node.outputs) {
      if (!made.insert(name).second && !name.empty()) {
        refuse_model(file,
                     fmt::format("{} makes {}, which is there already", who(node), quoted(name)));
      }
    }
  }
}

// Attributes that shapes depend on have one type, whatever the operator.
int type_of(std::string_view attribute) {
  constexpr std::array kIntegers{"axis",        "batch_dims",  "blocksize", "ceil_mode",
                                 "group",       "hidden_size", "keepdims",  "layout",
                                 "num_outputs", "transA",      "transB"};
  constexpr std::array kLists{"axes",           "dilations",    "ends",   "kernel_shape",
                              "output_padding", "output_shape", "pads",   "perm",
                              "pooled_shape",   "split",        "starts", "strides"};
  constexpr std::array kTexts{"auto_pad", "direction", "equation"};
  const auto has = [attribute](const auto& names) {
    return std::find(names.begin(), names.end(), attribute) != names.end();
  };
  return has(kIntegers) ? int{kOnnxIntegerAttribute}
         : has(kLists)  ? int{kOnnxIntegersAttribute}
         : has(kTexts)  ? int{kOnnxTextAttribute}
                        : 0;
}

void check_attributes(const ModelNode& node, const std::string& file) {
  for (const ModelAttribute& attribute : node.attributes) {
    const int type = type_of(attribute.name);
    if (type != 0 && attribute.type != type) {
      refuse_model(file,
                   fmt::format("{}: '{}' is of type {}, not {}", who(node), attribute.name,
                               onnx_attribute_type(attribute.type), onnx_attribute_type(type)));
    }
  }
}

// What the operators that shapes of layers depend on have; none of another: not known.
std::string_view attributes_of(std::string_view op) {
  constexpr std::string_view kWindow = " auto_pad dilations group kernel_shape pads strides ";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kKnown{
      {{"Conv", kWindow},
       {"ConvInteger", kWindow},
       {"QLinearConv", kWindow},
       {"ConvTranspose",
        " auto_pad dilations group kernel_shape output_padding output_shape pads strides "},
       {"Gemm", " alpha beta broadcast transA transB "},
       {"MatMul", " "},
       {"Einsum", " equation "},
       {"MaxPool", " auto_pad ceil_mode dilations kernel_shape pads storage_order strides "},
       {"AveragePool",
        " auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides "}}};
  const auto known = std::find_if(kKnown.begin(), kKnown.end(),
                                  [op](const auto& each) { return each.first == op; });
  return known == kKnown.end() ? std::string_view{} : known->second;
}

// An attribute with a typing error would leave its default.
std::vector<std::string> unknown_attributes(const Model& model) {
  std::vector<std::string> found;
  std::set<std::string> named;  // once, however many nodes have it
  for (const ModelNode& node : model.graph.nodes) {
    const std::string_view known = node.is_own() ? attributes_of(node.op) : "";
    for (const ModelAttribute& attribute : node.attributes) {
      const std::string word = fmt::format(" {} ", attribute.name);
      if (!known.empty() && known.find(word) == std::string_view::npos &&
          named.insert(node.op + word).second) {
        found.push_back(as_text(fmt::format("{}: {} has no attribute {}; it is not read", who(node),
                                            node.op, quoted(attribute.name))));
      }
    }
  }
  return found;
}

std::vector<std::string> warnings(const Model& model, std::int64_t opset) {
  std::vector<std::string> found = unknown_attributes(model);
  if (opset <= kNewestOpset) {
    return found;
  }
  std::set<std::string> operators;
  for (const ModelNode& node : model.graph.nodes) {
    if (node.is_own()) {
      operators.insert(as_text(node.op));
    }
  }
  found.insert(
      found.begin(),
      fmt::format("opset {} is newer than {}, the newest known here: an operator that changed "
                  "since is read in its older form; the model has {}",
                  opset, kNewestOpset, fmt::join(operators, ", ")));
  return found;
}

// Whole numbers that the model has as constants.
class Constants {
 public:
  explicit Constants(const ModelGraph& graph) {
    for (const ModelTensor& tensor : graph.constants) {
      tensors_[tensor.name] = &tensor;
    }
    for (const ModelNode& node : graph.nodes) {
      if (node.op == "Constant" && node.outputs.size() == 1 && node.attributes.size() == 1 &&
          node.attributes[0].tensors.size() == 1) {
        tensors_[node.outputs[0]] = &node.attributes[0].tensors[0];
      }
    }
  }

  bool has(const std::string& name) const { return tensors_.contains(name); }

  // Empty: none, or not known.
  OnnxNumbers list(const std::string& name) const {
    const auto at = tensors_.find(name);
    return at == tensors_.end() || at->second->type != kOnnxInt64
               ? OnnxNumbers{}
               : values_of(*at->second).value_or(OnnxNumbers{});
  }

 private:
  std::map<std::string, const ModelTensor*> tensors_;
};

// Eight bytes a number, as raw data has them.
std::string raw(const OnnxNumbers& numbers) {
  std::string bytes;
  for (const OnnxNumber number : numbers) {
    const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
    for (unsigned shift = 0; shift < 64; shift += 8) {
      bytes += static_cast<char>(bits >> shift & 0xFF);
    }
  }
  return bytes;
}

}  // namespace

std::int64_t opset_of(const Model& model) {
  const auto own = model.opsets.find("");
  return own == model.opsets.end() ? 1 : own->second;
}

std::vector<std::string> check_onnx(const Model& model, const std::string& file) {
  const std::int64_t opset = opset_of(model);
  if (opset < 1) {
    refuse_model(file, fmt::format("opset {}: the first one is 1", opset));
  }
  check_order(model.graph, file);
  for (const ModelNode& node : model.graph.nodes) {
    if (node.is_own()) {
      check_attributes(node, file);
    }
  }
  return warnings(model, opset);
}

void stretch_shapes(Model& model, std::int64_t batch) {
  std::vector<ModelTensor> made;
  {
    const Constants constants{model.graph};
    for (ModelNode& node : model.graph.nodes) {
      const bool fills = node.op == "Expand";
      if ((node.op != "Reshape" && !fills) || node.inputs.size() != 2 || node.outputs.size() != 1 ||
          (!fills && constants.has(node.inputs[0]))) {
        continue;
      }
      OnnxNumbers shape = constants.list(node.inputs[1]);
      if (shape.size() < 2 || shape[0] != 1) {
        continue;
      }
      shape[0] = static_cast<OnnxNumber>(batch);
      const std::string& bytes = model.made.emplace_back(raw(shape));
      ModelTensor tensor{node.outputs[0] + " of more inputs", kOnnxInt64, {}, {}, false};
      tensor.dims = {static_cast<std::int64_t>(shape.size())};
      tensor.data.emplace_back(9U, WireField::Kind::kBytes, std::uint64_t{0}, bytes);
      node.inputs[1] = tensor.name;
      made.push_back(std::move(tensor));
    }
  }
  std::move(made.begin(), made.end(), std::back_inserter(model.graph.constants));
}

}  // namespace mapsim
