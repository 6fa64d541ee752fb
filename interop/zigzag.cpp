// SPDX-License-Identifier: Apache-2.0
#include "interop/zigzag.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "costmodel/nest.hpp"
#include "interop/foreign_yaml.hpp"
#include "interop/zigzag_result.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

std::string upper(std::string text) {
  for (char& c : text) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return text;
}

// Python reads the last of equal keys; a machine that ZigZag ships has two.
void keep_last(Node& node, const std::string& file, std::vector<std::string>& notes) {
  for (Node& item : node.items) {
    keep_last(item, file, notes);
  }
  for (std::size_t i = 0; i < node.entries.size();) {
    const bool again =
        std::any_of(node.entries.begin() + static_cast<std::ptrdiff_t>(i) + 1, node.entries.end(),
                    [&](const Entry& each) { return each.key.text == node.entries[i].key.text; });
    if (again) {
      notes.push_back(fmt::format("{}:{}: {} stands here a second time below; the last one counts",
                                  file, node.entries[i].key.line, node.entries[i].key.text));
      node.entries.erase(node.entries.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    keep_last(node.entries[i].value, file, notes);
    ++i;
  }
}

std::string scalar(const Node& map, const char* key) {
  const Node* value = value_of(map, key);
  return value != nullptr && value->kind == Node::Kind::kScalar ? value->text : "";
}

const Node& need(const Node& map, const char* key) {
  const Node* value = value_of(map, key);
  if (value == nullptr) {
    throw ZigzagLeftOut{&map, fmt::format("no '{}'", key)};
  }
  return *value;
}

std::int64_t whole(const Node& at, const std::string& text, bool of_mapping = false) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  const std::string digits = text.substr(first);
  if (digits.empty() || digits.size() > 15 ||
      digits.find_first_not_of("0123456789") != std::string::npos) {
    throw ZigzagLeftOut{&at, fmt::format("{} is not a whole number", quoted(text)), of_mapping};
  }
  return std::stoll(digits);
}

// One layer of a workload, with the item of a mapping that is about it.
class LayerReader {
 public:
  LayerReader(const ZigzagMachine& machine, const Node& node, const Node* mapping,
              const ZigzagResult* result = nullptr)
      : machine_{machine}, node_{node}, mapping_{mapping}, result_{result} {}

  ZigzagImport::Layer read(std::vector<std::string>& notes) {
    ZigzagImport::Layer layer;
    layer.name = name();
    layer.workload = parse_workload(workload_text(layer.name), layer.name);
    const std::vector<ZigzagUnrolling> unrollings = read_unrollings(layer.workload, notes);
    ZigzagArch arch = zigzag_arch(machine_, unrollings);
    layer.constraints = constraints_text(layer.workload, unrollings, arch.copied);
    const std::string order = order_text(layer.workload, unrollings, arch.arch, notes);
    layer.constraints += (layer.constraints.empty() && !order.empty() ? "mapspace:\n" : "") + order;
    layer.arch = std::move(arch.arch);
    if (result_ != nullptr) {
      layer.found = {zigzag_mapping(machine_, layer.arch, layer.workload, unrollings, *result_),
                     Picojoules{result_->energy}, result_->cycles};
      const auto wrong = check_structure(layer.arch, layer.workload, layer.found->mapping);
      if (!wrong.empty()) {
        throw ZigzagLeftOut{&result_->temporal, wrong.front().what};
      }
    }
    return layer;
  }

  std::string name() const {
    const std::string given = scalar(node_, "name");
    return is_name(given) ? given : "layer_" + scalar(node_, "id");
  }

 private:
  std::string workload_text(const std::string& name) {
    const Node& dims = need(node_, "loop_dims");
    const Node& sizes = need(node_, "loop_sizes");
    if (dims.items.size() != sizes.items.size()) {
      throw ZigzagLeftOut{&sizes, "as many loop_sizes as loop_dims are needed"};
    }
    std::vector<std::string> bounds;
    for (std::size_t i = 0; i < dims.items.size(); ++i) {
      bounds.push_back(fmt::format("{}: {}", upper(dims.items[i].text),
                                   whole(sizes.items[i], sizes.items[i].text)));
    }
    const Node& bits = need(node_, "operand_precision");
    std::vector<std::string> precision;
    std::string output, partial;
    for (const Entry& entry : bits.entries) {
      const std::int64_t width = whole(entry.value, entry.value.text);
      if (width == 0) {
        throw ZigzagLeftOut{&entry.value, fmt::format("an operand of 0 b, {}", entry.key.text)};
      }
      (entry.key.text == "O"         ? partial
       : entry.key.text == "O_final" ? output
                                     : precision.emplace_back()) =
          fmt::format("{}: {} b", entry.key.text, width);
    }
    const std::string width = partial.substr(std::min(partial.find(':') + 1, partial.size()));
    precision.push_back("O:" + (output.empty() ? width : output.substr(output.find(':') + 1)));
    precision.push_back("partial:" + width);
    return fmt::format(
        "name: {}\neinsum:\n  equation: {}\n  dims: {{{}}}\n  roles: {{{}}}\n"
        "precision: {{{}}}\n",
        name, equation(), fmt::join(bounds, ", "), fmt::join(roles(), ", "),
        fmt::join(precision, ", "));
  }

  // O[b][oy]+=W[c][fy]*I[b][c][iy], and iy=2*oy+1*fy
  std::string equation() {
    const Node& written = need(node_, "equation");
    std::map<std::string, std::string> relations;
    if (const Node* list = value_of(node_, "dimension_relations")) {
      for (const Node& item : list->items) {
        std::string sum = upper(item.text);
        sum.erase(std::remove(sum.begin(), sum.end(), ' '), sum.end());
        const std::size_t equals = std::min(sum.find('='), sum.size());
        relations[sum.substr(0, equals)] = sum.substr(std::min(equals + 1, sum.size()));
      }
    }
    std::string text = written.text;
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    if (text.find("+=") == std::string::npos || text.find('*') == std::string::npos ||
        !text.starts_with("O[")) {
      throw ZigzagLeftOut{&written, "only sums of products into O are known here"};
    }
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t close = text[at] == '[' ? text.find(']', at) : std::string::npos;
      if (close == std::string::npos) {
        out += text[at] == '*' ? " * " : std::string{text[at]};
        ++at;
        continue;
      }
      const std::string index = upper(text.substr(at + 1, close - at - 1));
      const auto relation = relations.find(index);
      out += fmt::format("[{}]", relation == relations.end() ? index : relation->second);
      at = close + 1;
    }
    out.replace(out.find("+="), 2, " += ");
    return out;
  }

  // I1 is the input of the memories, I2 the weight.
  std::vector<std::string> roles() {
    std::vector<std::string> roles;
    for (const char* operand : {"I", "W"}) {
      const Node* links =
          mapping_ == nullptr ? nullptr : value_of(*mapping_, "memory_operand_links");
      const std::string link = links == nullptr ? "" : scalar(*links, operand);
      const bool weight = link.empty() ? operand[0] == 'W' : link == "I2";
      roles.push_back(fmt::format("{}: {}", operand, weight ? "weight" : "input"));
    }
    return roles;
  }

  std::vector<ZigzagUnrolling> read_unrollings(const Workload& workload,
                                               std::vector<std::string>& notes) {
    // A result says all that is unrolled.
    std::vector<ZigzagUnrolling> unrollings(machine_.dims.size(), {result_ != nullptr, {}});
    const Node* spatial = mapping_ == nullptr ? nullptr : value_of(*mapping_, "spatial_mapping");
    if (spatial == nullptr) {
      return unrollings;
    }
    for (const Entry& entry : spatial->entries) {
      const auto dim = std::find(machine_.dims.begin(), machine_.dims.end(), entry.key.text);
      if (dim == machine_.dims.end()) {
        throw ZigzagLeftOut{&entry.key,
                            fmt::format("the array has no dim {}", quoted(entry.key.text)), true};
      }
      const auto axis = static_cast<std::size_t>(dim - machine_.dims.begin());
      unrollings[axis].given = true;
      for (const Node& item : entry.value.items) {
        add_factor(workload, item, unrollings[axis], notes);
        if (unrollings[axis].used() > machine_.sizes[axis]) {
          throw ZigzagLeftOut{&entry.key,
                              fmt::format("{} has {} units, not {}", *dim, machine_.sizes[axis],
                                          unrollings[axis].used()),
                              true};
        }
      }
    }
    return unrollings;
  }

  // "K, 32"
  void add_factor(const Workload& workload, const Node& item, ZigzagUnrolling& unrolling,
                  std::vector<std::string>& notes) {
    const std::size_t comma = std::min(item.text.find(','), item.text.size());
    const std::int64_t size =
        whole(item, comma < item.text.size() ? item.text.substr(comma + 1) : "", true);
    const auto dim = workload.find_dim(upper(item.text.substr(0, comma)));
    if (size <= 1) {
      return;
    }
    if (!dim) {
      notes.push_back(fmt::format("{}: the mapping unrolls {}, which the layer has not", name(),
                                  item.text.substr(0, comma)));
      return;
    }
    const std::int64_t bound = workload.dims[*dim].bound;
    const std::int64_t used = std::min(size, bound);
    if (bound % used != 0) {
      notes.push_back(fmt::format(
          "{}: {} of {} do not divide its bound {}: search --imperfect unrolls as many, without it "
          "as many of them as divide",
          name(), used, workload.dims[*dim].name, bound));
    }
    if (used > 1) {
      unrolling.factors.emplace_back(*dim, used);
    }
  }

  static DimSet indexing(const Workload& workload, RoleSet roles) {
    DimSet dims;
    for (const Tensor& tensor : workload.tensors) {
      if (roles.contains(tensor.role)) {
        dims = DimSet::from_bits(dims.bits() | tensor.dims().bits());
      }
    }
    return dims;
  }

  std::string constraints_text(const Workload& workload,
                               const std::vector<ZigzagUnrolling>& unrollings,
                               const std::vector<RoleSet>& copied) const {
    std::string text;
    for (std::size_t axis = 0; axis < unrollings.size(); ++axis) {
      const ZigzagUnrolling& unrolling = unrollings[axis];
      const DimSet indexes = indexing(workload, copied[axis]);
      std::vector<std::string> dims, factors;
      for (const auto& [dim, used] : unrolling.factors) {
        const Dim& each = workload.dims[dim];
        if (indexes.contains(dim)) {
          throw ZigzagLeftOut{mapping_,
                              fmt::format("{} indexes an operand of a memory that is shared "
                                          "along {}",
                                          each.name, machine_.dims[axis]),
                              true};
        }
        dims.push_back(each.name);
        factors.push_back(each.bound % used == 0 ? fmt::format("{}: {}", each.name, used)
                                                 : fmt::format("{}: {{max: {}}}", each.name, used));
      }
      if (!unrolling.given) {
        for (const DimId d : workload.dims.ids()) {
          if (!indexes.contains(d)) {
            dims.push_back(workload.dims[d].name);
          }
        }
      }
      text += fmt::format(
          "    {}: {{X: {{dims: [{}]{}}}}}\n", machine_.dims[axis], fmt::join(dims, ", "),
          factors.empty() ? "" : fmt::format(", factors: {{{}}}", fmt::join(factors, ", ")));
    }
    return text.empty() ? "" : "mapspace:\n  unroll:\n" + text;
  }

  // The whole temporal loops of each dim in the order of temporal_ordering, outermost first; empty:
  // it does not say them all, or cuts a dim in two, and then fixes positions among loops that
  // only ZigZag's own search has.
  std::vector<std::string> whole_order(const Workload& workload,
                                       const std::vector<ZigzagUnrolling>& unrollings,
                                       const Node& list) const {
    PerDim<std::int64_t> left = bounds_of(workload);
    for (const ZigzagUnrolling& unrolling : unrollings) {
      for (const auto& [dim, used] : unrolling.factors) {
        left[dim] = (left[dim] + used - 1) / used;
      }
    }
    std::vector<std::string> order;
    for (const Node& item : list.items) {
      const auto dim =
          item.items.size() == 2 ? workload.find_dim(upper(item.items[0].text)) : std::nullopt;
      if (!dim || item.items[1].text != std::to_string(left[*dim])) {
        return {};
      }
      if (left[*dim] > 1) {
        order.insert(order.begin(), workload.dims[*dim].name);
      }
      left[*dim] = 1;
    }
    const bool complete =
        std::all_of(left.begin(), left.end(), [](auto each) { return each == 1; });
    return complete ? order : std::vector<std::string>{};
  }

  std::string order_text(const Workload& workload, const std::vector<ZigzagUnrolling>& unrollings,
                         const Arch& arch, std::vector<std::string>& notes) const {
    const Node* list = mapping_ == nullptr ? nullptr : value_of(*mapping_, "temporal_ordering");
    if (list == nullptr || list->items.empty()) {
      return "";
    }
    const std::vector<std::string> order = whole_order(workload, unrollings, *list);
    if (order.empty()) {
      notes.push_back(fmt::format(
          "{}: temporal_ordering does not give each dim one whole loop and is left out; the space "
          "is wider without it",
          name()));
      return "";
    }
    if (!arch.fanouts.empty()) {
      notes.push_back(fmt::format(
          "{}: temporal_ordering holds between two dims of the array, not across them", name()));
    }
    std::string text = "  loops:\n";
    for (const Fanout& fanout : arch.fanouts) {
      text += fmt::format("    {}: {{order: [{}]}}\n", fanout.name, fmt::join(order, ", "));
    }
    return text +
           fmt::format("    {}: {{order: [{}]}}\n", arch.compute.name, fmt::join(order, ", "));
  }

  const ZigzagMachine& machine_;
  const Node& node_;
  const Node* mapping_;
  const ZigzagResult* result_;  // or null
};

