// SPDX-License-Identifier: Apache-2.0
#include "workloads/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "core/file_kind.hpp"
#include "core/reader.hpp"
#include "core/shipped.hpp"
#include "workloads/conv.hpp"
#include "workloads/density_load.hpp"
#include "workloads/einsum.hpp"
#include "workloads/gemm.hpp"
#include "workloads/inline_layer.hpp"
#include "workloads/limits.hpp"
#include "workloads/precision.hpp"
#include "workloads/read_workload.hpp"

namespace mapsim {
namespace {

const Words kOperandRoles{"input", "weight"};

// A form reads its part and gives a workload without name and widths, or reports why not.
using Form = std::optional<Workload> (*)(Reader&, const Node&, const LayerDefaults&);
struct NamedForm {
  const char* key;
  Form read;
};

std::int64_t extent(Reader& reader, const Node* node) {
  return reader.integer(node, 1, kMaxExtent).value_or(1);
}

// An extent of an operand of so many axes that is known; 0: it is not.
std::int64_t known_extent(const LayerDefaults& defaults, std::size_t operand, std::size_t axes,
                          std::size_t axis) {
  return operand < defaults.operands.size() && defaults.operands[operand].size() == axes
             ? defaults.operands[operand][axis]
             : 0;
}

// What the file says, else what is known.
std::int64_t extent_or(Reader& reader, const Fields& fields, const LayerDefaults& defaults,
                       const char* key, std::int64_t known) {
  if (!fields.has(key) && !defaults.operands.empty()) {
    if (known == 0) {
      reader.error(fields.node(), fmt::format("'{}' does not follow from what it reads", key));
    }
    return std::max<std::int64_t>(1, known);
  }
  return extent(reader, fields.require(key));
}

void read_padding(Reader& reader, const Fields& fields, ConvShape& shape) {
  const Node* node = fields.find("padding");
  if (node == nullptr || node->kind != Node::Kind::kScalar || node->text != "same") {
    shape.padding = read_pair(reader, node, 0).value_or(shape.padding);
    return;
  }
  for (const std::size_t axis : {0, 1}) {
    if (shape.kernel[axis] % 2 == 0) {
      reader.error(*node,
                   fmt::format("'same' is for odd kernels; give the padding of a kernel of {}",
                               shape.kernel[axis]));
      return;
    }
    shape.padding[axis] = shape.dilation[axis] * (shape.kernel[axis] - 1) / 2;
  }
}

void read_input(Reader& reader, const Fields& fields, const LayerDefaults& defaults,
                ConvShape& shape) {
  if (!fields.has("input") && !fields.has("output") && !defaults.operands.empty()) {
    shape.input = {std::max<std::int64_t>(1, known_extent(defaults, 0, 4, 2)),
                   std::max<std::int64_t>(1, known_extent(defaults, 0, 4, 3))};
    return;  // `in_channels` says it where nothing is known
  }
  if (fields.has("input") == fields.has("output")) {
    reader.error(fields.node(), fields.has("input") ? "give 'input' or 'output', not both"
                                                    : "missing key 'input' (or 'output')");
    return;
  }
  shape.input = read_pair(reader, fields.find("input"), 1).value_or(shape.input);
  if (const auto output = read_pair(reader, fields.find("output"), 1)) {
    shape.input = input_for(shape, *output);
    for (const std::int64_t size : shape.input) {
      if (size < 1) {
        reader.error(fields.place("output"),
                     "so small an output lies wholly in the padding; no input gives it");
        return;
      }
    }
  }
}

// What a factory makes, or its complaint as an error at `node`.
template <class Factory>
std::optional<Workload> made(Reader& reader, const Node& node, const Factory& factory) {
  try {
    return factory();
  } catch (const std::invalid_argument& problem) {
    reader.error(node, problem.what());
    return std::nullopt;
  }
}

std::optional<Workload> read_conv2d(Reader& reader, const Node& node,
                                    const LayerDefaults& defaults) {
  const Fields fields =
      reader.fields(node, {"batch", "in_channels", "out_channels", "input", "output", "kernel",
                           "stride", "dilation", "padding", "groups", "bias", "stored"});
  const std::size_t before = reader.errors();
  ConvShape shape;
  shape.batch = fields.has("batch") ? extent(reader, fields.find("batch"))
                                    : std::max<std::int64_t>(1, known_extent(defaults, 0, 4, 0));
  shape.in_channels =
      extent_or(reader, fields, defaults, "in_channels", known_extent(defaults, 0, 4, 1));
  shape.out_channels = extent(reader, fields.require("out_channels"));
  shape.kernel = read_pair(reader, fields.require("kernel"), 1).value_or(shape.kernel);
  shape.stride = read_pair(reader, fields.find("stride"), 1).value_or(shape.stride);
  shape.dilation = read_pair(reader, fields.find("dilation"), 1).value_or(shape.dilation);
  read_padding(reader, fields, shape);
  read_input(reader, fields, defaults, shape);
  shape.groups = extent(reader, fields.find("groups"));
  shape.bias = reader.boolean(fields.find("bias")).value_or(false);
  shape.stored = reader.integer(fields.find("stored"), 1, kMaxOperations);
  if (reader.errors() > before) {
    return std::nullopt;
  }
  if (const std::optional<ShapeProblem> problem = problem_of(shape)) {
    reader.error(fields.place(problem->key), problem->what);
    return std::nullopt;
  }
  return made(reader, node, [&shape] { return conv2d("", shape); });
}

std::optional<Workload> read_any_gemm(Reader& reader, const Node& node,
                                      const LayerDefaults& defaults, bool batched) {
  const Fields fields = batched ? reader.fields(node, {"batch", "m", "n", "k"})
                                : reader.fields(node, {"m", "n", "k", "bias"});
  const std::size_t before = reader.errors();
  GemmShape shape;
  const std::size_t axes = batched ? 3 : 2;
  if (batched) {
    shape.batch = extent_or(reader, fields, defaults, "batch", known_extent(defaults, 0, axes, 0));
  }
  shape.m = extent_or(reader, fields, defaults, "m", known_extent(defaults, 0, axes, axes - 2));
  shape.n = extent_or(reader, fields, defaults, "n", known_extent(defaults, 1, axes, axes - 1));
  shape.k = extent_or(reader, fields, defaults, "k", known_extent(defaults, 0, axes, axes - 1));
  shape.bias = reader.boolean(fields.find("bias")).value_or(false);
  if (reader.errors() > before) {
    return std::nullopt;
  }
  return made(reader, node, [&shape] { return gemm("", shape); });
}

std::optional<Workload> read_gemm(Reader& reader, const Node& node, const LayerDefaults& defaults) {
  return read_any_gemm(reader, node, defaults, false);
}
std::optional<Workload> read_batched_gemm(Reader& reader, const Node& node,
                                          const LayerDefaults& defaults) {
  return read_any_gemm(reader, node, defaults, true);
}

std::vector<Dim> read_dims(Reader& reader, const Node& node) {
  const std::size_t before = reader.errors();
  std::vector<Dim> dims;
  for (const Entry* entry : reader.entries(node, "a map of dims to bounds")) {
    const std::optional<std::string> name = reader.name(&entry->key);
    const auto bound = reader.integer(&entry->value, 1, kMaxExtent);
    if (name && name->starts_with("gemm_")) {
      reader.error(entry->key, "names with gemm_ are for the axes of a GEMM");
    } else if (name && bound) {
      dims.push_back({*name, *bound});
    }
  }
  if (dims.size() > kMaxDims) {
    reader.error(node, fmt::format("{} dims; at most {}", dims.size(), kMaxDims));
  } else if (dims.empty() && reader.errors() == before) {
    reader.error(node, "no dims");
  }
  return dims;
}

void read_operand_roles(Reader& reader, const Node* node, Workload& workload) {
  if (node == nullptr) {
    return;
  }
  Words operands = names_of(workload.tensors);
  operands.pop_back();
  for (const Entry* entry : reader.entries(*node, "a map of operands to roles")) {
    const auto operand = reader.choice(&entry->key, operands, "operand");
    const auto role = reader.choice(&entry->value, kOperandRoles, "operand role");
    if (operand && role) {
      workload.tensors[static_cast<TensorId>(*operand)].role = static_cast<Role>(*role);
    }
  }
}

std::optional<Workload> read_einsum(Reader& reader, const Node& node, const LayerDefaults&) {
  const Fields fields = reader.fields(node, {"equation", "dims", "roles"});
  const std::size_t before = reader.errors();
  const Node* equation = fields.require("equation");
  const Node* dim_map = fields.require("dims");
  const std::optional<std::string> text = reader.text(equation, "an equation");
  if (dim_map == nullptr || !text) {
    return std::nullopt;
  }
  const std::vector<Dim> dims = read_dims(reader, *dim_map);
  if (reader.errors() > before) {
    return std::nullopt;
  }
  auto parsed = parse_equation(*text, dims);
  if (const auto* problems = std::get_if<std::vector<EquationProblem>>(&parsed)) {
    for (const EquationProblem& problem : *problems) {
      const auto dim = std::ranges::find_if(dim_map->entries, [&problem](const Entry& entry) {
        return entry.key.text == problem.dim;
      });
      if (dim == dim_map->entries.end()) {
        reader.error(*equation, problem.offset, problem.what);
      } else {
        reader.error(dim->key, problem.what);
      }
    }
    return std::nullopt;
  }
  Workload workload = std::get<Workload>(std::move(parsed));
  read_operand_roles(reader, fields.find("roles"), workload);
  return workload;
}

constexpr std::array kShapeForms{NamedForm{"conv2d", read_conv2d}, NamedForm{"gemm", read_gemm},
                                 NamedForm{"batched_gemm", read_batched_gemm},
                                 NamedForm{"einsum", read_einsum}};

// `tensors`: names that a tensor may go by beside its role.
Precision read_widths(Reader& reader, const Node& node, Words keys) {
  Precision precision;
  const std::size_t tensors = keys.size();
  keys.insert(keys.end(), role_words().begin(), role_words().end());
  keys.emplace_back("partial");
  const Fields fields = reader.fields(node, keys);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto bits = reader.quantity(fields.find(keys[i]), parse_size);
    if (!bits) {
      continue;
    }
    if (*bits > kMaxElementBits) {
      reader.error(fields.place(keys[i]), fmt::format("wider than {} b", kMaxElementBits.count()));
    } else if (i < tensors) {
      precision.tensors[keys[i]] = *bits;
    } else if (i < tensors + role_words().size()) {
      precision.roles[static_cast<Role>(i - tensors)] = *bits;
    } else {
      precision.partial = *bits;
    }
  }
  return precision;
}

void read_own_precision(Reader& reader, const Fields& fields, const Precision& otherwise,
                        Workload& workload) {
  const Node* node = fields.find("precision");
  if (!apply(node == nullptr ? otherwise : read_widths(reader, *node, names_of(workload.tensors)),
             workload)) {
    reader.error(node == nullptr ? fields.node() : *node,
                 "partial sums are narrower than the output");
  }
}

// `may_move`: its masks, with the file.
std::optional<Workload> layer_of(Reader& reader, const Fields& fields, const std::string& name,
                                 const LayerDefaults& defaults, bool may_move) {
  std::optional<Workload> workload;
  int forms = 0;
  for (const NamedForm& form : kShapeForms) {
    if (!fields.has(form.key)) {
      continue;
    }
    ++forms;
    if (const Node* node = fields.find(form.key)) {
      workload = form.read(reader, *node, defaults);
    }
  }
  if (forms != 1 && fields.node().kind == Node::Kind::kMap) {
    reader.error(fields.node(), "expected one of conv2d, gemm, batched_gemm, einsum");
  }
  if (workload) {
    workload->name = name;
    read_own_precision(reader, fields, defaults.precision, *workload);
    read_density(reader, fields.find("density"), reader.file(), *workload, may_move);
  }
  return workload;
}

Workload read_workload(const Document& document, bool may_move = false) {
  Reader reader{document};
  Words keys = layer_keys();
  keys.insert(keys.begin(), "name");
  const Fields fields = reader.fields(reader.root(), keys);
  const std::optional<std::string> name = reader.name(fields.require("name"));
  const std::optional<Workload> workload =
      layer_of(reader, fields, name.value_or(""), {}, may_move);
  reader.finish();
  return *workload;
}

}  // namespace

