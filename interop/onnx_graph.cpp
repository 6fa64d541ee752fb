// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "core/diagnostic.hpp"
#include "interop/onnx.hpp"
#include "interop/onnx_check.hpp"
#include "interop/onnx_fold.hpp"
#include "interop/onnx_inline.hpp"
#include "interop/onnx_ops.hpp"

namespace mapsim {

namespace {

using TensorTypes = std::map<std::string, OnnxTensor>;

[[noreturn]] void fail(const std::string& file, const std::string& message) {
  throw ConfigError({Diagnostic{file, 0, 0, "", message, ""}});
}

// Bits of an element; 0: not a number. The types of onnx.proto3, TensorProto.DataType.
Bits bits_of(int type) {
  switch (type) {
    case onnx::TensorProto::BOOL:
    case onnx::TensorProto::INT8:
    case onnx::TensorProto::UINT8:
      return Bits{8};
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16:
    case onnx::TensorProto::INT16:
    case onnx::TensorProto::UINT16:
      return Bits{16};
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::INT32:
    case onnx::TensorProto::UINT32:
      return Bits{32};
    case onnx::TensorProto::DOUBLE:
    case onnx::TensorProto::INT64:
    case onnx::TensorProto::UINT64:
      return Bits{64};
    case 17:  // FLOAT8E4M3FN, ..., as later versions of onnx.proto3 have them
    case 18:
    case 19:
    case 20:
      return Bits{8};
    case 21:  // UINT4, INT4, FLOAT4E2M1
    case 22:
    case 23:
      return Bits{4};
    default:
      return Bits{0};
  }
}

onnx::ModelProto parse(const std::string& path) {
  // Protobuf would write to standard error; what is wrong is said here.
  const google::protobuf::LogSilencer silence;
  std::ifstream stream{path, std::ios::binary};
  if (!stream) {
    fail(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  onnx::ModelProto model;
  if (!model.ParseFromIstream(&stream) || !model.has_graph() || model.ir_version() < 1) {
    fail(path, "not an ONNX model, or cut short");
  }
  if (model.graph().node_size() == 0) {
    fail(path, "a model without operators");
  }
  return model;
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
struct Dims {
  std::map<std::string, std::int64_t> values;  // by name
  std::set<std::string> missing;
  std::optional<std::int64_t> batch;
  bool stretched = false;  // a model of one input at a time takes more
};

void fix_input(onnx::ValueInfoProto& input, const OnnxOptions& options, Dims& dims) {
  auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < shape.dim_size(); ++i) {
    auto& dim = *shape.mutable_dim(i);
    if (dim.has_dim_value()) {
      continue;
    }
    const std::string name =
        dim.dim_param().empty() ? fmt::format("{}[{}]", input.name(), i) : dim.dim_param();
    const auto given = options.dims.find(name);
    const bool batch = i == 0 && counts_inputs(dim.dim_param());
    if (given == options.dims.end() && !batch) {
      dims.missing.insert(as_text(name));
      continue;
    }
    const std::int64_t value = given == options.dims.end() ? options.batch : given->second;
    dim.set_dim_value(value);
    dims.values.emplace(name, value);
    if (batch && !dims.batch) {
      dims.batch = value;
    }
  }
}

// Inputs whose first dim is 1 throughout take `batch` at a time. Returns whether they do.
bool stretch(onnx::GraphProto& graph, const std::set<std::string>& weights, std::int64_t batch) {
  std::vector<onnx::TensorShapeProto_Dimension*> firsts;
  for (auto& input : *graph.mutable_input()) {
    if (!weights.contains(input.name()) && input.type().tensor_type().shape().dim_size() > 0) {
      firsts.push_back(
          input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0));
    }
  }
  if (firsts.empty() || std::any_of(firsts.begin(), firsts.end(),
                                    [](const auto* dim) { return dim->dim_value() != 1; })) {
    return false;
  }
  for (auto* dim : firsts) {
    dim->set_dim_value(batch);
  }
  stretch_shapes(graph, batch);
  return true;
}

// Gives the dims of the model's inputs their values.
Dims fix_dims(onnx::GraphProto& graph, const std::string& file, const OnnxOptions& options) {
  std::set<std::string> weights;
  for (const auto& weight : graph.initializer()) {
    weights.insert(weight.name());
  }
  Dims dims;
  for (auto& input : *graph.mutable_input()) {
    if (!weights.contains(input.name()) && input.type().tensor_type().has_shape()) {
      fix_input(input, options, dims);
    }
  }
  if (!dims.missing.empty()) {
    fail(file, fmt::format("dims without a value: {}; give each with --dim NAME=N, in a campaign "
                           "with dims: {{NAME: N}}",
                           fmt::join(dims.missing, ", ")));
  }
  for (const auto& [name, value] : options.dims) {
    if (!dims.values.contains(name)) {
      std::vector<std::string> known;
      for (const auto& [symbol, extent] : dims.values) {
        known.push_back(as_text(symbol));
      }
      fail(file, fmt::format("--dim {}: no input has such a dim; symbolic dims: {}", name,
                             known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    }
  }
  if (options.batch > 1 && !dims.batch && stretch(graph, weights, options.batch)) {
    dims.batch = options.batch;
    dims.stretched = true;
  }
  return dims;
}

// Takes the shapes out that inference finds again. They are what the file says of tensors, with the
// values of dims in place; only those that are then known.
std::vector<onnx::ValueInfoProto> take_claims(onnx::GraphProto& graph, const Dims& dims) {
  std::vector<onnx::ValueInfoProto> claims(graph.value_info().begin(), graph.value_info().end());
  graph.clear_value_info();
  for (auto& output : *graph.mutable_output()) {
    claims.push_back(output);
    output.clear_type();
  }
  std::erase_if(claims, [&dims](onnx::ValueInfoProto& claim) {
    if (dims.stretched || !claim.type().tensor_type().has_shape()) {
      return true;
    }
    bool known = true;
    for (auto& dim : *claim.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
      const auto value = dims.values.find(dim.dim_param());
      if (!dim.has_dim_value() && value != dims.values.end()) {
        dim.set_dim_value(value->second);
      }
      known = known && dim.has_dim_value() && dim.dim_value() >= 0;
    }
    return !known;
  });
  return claims;
}

// Shapes may depend on small constants (axes, sizes, scales); nothing depends on the rest.
void drop_values(onnx::TensorProto& tensor) {
  constexpr int kMostNumbers = 4096;
  if (tensor.float_data_size() > kMostNumbers || tensor.double_data_size() > kMostNumbers ||
      tensor.int64_data_size() > kMostNumbers || tensor.int32_data_size() > kMostNumbers ||
      tensor.raw_data().size() > sizeof(std::int64_t) * kMostNumbers) {
    tensor.clear_raw_data();
    tensor.clear_float_data();
    tensor.clear_double_data();
    tensor.clear_int32_data();
    tensor.clear_int64_data();
  }
  tensor.clear_string_data();
}

OnnxTensor typed(const onnx::ValueInfoProto& value) {
  const int type = value.type().tensor_type().elem_type();
  OnnxTensor tensor{value.name(), std::nullopt, bits_of(type)};
  tensor.number = type == onnx::TensorProto::UNDEFINED || tensor.bits > Bits{0};
  if (value.type().tensor_type().has_shape()) {
    tensor.shape.emplace();
    for (const auto& dim : value.type().tensor_type().shape().dim()) {
      if (!dim.has_dim_value() || dim.dim_value() < 0) {
        tensor.shape.reset();
        break;
      }
      tensor.shape->push_back(dim.dim_value());
    }
  }
  return tensor;
}

TensorTypes types_of(const onnx::GraphProto& graph) {
  TensorTypes types;
  for (const auto* values : {&graph.input(), &graph.value_info(), &graph.output()}) {
    for (const auto& value : *values) {
      types[value.name()] = typed(value);
    }
  }
  for (const auto& weight : graph.initializer()) {
    types[weight.name()] = {
        weight.name(), std::vector<std::int64_t>(weight.dims().begin(), weight.dims().end()),
        bits_of(weight.data_type()), true, bits_of(weight.data_type()) > Bits{0}};
  }
  return types;
}

// With its domain, unless that is ONNX's own.
std::string op_of(const onnx::NodeProto& proto) {
  const bool own = proto.domain().empty() || proto.domain() == "ai.onnx";
  return as_text(own ? proto.op_type() : proto.domain() + "." + proto.op_type());
}

// The operators in the bodies of If, Loop and the like, each as often as it stands there.
void count_inside(const onnx::NodeProto& node, std::map<std::string, std::int64_t>& inside) {
  const auto count = [&inside](const onnx::GraphProto& body) {
    for (const auto& proto : body.node()) {
      ++inside[op_of(proto)];
      count_inside(proto, inside);
    }
  };
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) {
      count(attribute.g());
    }
    for (const auto& body : attribute.graphs()) {
      count(body);
    }
  }
}

OnnxNode node_of(const onnx::NodeProto& proto, const TensorTypes& types) {
  const auto find = [&types](const std::string& name) {
    const auto at = types.find(name);
    return at == types.end() ? OnnxTensor{name, std::nullopt, Bits{0}, false} : at->second;
  };
  OnnxNode node;
  node.name = as_text(proto.name());
  node.op = op_of(proto);
  count_inside(proto, node.inside);
  for (const std::string& name : proto.input()) {
    node.inputs.push_back(find(name));
  }
  for (const std::string& name : proto.output()) {
    node.outputs.push_back(find(name));
  }
  for (const auto& attribute : proto.attribute()) {
    if (attribute.type() == onnx::AttributeProto::INT) {
      node.integers[attribute.name()] = {attribute.i()};
    } else if (attribute.type() == onnx::AttributeProto::INTS) {
      node.integers[attribute.name()].assign(attribute.ints().begin(), attribute.ints().end());
    } else if (attribute.type() == onnx::AttributeProto::STRING) {
      node.words[attribute.name()] = attribute.s();
    }
  }
  return node;
}

void write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(descriptor, text.data() + done, text.size() - done);
    if (written <= 0) {
      return;
    }
    done += static_cast<std::size_t>(written);
  }
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 65536> block{};
  for (ssize_t got = 0; (got = read(descriptor, block.data(), block.size())) > 0;) {
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return text;
}

// libonnx tells of an Einsum's result the rank alone. Returns whether something new is known.
bool know_einsums(onnx::GraphProto& graph) {
  if (std::none_of(graph.node().begin(), graph.node().end(),
                   [](const auto& node) { return node.op_type() == "Einsum"; })) {
    return false;
  }
  const TensorTypes types = types_of(graph);
  std::map<std::string, std::vector<std::int64_t>> found;
  for (const auto& proto : graph.node()) {
    if (op_of(proto) != "Einsum" || proto.output_size() == 0) {
      continue;
    }
    const OnnxNode node = node_of(proto, types);
    try {
      const auto shape = einsum_shape(node);
      if (shape && !node.outputs[0].shape) {
        found[node.outputs[0].name] = *shape;
      }
    } catch (const std::invalid_argument&) {  // said when layers are made
    }
  }
  bool is_new = false;
  const auto give = [&](onnx::ValueInfoProto& value) {  // wherever it is told of
    const auto shape = found.find(value.name());
    if (shape != found.end()) {
      is_new = true;
      auto& dims = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
      dims.clear_dim();
      for (const std::int64_t extent : shape->second) {
        dims.add_dim()->set_dim_value(extent);
      }
    }
  };
  for (auto* values : {graph.mutable_value_info(), graph.mutable_output()}) {
    std::for_each(values->begin(), values->end(), give);
  }
  return is_new;
}

// The child's half: 'm' and the model, or 'e' and what is wrong.
std::string inferred(onnx::ModelProto& model) {
  try {
    // Each round reaches as far as the next shape that depends on a shape: some per layer. What
    // takes more than this (80 layers at an opset before 14) stays of unknown shape.
    std::int64_t room = 3'000'000;
    for (bool more = true; more && room > 0; room -= model.graph().node_size()) {
      std::unordered_map<std::string, onnx::TensorShapeProto> data;
      onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                         onnx::ShapeInferenceOptions{false, 0, true}, &data);
      more = fold_integers(*model.mutable_graph()) > 0;
      more = know_einsums(*model.mutable_graph()) || more;
    }
    return 'm' + model.SerializeAsString();
  } catch (const std::exception& error) {
    return std::string{"e"} + error.what();
  }
}

// libonnx 1.12 dies on some broken models (a node without its inputs), so a process of its own runs
// the inference.
void infer(onnx::ModelProto& model, const std::string& file) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    fail(file, fmt::format("shapes cannot be inferred: {}", std::strerror(errno)));
  }
  const pid_t child = fork();
  if (child == 0) {
    write_all(ends[1], inferred(model));
    _exit(0);
  }
  close(ends[1]);
  const std::string answer = child > 0 ? read_all(ends[0]) : "";
  close(ends[0]);
  int status = 0;
  const bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
  if (!ended || answer.empty()) {
    fail(file, "shapes cannot be inferred: the model is broken");
  }
  if (answer[0] == 'e' || !model.ParseFromString(answer.substr(1))) {
    fail(file, as_text(fmt::format("shapes cannot be inferred: {}", answer.substr(1))));
  }
}