class ZigzagImporter {
 public:
  explicit ZigzagImporter(std::vector<Document> documents) : documents_{std::move(documents)} {
    for (Document& document : documents_) {
      keep_last(document.root, document.file, import_.notes);
    }
  }

  ZigzagImport read() {
    if (value_of(documents_.front().root, "cores") != nullptr && documents_.size() == 1) {
      import_.cores = read_stream_chip(documents_.front(), read_yaml, import_.notes);
      return std::move(import_);
    }
    for (const Document& document : documents_) {
      if (is_zigzag_result(document.root)) {
        results_.push_back(&document);
        continue;
      }
      const Node* array = value_of(document.root, "operational_array");
      const bool list = !document.root.items.empty();
      const bool layers = list && value_of(document.root.items.front(), "equation") != nullptr;
      const Document*& place = array != nullptr ? machine_file_ : layers ? layers_ : mapping_;
      if ((array == nullptr && !list) || place != nullptr) {
        throw ConfigError{
            {{document.file, 0, 0, "",
              place != nullptr ? "a second file of its kind"
                               : "neither an accelerator, a workload nor a mapping of "
                                 "ZigZag",
              ""}}};
      }
      place = &document;
    }
    if (machine_file_ == nullptr) {
      throw ConfigError{{{documents_.front().file, 0, 0, "",
                          "no accelerator among the files (operational_array)", ""}}};
    }
    Reader reader{*machine_file_};
    machine_ = read_zigzag_machine(reader, import_.notes);
    if (!machine_.computes) {
      reader.error(reader.root(), fmt::format("{} computes nothing", machine_.name));
    } else if (machine_.on_chip && !machine_.memories.empty() &&
               machine_.memories.back().roles != kAllRoles) {
      reader.error(reader.root(), fmt::format("{} is a core without a memory for all operands; the "
                                              "chip's file says what lies behind it",
                                              machine_.name));
    }
    reader.finish();
    if (machine_.on_chip) {
      import_.notes.push_back(
          fmt::format("{} is a core: its outermost memory has an end, and what lies behind it is "
                      "known to the chip's file only",
                      machine_.name));
    }
    import_.arch = zigzag_arch(machine_, std::vector<ZigzagUnrolling>(machine_.dims.size())).arch;
    import_.notes.emplace_back(
        "areas have no unit and are left out; ZigZag's conventions of energy and time are others: "
        "docs/validation.md");
    for (std::size_t i = 0; layers_ != nullptr && i < layers_->root.items.size(); ++i) {
      add_layer(layers_->root.items[i]);
    }
    for (const Document* result : results_) {
      add_result(*result);
    }
    return std::move(import_);
  }