Words layer_keys() {
  Words keys{"precision", "density"};
  for (const NamedForm& form : kShapeForms) {
    keys.emplace_back(form.key);
  }
  return keys;
}

Precision read_default_precision(Reader& reader, const Node* node) {
  return node == nullptr ? Precision{} : read_widths(reader, *node, {});
}

std::optional<HeightWidth> read_pair(Reader& reader, const Node* node, std::int64_t least) {
  if (node == nullptr) {
    return std::nullopt;
  }
  if (node->kind != Node::Kind::kSequence) {
    const std::optional<std::int64_t> value = reader.integer(node, least, kMaxExtent);
    return value ? std::optional{HeightWidth{*value, *value}} : std::nullopt;
  }
  if (node->items.size() != 2) {
    reader.error(*node,
                 fmt::format("expected [height, width], not a list of {}", node->items.size()));
    return std::nullopt;
  }
  const auto height = reader.integer(&node->items[0], least, kMaxExtent);
  const auto width = reader.integer(&node->items[1], least, kMaxExtent);
  return height && width ? std::optional{HeightWidth{*height, *width}} : std::nullopt;
}

std::optional<Workload> read_layer(Reader& reader, const Fields& fields, const std::string& name,
                                   const LayerDefaults& defaults) {
  return layer_of(reader, fields, name, defaults, false);
}

