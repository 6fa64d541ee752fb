// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "interop/onnx_model.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kBytesOfPart = 64;  // values of so many bytes cost as much as a message

// Reads the messages one inside the other. Field numbers: onnx.proto.
class ModelParser {
 public:
  Model model(std::string_view bytes);

 private:
  ModelTensor tensor(std::string_view bytes);
  ModelTensor sparse_tensor(std::string_view bytes);
  ModelAttribute attribute(std::string_view bytes);
  ModelNode node(std::string_view bytes);
  ModelGraph graph(std::string_view bytes);
  ModelFunction function(std::string_view bytes);
  ModelValue value(std::string_view bytes);
  void type(std::string_view bytes, ModelValue& value);
  void tensor_type(std::string_view bytes, ModelValue& value);
  std::vector<ModelDim> shape(std::string_view bytes);
  std::pair<std::string, std::int64_t> opset(std::string_view bytes);

  // Calls `take` with each field of a message.
  template <class Take>
  void read(std::string_view bytes, const Take& take) {
    if (++parts_ > kMostOnnxParts || depth_ == kDeepestOnnxPart) {
      throw WireError{"too many messages, or too deep"};
    }
    ++depth_;
    for (WireReader reader{bytes}; !reader.at_end();) {
      take(reader.next());
    }
    --depth_;
  }

  std::size_t parts_ = 0;
  int depth_ = 0;
};

ModelTensor ModelParser::tensor(std::string_view bytes) {
  ModelTensor tensor;
  read(bytes, [&tensor](const WireField& field) {
    switch (field.number()) {
      case 1:
        field.append(tensor.dims, kMostOnnxNumbers);
        break;
      case 2:
        tensor.type = static_cast<int>(field.integer());
        break;
      case 4:   // float_data
      case 5:   // int32_data
      case 7:   // int64_data
      case 9:   // raw_data
      case 10:  // double_data
      case 11:  // uint64_data
        if (tensor.data.size() <= kMostOnnxNumbers) {
          tensor.data.push_back(field);
        }
        break;
      case 8:
        tensor.name = field.text();
        break;
      case 14:
        tensor.outside = field.integer() == 1;
        break;
      default:
        break;
    }
  });
  return tensor;
}

// Its shape is that of the whole, its name that of its values, which are not looked at.
ModelTensor ModelParser::sparse_tensor(std::string_view bytes) {
  ModelTensor sparse;
  std::vector<std::int64_t> dims;
  read(bytes, [&](const WireField& field) {
    if (field.number() == 1) {
      sparse = tensor(field.bytes());
    } else if (field.number() == 3) {
      field.append(dims, kMostOnnxNumbers);
    }
  });
  sparse.dims = dims;
  sparse.data.clear();
  sparse.outside = true;
  return sparse;
}

