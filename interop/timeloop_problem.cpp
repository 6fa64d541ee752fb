// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <variant>

#include "interop/foreign_yaml.hpp"
#include "workloads/einsum.hpp"
#include "workloads/precision.hpp"

namespace mapsim {

namespace {

struct DataSpace {
  std::string name;
  std::string text;  // Outputs[N][K][P][Q]
  bool written = false;
};

// What the front end keeps of a layer that its shape has no use for.
constexpr std::array kOfTheLayer{"H", "W", "Hpad", "Wpad"};

// What describes a problem, beside `shape` and `instance`.
constexpr std::array kDescriptions{"name", "notes", "dnn_name", "histograms"};

// Shapes that Timeloop brings along, by the names of their files (problem-shapes). The output is
// the last of their data spaces. RP is a window: R times its dilation, P times its stride.
struct BuiltInSpace {
  std::string_view name;
  std::array<std::string_view, 4> ranks;
};
struct BuiltInShape {
  std::string_view name;
  std::string_view dims;
  std::array<BuiltInSpace, 3> spaces;
};
constexpr std::array kShapes{
    BuiltInShape{"cnn_layer",
                 "RSPQCKN",
                 {BuiltInSpace{"Weights", {"C", "K", "R", "S"}},
                  BuiltInSpace{"Inputs", {"N", "C", "RP", "SQ"}},
                  BuiltInSpace{"Outputs", {"N", "K", "Q", "P"}}}},
    BuiltInShape{"gemm_ABZ",
                 "MNK",
                 {BuiltInSpace{"A", {"M", "K"}}, BuiltInSpace{"B", {"N", "K"}},
                  BuiltInSpace{"Z", {"M", "N"}}}}};

// The first of several spellings of a key that is there.
const Node* find_any(const Fields& fields, const Words& spellings) {
  for (const std::string& key : spellings) {
    if (fields.has(key)) {
      return fields.find(key);
    }
  }
  return nullptr;
}

class ProblemReader {
 public:
  ProblemReader(Reader& reader, const Node& section, ImportNotes& notes)
      : reader_{reader}, section_{section}, notes_{notes} {}

  std::optional<Workload> read(Bits bits) {
    const std::size_t before = reader_.errors();
    const Node* shape = value_of(section_, "shape");
    if (shape == nullptr || shape->kind != Node::Kind::kMap) {
      return read_built_in(shape, bits);
    }
    read_shape(*shape);
    read_instance();
    if (reader_.errors() > before) {
      return std::nullopt;
    }
    return build(*shape, read_spaces(), bits);
  }

 private:
  // A shape that Timeloop finds by its name; without one it takes the layer of a convolutional
  // network.
  std::optional<Workload> read_built_in(const Node* shape, Bits bits) {
    const std::size_t before = reader_.errors();
    std::string name = shape == nullptr ? "cnn_layer" : shape->text;
    std::replace(name.begin(), name.end(), '-', '_');
    const auto known = std::find_if(kShapes.begin(), kShapes.end(),
                                    [&](const BuiltInShape& each) { return name == each.name; });
    if (known == kShapes.end()) {
      reader_.error(
          shape != nullptr ? *shape : section_,
          fmt::format("the shape {} is not known here; expected a map with dimensions and "
                      "data_spaces, or one of the names cnn_layer and gemm_ABZ",
                      shape != nullptr ? describe(*shape) : "left out"));
      return std::nullopt;
    }
    name_ = name;
    for (const char dim : known->dims) {
      dims_.push_back({std::string{dim}, 1});
    }
    if (name == "cnn_layer") {
      coefficients_ = {{"Wstride", 1}, {"Hstride", 1}, {"Wdilation", 1}, {"Hdilation", 1}};
    }
    read_instance();
    if (reader_.errors() > before) {
      return std::nullopt;
    }
    std::vector<DataSpace> spaces;
    for (const BuiltInSpace& space : known->spaces) {
      std::string text{space.name};
      for (const std::string_view rank : space.ranks) {
        if (rank.empty()) {
          continue;
        }
        const char axis = rank[0] == 'R' ? 'W' : 'H';
        std::vector<Product> products{{std::string{rank[0]}}};
        if (rank.size() > 1) {
          products.front().coefficient = coefficients_[std::string{axis} + "dilation"];
          products.push_back({std::string{rank[1]}, coefficients_[std::string{axis} + "stride"]});
        }
        text += rank_text(section_, std::string{space.name}, products);
      }
      spaces.push_back({std::string{space.name}, text, &space == &known->spaces.back()});
    }
    return build(section_, spaces, bits);
  }