 private:
  void add_layer(const Node& node) {
    const Node* mapping = mapping_of(node);
    LayerReader reader{machine_, node, mapping};
    try {
      import_.layers.push_back(reader.read(import_.notes));
    } catch (const ZigzagLeftOut& left) {
      import_.notes.push_back(fmt::format("{}:{}: {} is left out: {}",
                                          left.of_mapping ? mapping_->file : layers_->file,
                                          left.at->line, reader.name(), left.why));
    } catch (const ConfigError& error) {
      import_.notes.push_back(fmt::format("{}:{}: {} is left out: {}", layers_->file, node.line,
                                          reader.name(), error.diagnostics().front().message));
    }
  }

  void add_result(const Document& document) {
    std::optional<ZigzagResult> result;  // what is left out is named by its place in it
    try {
      result = read_zigzag_result(document);
      import_.layers.push_back(
          LayerReader{machine_, result->layer, &result->mapping, &*result}.read(import_.notes));
    } catch (const ZigzagLeftOut& left) {
      import_.notes.push_back(
          fmt::format("{}:{}: left out: {}", document.file, left.at->line, left.why));
    } catch (const ConfigError& error) {
      import_.notes.push_back(
          fmt::format("{}: left out: {}", document.file, error.diagnostics().front().message));
    }
  }

  // By the layer's name, its type, or the default.
  const Node* mapping_of(const Node& layer) const {
    const Node* found = nullptr;
    for (const std::string& wanted :
         {std::string{"default"}, scalar(layer, "operator_type"), scalar(layer, "name")}) {
      for (std::size_t i = 0; mapping_ != nullptr && i < mapping_->root.items.size(); ++i) {
        const Node& item = mapping_->root.items[i];
        found = !wanted.empty() && scalar(item, "name") == wanted ? &item : found;
      }
    }
    return found;
  }

  std::vector<Document> documents_;
  const Document* machine_file_ = nullptr;
  const Document* layers_ = nullptr;
  const Document* mapping_ = nullptr;
  std::vector<const Document*> results_;
  ZigzagMachine machine_;
  ZigzagImport import_;
};

}  // namespace

ZigzagImport import_zigzag(std::vector<Document> documents) {
  return ZigzagImporter{std::move(documents)}.read();
}

ZigzagImport read_zigzag(const std::vector<std::string>& paths) {
  std::vector<Document> documents;
  std::transform(paths.begin(), paths.end(), std::back_inserter(documents), read_yaml);
  return import_zigzag(std::move(documents));
}

}  // namespace mapsim
