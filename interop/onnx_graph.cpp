// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <unordered_map>

#include "core/diagnostic.hpp"
#include "interop/onnx.hpp"

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

// Gives the dims of the model's inputs their values, and forgets shapes that inference finds again.
void fix_dims(onnx::GraphProto& graph, const std::string& file, const OnnxOptions& options) {
  std::set<std::string> weights, missing;
  for (const auto& weight : graph.initializer()) {
    weights.insert(weight.name());
  }
  for (auto& input : *graph.mutable_input()) {
    if (weights.contains(input.name()) || !input.type().tensor_type().has_shape()) {
      continue;
    }
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int i = 0; i < shape.dim_size(); ++i) {
      auto& dim = *shape.mutable_dim(i);
      const auto given = options.dims.find(dim.dim_param());
      if (given != options.dims.end()) {
        dim.set_dim_value(given->second);
      } else if (!dim.has_dim_value() && i == 0) {
        dim.set_dim_value(options.batch);
      } else if (!dim.has_dim_value()) {
        missing.insert(dim.dim_param().empty() ? fmt::format("{}[{}]", input.name(), i)
                                               : dim.dim_param());
      }
    }
  }
  if (!missing.empty()) {
    fail(file, fmt::format("dims without a value: {}; give each with --dim NAME=N",
                           fmt::join(missing, ", ")));
  }
  graph.clear_value_info();
  for (auto& output : *graph.mutable_output()) {
    output.clear_type();
  }
}

// Shapes may depend on small whole numbers among the constants; nothing depends on the rest.
void drop_values(onnx::TensorProto& tensor) {
  constexpr int kMostNumbers = 4096;
  const bool whole = tensor.data_type() == onnx::TensorProto::INT64 ||
                     tensor.data_type() == onnx::TensorProto::INT32;
  if (!whole || tensor.int64_data_size() > kMostNumbers ||
      tensor.int32_data_size() > kMostNumbers ||
      tensor.raw_data().size() > sizeof(std::int64_t) * kMostNumbers) {
    tensor.clear_raw_data();
    tensor.clear_float_data();
    tensor.clear_double_data();
    tensor.clear_int32_data();
    tensor.clear_int64_data();
    tensor.clear_string_data();
  }
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

// The child's half: 'm' and the model, or 'e' and what is wrong.
std::string inferred(onnx::ModelProto& model) {
  try {
    std::unordered_map<std::string, onnx::TensorShapeProto> data;
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions{false, 0, true}, &data);
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
    fail(file, fmt::format("shapes cannot be inferred: {}", answer.substr(1)));
  }
}

OnnxTensor typed(const onnx::ValueInfoProto& value) {
  OnnxTensor tensor{value.name(), std::nullopt, bits_of(value.type().tensor_type().elem_type())};
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
    types[weight.name()] = {weight.name(),
                            std::vector<std::int64_t>(weight.dims().begin(), weight.dims().end()),
                            bits_of(weight.data_type()), true};
  }
  return types;
}

OnnxNode node_of(const onnx::NodeProto& proto, const TensorTypes& types) {
  const auto find = [&types](const std::string& name) {
    const auto at = types.find(name);
    return at == types.end() ? OnnxTensor{name, std::nullopt, Bits{0}, false} : at->second;
  };
  OnnxNode node;
  node.name = proto.name();
  const bool own = proto.domain().empty() || proto.domain() == "ai.onnx";
  node.op = own ? proto.op_type() : proto.domain() + "." + proto.op_type();
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

}  // namespace

bool has_onnx() { return true; }

OnnxGraph read_onnx(const std::string& path, const OnnxOptions& options) {
  onnx::ModelProto model = parse(path);
  fix_dims(*model.mutable_graph(), path, options);
  for (auto& weight : *model.mutable_graph()->mutable_initializer()) {
    drop_values(weight);
  }
  infer(model, path);
  const TensorTypes types = types_of(model.graph());
  OnnxGraph graph{model.graph().name(), path, {}};
  for (const auto& proto : model.graph().node()) {
    graph.nodes.push_back(node_of(proto, types));
  }
  return graph;
}

}  // namespace mapsim