// Infers shapes; if operators tell nothing, once more with what the file says of their results.
void infer(onnx::ModelProto& model, const std::string& file,
           const std::vector<onnx::ValueInfoProto>& claims) {
  infer(model, file);
  onnx::GraphProto& graph = *model.mutable_graph();
  const TensorTypes types = types_of(graph);
  bool again = false;
  for (const onnx::ValueInfoProto& claim : claims) {
    const auto known = types.find(claim.name());
    if (known != types.end() && known->second.shape) {
      continue;
    }
    again = true;
    for (auto* values : {graph.mutable_value_info(), graph.mutable_output()}) {
      for (auto& value : *values) {
        if (value.name() == claim.name()) {
          value = claim;
        }
      }
    }
    if (known == types.end()) {
      *graph.add_value_info() = claim;
    }
  }
  if (again) {
    infer(model, file);
  }
}

}  // namespace

bool has_onnx() { return true; }

OnnxGraph read_onnx(const std::string& path, const OnnxOptions& options) {
  onnx::ModelProto model = parse(path);
  inline_functions(model, path);
  const Dims dims = fix_dims(*model.mutable_graph(), path, options);
  const auto claims = take_claims(*model.mutable_graph(), dims);
  check_onnx(model, path);
  for (auto& weight : *model.mutable_graph()->mutable_initializer()) {
    drop_values(weight);
  }
  onnx::ModelProto known;
  constexpr int kMostRounds = 16;  // branches that depend on what branches make
  for (int i = 0;
       i == 0 || (i < kMostRounds && take_branches(*model.mutable_graph(), known.graph())); ++i) {
    known = model;
    fit_library(known);
    infer(known, path, claims);
  }
  const TensorTypes types = types_of(known.graph());
  OnnxGraph graph{model.graph().name(), path, {}, dims.batch.value_or(1), dims.stretched};
  for (const auto& proto : model.graph().node()) {
    graph.nodes.push_back(node_of(proto, types));
  }
  return graph;
}

}  // namespace mapsim