ModelAttribute ModelParser::attribute(std::string_view bytes) {
  ModelAttribute attribute;
  int seen = 0;  // the type that the value shows: the oldest files give none
  read(bytes, [&](const WireField& field) {
    constexpr std::array<int, 12> kTypes{0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    seen = field.number() < kTypes.size() && kTypes[field.number()] != 0 ? kTypes[field.number()]
                                                                         : seen;
    switch (field.number()) {
      case 1:
        attribute.name = field.text();
        break;
      case 2:
        attribute.real = field.real();
        break;
      case 3:
        attribute.integer = field.integer();
        break;
      case 4:
        attribute.text = field.text();
        break;
      case 5:
      case 10:
        attribute.tensors.push_back(tensor(field.bytes()));
        break;
      case 6:
      case 11:
        attribute.graphs.push_back(graph(field.bytes()));
        break;
      case 7:
        field.append(attribute.reals, kMostOnnxNumbers + 1);
        break;
      case 8:
        field.append(attribute.integers, kMostOnnxNumbers + 1);
        break;
      case 20:
        attribute.type = static_cast<int>(field.integer());
        break;
      case 21:
        attribute.reference = field.text();
        break;
      case 22:  // sparse_tensor
        attribute.tensors.push_back(sparse_tensor(field.bytes()));
        break;
      default:
        break;
    }
  });
  attribute.type = attribute.type == 0 ? seen : attribute.type;
  parts_ += (attribute.text.size() + 8 * attribute.integers.size() + 4 * attribute.reals.size()) /
            kBytesOfPart;
  return attribute;
}

ModelNode ModelParser::node(std::string_view bytes) {
  const std::size_t before = parts_;
  ModelNode node;
  read(bytes, [&](const WireField& field) {
    switch (field.number()) {
      case 1:
        node.inputs.push_back(field.text());
        break;
      case 2:
        node.outputs.push_back(field.text());
        break;
      case 3:
        node.name = field.text();
        break;
      case 4:
        node.op = field.text();
        break;
      case 5:
        node.attributes.push_back(attribute(field.bytes()));
        break;
      case 7:
        node.domain = field.text();
        break;
      case 8:
        node.overload = field.text();
        break;
      default:
        break;
    }
  });
  for (const auto* names : {&node.inputs, &node.outputs}) {
    for (const std::string& name : *names) {
      parts_ += name.size() / kBytesOfPart;
    }
  }
  node.parts = parts_ - before;
  return node;
}

std::vector<ModelDim> ModelParser::shape(std::string_view bytes) {
  std::vector<ModelDim> dims;
  read(bytes, [&](const WireField& field) {
    if (field.number() == 1) {
      ModelDim& dim = dims.emplace_back();
      read(field.bytes(), [&dim](const WireField& part) {
        if (part.number() == 1) {
          dim = {std::max<std::int64_t>(part.integer(), -1), ""};
        } else if (part.number() == 2) {
          dim = {-1, part.text()};
        }
      });
    }
  });
  return dims;
}

void ModelParser::tensor_type(std::string_view bytes, ModelValue& value) {
  read(bytes, [&](const WireField& field) {
    if (field.number() == 1) {
      value.type = static_cast<int>(field.integer());
    } else if (field.number() == 2) {
      value.shape = shape(field.bytes());
    }
  });
}

// Of a tensor (1), a sparse one (8), or a sequence (4) or an option (9) of tensors.
void ModelParser::type(std::string_view bytes, ModelValue& value) {
  read(bytes, [&](const WireField& field) {
    if (field.number() == 1 || field.number() == 8) {
      tensor_type(field.bytes(), value);
    } else if (field.number() == 4 || field.number() == 9) {
      value.sequence = true;
      read(field.bytes(), [&](const WireField& element) {
        if (element.number() == 1) {
          type(element.bytes(), value);
        }
      });
    }
  });
}

ModelValue ModelParser::value(std::string_view bytes) {
  ModelValue value;
  read(bytes, [&](const WireField& field) {
    if (field.number() == 1) {
      value.name = field.text();
    } else if (field.number() == 2) {
      type(field.bytes(), value);
    }
  });
  return value;
}

ModelGraph ModelParser::graph(std::string_view bytes) {
  ModelGraph graph;
  read(bytes, [&](const WireField& field) {
    switch (field.number()) {
      case 1:
        graph.nodes.push_back(node(field.bytes()));
        break;
      case 2:
        graph.name = field.text();
        break;
      case 5:
        graph.constants.push_back(tensor(field.bytes()));
        break;
      case 11:
        graph.inputs.push_back(value(field.bytes()));
        break;
      case 12:
        graph.outputs.push_back(value(field.bytes()));
        break;
      case 13:
        graph.values.push_back(value(field.bytes()));
        break;
      case 15:
        graph.constants.push_back(sparse_tensor(field.bytes()));
        break;
      default:
        break;
    }
  });
  return graph;
}

std::pair<std::string, std::int64_t> ModelParser::opset(std::string_view bytes) {
  std::pair<std::string, std::int64_t> opset{"", 0};
  read(bytes, [&opset](const WireField& field) {
    if (field.number() == 1) {
      opset.first = field.text() == "ai.onnx" ? "" : field.text();
    } else if (field.number() == 2) {
      opset.second = field.integer();
    }
  });
  return opset;
}

ModelFunction ModelParser::function(std::string_view bytes) {
  ModelFunction function;
  read(bytes, [&](const WireField& field) {
    switch (field.number()) {
      case 1:
        function.name = field.text();
        break;
      case 4:
        function.inputs.push_back(field.text());
        break;
      case 5:
        function.outputs.push_back(field.text());
        break;
      case 7:
        function.nodes.push_back(node(field.bytes()));
        break;
      case 9:
        function.opsets.insert(opset(field.bytes()));
        break;
      case 10:
        function.domain = field.text();
        break;
      case 11:
        function.defaults.push_back(attribute(field.bytes()));
        break;
      case 13:
        function.overload = field.text();
        break;
      default:
        break;
    }
  });
  return function;
}

Model ModelParser::model(std::string_view bytes) {
  Model model;
  bool has_graph = false;
  read(bytes, [&](const WireField& field) {
    switch (field.number()) {
      case 1:
        model.ir_version = field.integer();
        break;
      case 7:
        model.graph = graph(field.bytes());
        has_graph = true;
        break;
      case 8:
        model.opsets.insert(opset(field.bytes()));
        break;
      case 25:
        model.functions.push_back(function(field.bytes()));
        break;
      default:
        break;
    }
  });
  if (!has_graph || model.ir_version < 1) {
    throw WireError{"no model"};
  }
  return model;
}

}  // namespace

const ModelAttribute* ModelNode::find(std::string_view attribute) const {
  const auto at =
      std::find_if(attributes.begin(), attributes.end(),
                   [&](const ModelAttribute& candidate) { return candidate.name == attribute; });
  return at == attributes.end() ? nullptr : &*at;
}

Model parse_model(std::string_view bytes) { return ModelParser{}.model(bytes); }

std::string_view onnx_attribute_type(int type) {
  constexpr std::array<std::string_view, 15> kNames{
      "UNDEFINED",      "FLOAT",      "INT",        "STRING",  "TENSOR", "GRAPH",
      "FLOATS",         "INTS",       "STRINGS",    "TENSORS", "GRAPHS", "SPARSE_TENSOR",
      "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
  return type >= 0 && type < static_cast<int>(kNames.size())
             ? kNames[static_cast<std::size_t>(type)]
             : "no known type";
}

}  // namespace mapsim
