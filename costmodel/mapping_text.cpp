// SPDX-License-Identifier: Apache-2.0
#include "costmodel/mapping_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "core/file_kind.hpp"
#include "core/reader.hpp"
#include "workloads/form.hpp"

namespace mapsim {
namespace {

const Words kKinds{"keep", "for", "parallel"};
const Words kAxes{"X", "Y"};  // in the order of Axis

class Printer {
 public:
  Printer(const Arch& arch, const Workload& workload) : arch_{arch}, workload_{workload} {}

  std::string operator()(const Keep& keep) const {
    Words names;
    for (const TensorId t : workload_.tensors.ids()) {
      if (keep.tensors.contains(t)) {
        names.push_back(workload_.tensors[t].name);
      }
    }
    return fmt::format("keep {}: [{}]", arch_.levels[keep.level].name, fmt::join(names, ", "));
  }
  std::string operator()(const Temporal& loop) const {
    return fmt::format("for {}: {}", workload_.dims[loop.dim].name, loop.extent);
  }
  std::string operator()(const Parallel& loop) const {
    return fmt::format("parallel {}: {} over {} of {}", workload_.dims[loop.dim].name, loop.extent,
                       to_string(loop.axis), arch_.fanouts[loop.fanout].name);
  }

 private:
  const Arch& arch_;
  const Workload& workload_;
};

class MappingReader {
 public:
  MappingReader(Reader& reader, const Arch& arch, const Workload& workload)
      : reader_{reader},
        levels_{names_of(arch.levels)},
        fanouts_{names_of(arch.fanouts)},
        dims_{names_of(workload.dims)},
        tensors_{names_of(workload.tensors)} {}

  // One node: a map with one entry, `KIND NAME: value`. Nothing, if an error has been reported.
  std::optional<MappingNode> read(const Node& node) {
    const std::vector<const Entry*> entries =
        reader_.entries(node, "a node like 'for DIM: EXTENT'");
    if (node.entries.size() > 1) {
      reader_.error(node, "a node has one entry; begin each with '-'");
      return std::nullopt;
    }
    if (node.kind == Node::Kind::kMap && node.entries.empty()) {
      reader_.error(node, "a node has one entry, like 'for DIM: EXTENT', not none");
    }
    if (entries.empty()) {
      return std::nullopt;
    }
    const auto& [key, value] = *entries.front();
    const std::vector<NodeWord> words = words_of(key.text);
    const std::string kind = words.empty() ? "" : words[0].text;
    const std::optional<std::size_t> known = reader_.choice_in(key, 0, kind, kKinds, "node");
    if (!known) {
      return std::nullopt;
    }
    if (words.size() != 2) {
      reader_.error(key, fmt::format("expected '{} {}', not {}", kind,
                                     *known == 0 ? "LEVEL" : "DIM", quoted(key.text)));
      return std::nullopt;
    }
    switch (*known) {
      case 0:
        return read_keep(key, words[1], value);
      case 1:
        return read_temporal(key, words[1], value);
      default:
        return read_parallel(key, words[1], value);
    }
  }

 private:
  std::optional<MappingNode> read_keep(const Node& key, const NodeWord& level, const Node& value) {
    const auto id = reader_.choice_in(key, level.offset, level.text, levels_, "level");
    Keep keep;
    for (const std::size_t tensor : reader_.choice_list(&value, tensors_, "tensor")) {
      keep.tensors.insert(static_cast<TensorId>(tensor));
    }
    if (!id) {
      return std::nullopt;
    }
    keep.level = static_cast<LevelId>(*id);
    return keep;
  }

  std::optional<DimId> read_dim(const Node& key, const NodeWord& dim) {
    const auto id = reader_.choice_in(key, dim.offset, dim.text, dims_, "dim");
    return id ? std::optional{static_cast<DimId>(*id)} : std::nullopt;
  }

  std::optional<MappingNode> read_temporal(const Node& key, const NodeWord& word,
                                           const Node& value) {
    const std::optional<DimId> dim = read_dim(key, word);
    const auto extent = reader_.integer(&value, 1, kMaxInteger);
    if (!dim || !extent) {
      return std::nullopt;
    }
    return Temporal{*dim, *extent};
  }

  // EXTENT over AXIS of FANOUT
  std::optional<MappingNode> read_parallel(const Node& key, const NodeWord& word,
                                           const Node& value) {
    const std::optional<DimId> dim = read_dim(key, word);
    std::optional<Parallel> loop = read_over(reader_, value, fanouts_);
    if (!dim || !loop) {
      return std::nullopt;
    }
    loop->dim = *dim;
    return *loop;
  }

