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
      reader_.error(shape != nullptr ? *shape : section_,
                    "expected 'shape' with dimensions and data_spaces; the built-in shapes of old "
                    "versions are not known here");
      return std::nullopt;
    }
    read_shape(*shape);
    read_instance();
    if (reader_.errors() > before) {
      return std::nullopt;
    }
    return build(*shape, bits);
  }

 private:
  void read_shape(const Node& shape) {
    const Fields fields = reader_.fields(shape, {"name", "version", "dimensions", "coefficients",
                                                 "data_spaces", "data-spaces", "dataSpaces"});
    if (fields.has("name")) {
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
        coefficients_[*coefficient] = read_whole(reader_, item.find("default"), 1).value_or(1);
      }
    }
    spaces_ = find_any(fields, {"data_spaces", "data-spaces", "dataSpaces"});
    if (spaces_ == nullptr) {
      reader_.error(shape, "missing key 'data_spaces'");
    }
  }

  // Sizes of dims and values of coefficients: under `instance`, or beside `shape`.
  void read_instance() {
    const Node* instance = value_of(section_, "instance");
    for (const Entry* entry :
         reader_.entries(instance != nullptr ? *instance : section_, "a map of sizes")) {
      const std::string& key = entry->key.text;
      const bool empty = entry->value.kind == Node::Kind::kMap && entry->value.entries.empty();
      if ((instance == nullptr && (key == "shape" || key == "version")) ||
          (key == "densities" && empty)) {
        continue;
      }
      const auto dim = std::find_if(dims_.begin(), dims_.end(),
                                    [&](const Dim& candidate) { return candidate.name == key; });
      const auto coefficient = coefficients_.find(key);
      if (dim != dims_.end()) {
        dim->bound = read_whole(reader_, &entry->value, 1).value_or(1);
        sized_.push_back(key);
      } else if (coefficient != coefficients_.end()) {
        coefficient->second = read_whole(reader_, &entry->value, 1).value_or(1);
      } else if (std::find(kOfTheLayer.begin(), kOfTheLayer.end(), key) != kOfTheLayer.end()) {
        notes_.trifles.push_back(
            {"no part in counts, sizes of the layer in no projection", key, ""});
      } else {
        reader_.error(
            entry->key,
            fmt::format("{} is neither a dimension nor a coefficient of the shape{}", quoted(key),
                        key == "densities"
                            ? "; densities count in Timeloop only with optimisations of sparse "
                              "tensors, which are not known here"
                            : ""));
      }
    }
    for (const Dim& dim : dims_) {
      if (std::find(sized_.begin(), sized_.end(), dim.name) == sized_.end()) {
        reader_.error(instance != nullptr ? *instance : section_,
                      fmt::format("no size for dimension {}", quoted(dim.name)));
      }
    }
  }

  // [DIM] or [DIM, COEFFICIENT] -> DIM or 2*DIM
  std::string read_term(const Node& node) {
    const std::vector<const Node*> items = reader_.items(node, "a term: [DIM, COEFFICIENT]");
    std::int64_t coefficient = 1;
    std::string dim;
    for (const Node* item : items) {
      const std::string word = item->kind == Node::Kind::kScalar ? item->text : "";
      const auto known = coefficients_.find(word);
      if (known != coefficients_.end()) {
        coefficient *= known->second;
      } else if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
        coefficient *= read_whole(reader_, item, 1).value_or(1);
      } else if (dim.empty() && std::any_of(dims_.begin(), dims_.end(), [&](const Dim& candidate) {
                   return candidate.name == word;
                 })) {
        dim = word;
      } else {
        reader_.error(*item, fmt::format("a term is one dimension and coefficients of the shape, "
                                         "not {}",
                                         describe(*item)));
      }
    }
    return coefficient == 1 ? dim : fmt::format("{}*{}", coefficient, dim);
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
      std::vector<std::string> terms;
      for (const Node* term : reader_.items(*rank, "a list of terms")) {
        terms.push_back(read_term(*term));
      }
      space.text += fmt::format("[{}]", fmt::join(terms, "+"));
    }
    return space;
  }

  std::optional<Workload> build(const Node& shape, Bits bits) {
    std::vector<std::string> operands;
    std::map<std::string, Role> roles;
    std::string output;
    const std::size_t before = reader_.errors();
    for (const Node* item : reader_.items(*spaces_, "a list of data spaces")) {
      const DataSpace space = read_space(*item);
      if (!space.written) {
        operands.push_back(space.text);
        roles[space.name] = role_of(space.name, operands.size() == 1);
      } else if (output.empty()) {
        output = space.text;
      } else {
        reader_.error(*item, "a second data space with read_write; one is the output");
      }
    }
    if (output.empty() && reader_.errors() == before) {
      reader_.error(*spaces_, "no data space with read_write: there is no output");
    }
    if (reader_.errors() > before) {
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