  struct Product {
    std::string dim;
    std::int64_t coefficient = 1;
  };
  // [2*P+R]. A coefficient of 0 matters only along a dim of several points: there the tensor does
  // not move, as in Timeloop.
  std::string rank_text(const Node& node, const std::string& tensor,
                        const std::vector<Product>& products) {
    Words terms;
    for (const Product& product : products) {
      const auto dim = std::find_if(dims_.begin(), dims_.end(), [&](const Dim& candidate) {
        return candidate.name == product.dim;
      });
      if (product.coefficient == 0 && dim != dims_.end() && dim->bound > 1) {
        notes_.lines.push_back(
            fmt::format("{} does not move along {}, whose coefficient is 0", tensor, product.dim));
      } else {
        terms.push_back(product.coefficient <= 1
                            ? product.dim
                            : fmt::format("{}*{}", product.coefficient, product.dim));
      }
    }
    if (terms.empty() && !products.empty()) {
      reader_.error(
          node,
          fmt::format("all coefficients of a rank of {} are 0; leave out the rank if it has one "
                      "value, or give it a coefficient of 1 or more",
                      tensor));
    }
    return fmt::format("[{}]", fmt::join(terms, "+"));
  }

  void read_shape(const Node& shape) {
    const Fields fields = reader_.fields(shape, {"name", "version", "dimensions", "coefficients",
                                                 "data_spaces", "data-spaces", "dataSpaces"});
    // The front end writes an empty name where there is none.
    if (const Node* name = value_of(shape, "name"); name != nullptr && !name->text.empty()) {
      name_ = reader_.name(fields.find("name")).value_or("");
    }
    if (const Node* list = fields.require("dimensions")) {
      for (const Node* item : reader_.items(*list, "a list of dimensions")) {
        if (const auto dim = reader_.name(item)) {
          dims_.push_back({*dim, 1});
        }
      }
    }
    const Node* list = fields.find("coefficients");
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      const Fields item = reader_.fields(list->items[i], {"name", "default"});
      const auto coefficient = reader_.name(item.require("name"));
      if (coefficient) {
        coefficients_[*coefficient] = read_whole(reader_, item.find("default"), 0).value_or(1);
      }
    }
    spaces_ = find_any(fields, {"data_spaces", "data-spaces", "dataSpaces"});
    if (spaces_ == nullptr) {
      reader_.error(shape, "missing key 'data_spaces'");
    }
  }

  // What stands beside `instance`, where Timeloop reads no size.
  void check_beside() {
    Words known{"shape", "instance", "version"};
    for (const Entry* entry : reader_.entries(section_, "a problem")) {
      const std::string& key = entry->key.text;
      if (std::find(kDescriptions.begin(), kDescriptions.end(), key) != kDescriptions.end()) {
        notes_.trifles.push_back({"ignored keys of the problem", key, ""});
      } else if (std::find(known.begin(), known.end(), key) == known.end()) {
        reader_.error(
            entry->key,
            is_size(key)
                ? fmt::format("{} beside 'instance', under which alone Timeloop reads sizes: put "
                              "it there, or leave it out",
                              quoted(key))
                : fmt::format("unknown key {} of a problem{}", quoted(key),
                              suggestion(key, known)));
      }
    }
  }

  // A key of `instance`?
  bool is_size(const std::string& key) const {
    return key == "densities" || key == "commonDensity" || coefficients_.contains(key) ||
           std::any_of(dims_.begin(), dims_.end(),
                       [&](const Dim& candidate) { return candidate.name == key; });
  }

  // Sizes of dims and values of coefficients: under `instance`, or beside `shape`.
  void read_instance() {
    const Node* instance = value_of(section_, "instance");
    if (instance != nullptr) {
      check_beside();
    }
    for (const Entry* entry :
         reader_.entries(instance != nullptr ? *instance : section_, "a map of sizes")) {
      const std::string& key = entry->key.text;
      if ((instance == nullptr && (key == "shape" || key == "version")) || key == "densities" ||
          key == "commonDensity") {  // timeloop_sparse.hpp
        continue;
      }
      const auto dim = std::find_if(dims_.begin(), dims_.end(),
                                    [&](const Dim& candidate) { return candidate.name == key; });
      const auto coefficient = coefficients_.find(key);
      if (dim != dims_.end()) {
        dim->bound = read_whole(reader_, &entry->value, 1).value_or(1);
        sized_.push_back(key);
      } else if (coefficient != coefficients_.end()) {
        coefficient->second = read_whole(reader_, &entry->value, 0).value_or(1);
      } else if (std::find(kOfTheLayer.begin(), kOfTheLayer.end(), key) != kOfTheLayer.end()) {
        notes_.trifles.push_back(
            {"ignored sizes of the layer, which are in no projection", key, ""});
      } else {
        Words known = names_of(dims_);
        for (const auto& coefficient_of : coefficients_) {
          known.push_back(coefficient_of.first);
        }
        reader_.error(entry->key,
                      fmt::format("{} is neither a dimension nor a coefficient of the shape{}",
                                  quoted(key), suggestion(key, known)));
      }
    }
    for (const Dim& dim : dims_) {
      if (std::find(sized_.begin(), sized_.end(), dim.name) == sized_.end()) {
        reader_.error(instance != nullptr ? *instance : section_,
                      fmt::format("no size for dimension {}", quoted(dim.name)));
      }
    }
  }

