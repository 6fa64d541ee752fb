// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/diagnostic.hpp"
#include "interop/mapped_file.hpp"
#include "interop/onnx.hpp"
#include "interop/onnx_check.hpp"
#include "interop/onnx_infer.hpp"
#include "interop/onnx_inline.hpp"

namespace mapsim {

namespace {

using NameSet = std::unordered_set<std::string>;

// Bits of an element; 0: not a number. The types of onnx.proto, TensorProto.DataType.
Bits bits_of(int type) {
  // By number: none, float, uint8, int8, uint16, int16, int32, int64, text, bool, float16, double,
  // uint32, uint64, two complex ones, bfloat16, four float8, uint4, int4, float4, float8e8m0,
  // uint2, int2.
  constexpr std::array kBits{0, 32, 8,  8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64,
                             0, 0,  16, 8, 8,  8,  8,  4,  4, 4, 8,  2,  2};
  return Bits{type < 0 || type >= static_cast<int>(kBits.size())
                  ? 0
                  : kBits[static_cast<std::size_t>(type)]};
}

Model parse(std::string_view bytes, const std::string& path) {
  try {
    Model model = parse_model(bytes);
    if (model.graph.nodes.empty()) {
      refuse_model(path, "a model without operators");
    }
    return model;
  } catch (const WireError&) {
    refuse_model(path, "not an ONNX model, or cut short");
  }
}

// A first dim counts inputs that run together, unless it counts the parts of one.
bool counts_inputs(const std::string& dim) {
  std::string name = dim;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  constexpr std::array kParts{"seq", "len", "tok", "time", "step", "frame"};
  return std::none_of(kParts.begin(), kParts.end(),
                      [&name](const char* part) { return name.find(part) != std::string::npos; });
}

// The values of the symbolic dims of a model's inputs.
struct GraphDims {
  std::map<std::string, std::int64_t> values;  // by name
  std::set<std::string> missing;
  std::optional<std::int64_t> batch;
  bool stretched = false;  // a model of one input at a time takes more
};

void fix_input(ModelValue& input, const OnnxOptions& options, GraphDims& dims) {
  for (std::size_t i = 0; i < input.shape->size(); ++i) {
    ModelDim& dim = (*input.shape)[i];
    if (dim.extent >= 0) {
      continue;
    }
    const std::string name = dim.symbol.empty() ? fmt::format("{}[{}]", input.name, i) : dim.symbol;
    const auto given = options.dims.find(name);
    const bool batch = i == 0 && counts_inputs(dim.symbol);
    if (given == options.dims.end() && !batch) {
      dims.missing.insert(as_text(name));
      continue;
    }
    dim.extent = given == options.dims.end() ? options.batch : given->second;
    dims.values.emplace(name, dim.extent);
    if (batch && !dims.batch) {
      dims.batch = dim.extent;
    }
  }
}

// Inputs whose first dim is 1 throughout take `batch` at a time. Returns whether they do.
bool stretch(Model& model, const NameSet& weights, std::int64_t batch) {
  std::vector<ModelDim*> firsts;
  for (ModelValue& input : model.graph.inputs) {
    if (!weights.contains(input.name) && input.shape && !input.shape->empty()) {
      firsts.push_back(&input.shape->front());
    }
  }
  if (firsts.empty() || std::any_of(firsts.begin(), firsts.end(),
                                    [](const ModelDim* dim) { return dim->extent != 1; })) {
    return false;
  }
  for (ModelDim* dim : firsts) {
    dim->extent = batch;
  }
  stretch_shapes(model, batch);
  return true;
}

// Gives the dims of the model's inputs their values.
GraphDims fix_dims(Model& model, const NameSet& weights, const std::string& file,
                   const OnnxOptions& options) {
  GraphDims dims;
  for (ModelValue& input : model.graph.inputs) {
    if (!weights.contains(input.name) && input.shape) {
      fix_input(input, options, dims);
    }
  }
  if (!dims.missing.empty()) {
    refuse_model(file,
                 fmt::format("dims without a value: {}; give each with --dim NAME=N, in a campaign "
                             "with dims: {{NAME: N}}",
                             fmt::join(dims.missing, ", ")));
  }
  for (const auto& [name, value] : options.dims) {
    if (!dims.values.contains(name)) {
      std::vector<std::string> known;
      for (const auto& [symbol, extent] : dims.values) {
        known.push_back(as_text(symbol));
      }
      refuse_model(file,
                   fmt::format("--dim {}: no input has such a dim; symbolic dims: {}", name,
                               known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    }
  }
  if (options.batch > 1 && !dims.batch && stretch(model, weights, options.batch)) {
    dims.batch = options.batch;
    dims.stretched = true;
  }
  return dims;
}

// What the file says of tensors that operators make, with the values of dims in place; only of
// those whose shape is then known.
std::unordered_map<std::string, TensorFacts> claims_of(const ModelGraph& graph,
                                                       const GraphDims& dims) {
  std::unordered_map<std::string, TensorFacts> claims;
  for (const auto* values : {&graph.values, &graph.outputs}) {
    for (const ModelValue& value : *values) {
      TensorFacts claim = facts_of(value);
      for (std::size_t i = 0; claim.shape && i < claim.shape->size(); ++i) {
        const auto given = dims.values.find((*value.shape)[i].symbol);
        if ((*claim.shape)[i] == kUnknownExtent && given != dims.values.end()) {
          (*claim.shape)[i] = given->second;
        }
      }
      if (!dims.stretched && claim.is_known()) {
        claims.emplace(value.name, std::move(claim));
      }
    }
  }
  return claims;
}

// With its domain, unless that is ONNX's own.
std::string op_of(const ModelNode& node) {
  return as_text(node.is_own() ? node.op : node.domain + "." + node.op);
}

// The operators in the bodies of If, Loop and the like, each as often as it stands there.
void count_inside(const ModelNode& node, std::map<std::string, std::int64_t>& inside) {
  for (const ModelAttribute& attribute : node.attributes) {
    for (const ModelGraph& body : attribute.graphs) {
      for (const ModelNode& inner : body.nodes) {
        ++inside[op_of(inner)];
        count_inside(inner, inside);
      }
    }
  }
}

OnnxTensor tensor_of(const std::string& name, const OnnxScope& scope) {
  const TensorFacts& facts = scope.find(name);
  OnnxTensor tensor{name, std::nullopt, bits_of(facts.type)};
  tensor.number = facts.type == kOnnxUndefined || is_number_type(facts.type);
  tensor.constant = facts.weight || facts.is_constant();
  if (facts.is_known() && !facts.sequence) {
    tensor.shape = facts.shape;
  }
  return tensor;
}

OnnxNode node_of(const ModelNode& proto, const OnnxScope& scope) {
  OnnxNode node;
  node.name = as_text(proto.name);
  node.op = op_of(proto);
  count_inside(proto, node.inside);
  for (const std::string& name : proto.inputs) {
    node.inputs.push_back(tensor_of(name, scope));
  }
  for (const std::string& name : proto.outputs) {
    node.outputs.push_back(tensor_of(name, scope));
  }
  for (const ModelAttribute& attribute : proto.attributes) {
    if (attribute.type == kOnnxIntegerAttribute) {
      node.integers[attribute.name] = {attribute.integer};
    } else if (attribute.type == kOnnxIntegersAttribute) {
      node.integers[attribute.name] = attribute.integers;
    } else if (attribute.type == kOnnxTextAttribute) {
      node.words[attribute.name] = attribute.text;
    }
  }
  return node;
}

}  // namespace

OnnxGraph read_onnx(const std::string& path, const OnnxOptions& options) {
  const MappedFile file{path};
  Model model = parse(file.bytes(), path);
  inline_functions(model, path);
  NameSet weights;
  for (const ModelTensor& constant : model.graph.constants) {
    weights.insert(constant.name);
  }
  const GraphDims dims = fix_dims(model, weights, path, options);
  OnnxGraph graph{model.graph.name, path, {}, dims.batch.value_or(1), dims.stretched, {}, {}};
  graph.warnings = check_onnx(model, path);
  for (const ModelValue& output : model.graph.outputs) {
    graph.outputs.push_back(output.name);
  }
  for (const auto& [name, value] : options.inputs) {
    if (std::none_of(model.graph.inputs.begin(), model.graph.inputs.end(),
                     [&wanted = name](const ModelValue& input) { return input.name == wanted; })) {
      refuse_model(path, fmt::format("--input {}: the model has no such input", name));
    }
  }
  OnnxInference inference{opset_of(model), claims_of(model.graph, dims), options.inputs};
  inference.run(model.graph, [&](const ModelNode& node, const OnnxScope& scope) {
    graph.nodes.push_back(node_of(node, scope));
  });
  return graph;
}

}  // namespace mapsim