  Reader& reader_;
  Words levels_;
  Words fanouts_;
  Words dims_;
  Words tensors_;
};

Form read_form(Reader& reader, const Fields& fields) {
  const Node* node = fields.find("form");
  if (node == nullptr) {
    return {};
  }
  const std::optional<std::string> text = reader.text(node, "a form");
  const std::optional<Form> form = text ? parse_form(*text) : std::nullopt;
  if (text && !form) {
    reader.error(*node, fmt::format("no form '{}'; one of {}", *text, kFormWords));
  }
  return form.value_or(Form{});
}

Mapping read_mapping(const Document& document, const Arch& arch, const Workload& workload) {
  Reader reader{document};
  const Fields fields = reader.fields(reader.root(), {"form", "mapping"});
  if (const Form form = read_form(reader, fields); form != workload.form) {
    reader.error(fields.place("form"),
                 fmt::format("the mapping is of the form {}, the workload of the form {}",
                             to_string(form), to_string(workload.form)));
  }
  Mapping mapping;
  if (const Node* list = fields.require("mapping")) {
    MappingReader node_reader{reader, arch, workload};
    const std::vector<const Node*> items = reader.items(*list, "a list of nodes");
    for (const Node* item : items) {
      if (const std::optional<MappingNode> node = node_reader.read(*item)) {
        mapping.nodes.push_back(*node);
      }
    }
    reader.finish();  // the structure of half a mapping says nothing
    for (const StructureProblem& problem : check_structure(arch, workload, mapping)) {
      // What the end of the nest lacks is said at its last node.
      reader.error(items.empty() ? *list : *items[std::min(problem.node, items.size() - 1)],
                   problem.what);
    }
  }
  reader.finish();
  return mapping;
}

}  // namespace

std::vector<NodeWord> words_of(const std::string& text) {
  std::vector<NodeWord> words;
  for (std::size_t begin = text.find_first_not_of(' '); begin != std::string::npos;) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back({text.substr(begin, end - begin), begin});
    begin = text.find_first_not_of(' ', end);
  }
  return words;
}

std::optional<Parallel> read_over(Reader& reader, const Node& value, const Words& fanouts) {
  const auto text = reader.text(&value, "'EXTENT over AXIS of FANOUT'");
  if (!text) {
    return std::nullopt;
  }
  const std::vector<NodeWord> words = words_of(*text);
  if (words.size() != 5 || words[1].text != "over" || words[3].text != "of") {
    reader.error(value,
                 fmt::format("expected 'EXTENT over AXIS of FANOUT', not {}", quoted(*text)));
    return std::nullopt;
  }
  const auto extent = reader.integer_in(value, words[0].offset, words[0].text, 1, kMaxInteger);
  const auto axis = reader.choice_in(value, words[2].offset, words[2].text, kAxes, "axis");
  const auto fanout = reader.choice_in(value, words[4].offset, words[4].text, fanouts, "fanout");
  if (!extent || !axis || !fanout) {
    return std::nullopt;
  }
  return Parallel{{}, *extent, static_cast<FanoutId>(*fanout), static_cast<Axis>(*axis)};
}

std::string print_node(const Arch& arch, const Workload& workload, const MappingNode& node) {
  return std::visit(Printer{arch, workload}, node);
}

std::string print_mapping(const Arch& arch, const Workload& workload, const Mapping& mapping) {
  std::string text = workload.form == Form{}
                         ? "mapping:\n"
                         : fmt::format("form: {}\nmapping:\n", to_string(workload.form));
  for (const MappingNode& node : mapping.nodes) {
    text += fmt::format("  - {}\n", print_node(arch, workload, node));
  }
  return text;
}

namespace {

Workload in_form_of(const Document& document, const Workload& workload) {
  const std::vector<Entry>& entries = document.root.entries;
  if (std::none_of(entries.begin(), entries.end(),
                   [](const Entry& entry) { return entry.key.text == "form"; })) {
    return workload;
  }
  Reader reader{document};
  const Fields fields = reader.fields(reader.root(), {"form", "mapping"});
  const Form form = read_form(reader, fields);
  std::optional<Workload> made = in_form(workload, form);
  if (!made) {
    reader.error(fields.place("form"),
                 fmt::format("{} has no form {}", workload.name, to_string(form)));
  }
  reader.finish();
  return *made;
}

}  // namespace

Workload load_form(const std::string& path, const Workload& workload) {
  return in_form_of(read_yaml(checked_file(path, {FileKind::kMapping})), workload);
}

Workload parse_form(const std::string& text, const std::string& filename,
                    const Workload& workload) {
  return in_form_of(parse_yaml(text, filename), workload);
}

Mapping load_mapping(const std::string& path, const Arch& arch, const Workload& workload) {
  return read_mapping(read_yaml(checked_file(path, {FileKind::kMapping})), arch, workload);
}

Mapping parse_mapping(const std::string& text, const std::string& filename, const Arch& arch,
                      const Workload& workload) {
  return read_mapping(parse_yaml(text, filename), arch, workload);
}

}  // namespace mapsim