std::optional<Workload> read_layer_or_file(Reader& reader, const Document& document,
                                           const Fields& fields, const std::string& name,
                                           const LayerDefaults& defaults, std::string& path) {
  if (!fields.has("workload")) {
    return read_layer(reader, fields, name, defaults);
  }
  for (const std::string& key : layer_keys()) {
    if (fields.has(key)) {
      reader.error(fields.place(key), fmt::format("'{}' is said by the file of 'workload'", key));
    }
  }
  const auto file = reader.text(fields.find("workload"), "the file of a workload");
  if (!file) {
    return std::nullopt;
  }
  path = find_named(std::filesystem::path{document.file}.parent_path().string(), *file,
                    FileKind::kWorkload, defaults.configs);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    reader.error(fields.place("workload"), fmt::format("no such file: {}", mapsim::quoted(path)));
    return std::nullopt;
  }
  return load_workload(path);
}

Workload load_workload(const std::string& path) {
  if (is_inline_layer(path)) {
    return read_workload(inline_layer(path));
  }
  return read_workload(read_yaml(checked_file(path, {FileKind::kWorkload})));
}

Workload parse_workload(const std::string& text, const std::string& filename) {
  return read_workload(parse_yaml(text, filename));
}

Workload parse_proven_workload(const std::string& text, const std::string& filename) {
  return read_workload(parse_yaml(text, filename), true);
}

}  // namespace mapsim