  // [DIM] or [DIM, COEFFICIENT]
  Product read_term(const std::vector<const Node*>& items) {
    Product product;
    for (const Node* item : items) {
      const std::string word = item->kind == Node::Kind::kScalar ? item->text : "";
      const auto known = coefficients_.find(word);
      if (known != coefficients_.end()) {
        product.coefficient *= known->second;
      } else if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
        product.coefficient *= read_whole(reader_, item, 1).value_or(1);
      } else if (product.dim.empty() &&
                 std::any_of(dims_.begin(), dims_.end(),
                             [&](const Dim& candidate) { return candidate.name == word; })) {
        product.dim = word;
      } else {
        reader_.error(*item, fmt::format("a term is one dimension and coefficients of the shape, "
                                         "not {}",
                                         describe(*item)));
      }
    }
    return product;
  }

  DataSpace read_space(const Node& node) {
    const Fields fields = reader_.fields(node, {"name", "projection", "read_write", "read-write"});
    DataSpace space;
    space.name = reader_.name(fields.require("name")).value_or("");
    space.written = read_foreign_boolean(reader_, find_any(fields, {"read_write", "read-write"}))
                        .value_or(false);
    space.text = space.name;
    const Node* ranks = fields.require("projection");
    if (ranks == nullptr) {
      return space;
    }
    for (const Node* rank : reader_.items(*ranks, "a list of ranks")) {
      std::vector<Product> products;
      if (rank->kind == Node::Kind::kScalar) {  // [M, K] is [[[M]], [[K]]]
        products.push_back(read_term({rank}));
      } else {
        for (const Node* term : reader_.items(*rank, "a list of terms")) {
          products.push_back(read_term(reader_.items(*term, "a term: [DIM, COEFFICIENT]")));
        }
      }
      space.text += rank_text(*rank, space.name, products);
    }
    return space;
  }

  std::vector<DataSpace> read_spaces() {
    std::vector<DataSpace> spaces;
    for (const Node* item : reader_.items(*spaces_, "a list of data spaces")) {
      spaces.push_back(read_space(*item));
      if (spaces.back().written &&
          std::any_of(spaces.begin(), spaces.end() - 1,
                      [](const DataSpace& each) { return each.written; })) {
        reader_.error(*item, "a second data space with read_write; one is the output");
      }
    }
    return spaces;
  }

  std::optional<Workload> build(const Node& shape, const std::vector<DataSpace>& spaces,
                                Bits bits) {
    std::vector<std::string> operands;
    std::map<std::string, Role> roles;
    std::string output;
    for (const DataSpace& space : spaces) {
      if (!space.written) {
        operands.push_back(space.text);
        roles[space.name] = role_of(space.name, operands.size() == 1);
      } else {
        output = space.text;
      }
    }
    if (output.empty() && reader_.errors() == 0) {
      reader_.error(spaces_ != nullptr ? *spaces_ : shape,
                    "no data space with read_write: there is no output");
    }
    if (reader_.errors() > 0) {
      return std::nullopt;
    }
    auto parsed =
        parse_equation(fmt::format("{} += {}", output, fmt::join(operands, " * ")), dims_);
    if (const auto* problems = std::get_if<std::vector<EquationProblem>>(&parsed)) {
      for (const EquationProblem& problem : *problems) {
        reader_.error(shape, problem.what);
      }
      return std::nullopt;
    }
    Workload workload = std::get<Workload>(std::move(parsed));
    workload.name = name_.empty() ? "problem" : name_;
    for (Tensor& tensor : workload.tensors) {
      const auto role = roles.find(tensor.name);
      tensor.role = role == roles.end() ? Role::kOutput : role->second;
    }
    Precision precision;
    for (const Tensor& tensor : workload.tensors) {
      precision.tensors[tensor.name] = bits;
    }
    apply(precision, workload);
    return workload;
  }

  // By the names that are usual; else the first operand is the input.
  static Role role_of(const std::string& name, bool first) {
    const auto begins = [&](std::string_view word) {
      return std::equal(
          word.begin(), word.end(), name.begin(),
          name.begin() + static_cast<std::ptrdiff_t>(std::min(word.size(), name.size())),
          [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
    };
    if (begins("weight") || begins("filter")) {
      return Role::kWeight;
    }
    return begins("input") || begins("ifmap") || first ? Role::kInput : Role::kWeight;
  }

  Reader& reader_;
  const Node& section_;
  ImportNotes& notes_;
  std::string name_;
  std::vector<Dim> dims_;
  std::vector<std::string> sized_;
  std::map<std::string, std::int64_t> coefficients_;
  const Node* spaces_ = nullptr;
};

}  // namespace

std::optional<Workload> read_timeloop_problem(Reader& reader, const Node& section, Bits bits,
                                              ImportNotes& notes) {
  return ProblemReader{reader, section, notes}.read(bits);
}

}  // namespace mapsim
