// SPDX-License-Identifier: Apache-2.0
#include "interop/zigzag_layer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "costmodel/nest.hpp"
#include "interop/foreign_yaml.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

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

const Words kLayerKeys{"id",           "name",          "operator_type",     "equation",
                       "loop_dims",    "loop_sizes",    "operand_precision", "dimension_relations",
                       "pr_loop_dims", "pr_loop_sizes", "padding",           "operand_source",
                       kZigzagCount};
const Words kMappingKeys{"name", "spatial_mapping", "spatial_mapping_hint", "memory_operand_links",
                         "temporal_ordering"};

// One layer of a workload, with the item of a mapping that is about it.
class LayerReader {
 public:
  LayerReader(const ZigzagMachine& machine, const Node& node, const Node* mapping,
              const ZigzagResult* result = nullptr)
      : machine_{machine}, node_{node}, mapping_{mapping}, result_{result} {}

  ZigzagImport::Layer read(std::vector<std::string>& notes) {
    check_keys(notes);
    ZigzagImport::Layer layer;
    layer.name = name();
    layer.workload = read_workload();
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

  Workload read_workload() { return parse_workload(workload_text(name()), name()); }

  std::string name() const { return zigzag_layer_name(node_); }

 private:
  // What the file says and nobody reads would be a silent misreading.
  void check_keys(std::vector<std::string>& notes) const {
    for (const Entry& entry : node_.entries) {
      const std::string& key = entry.key.text;
      if (std::find(kLayerKeys.begin(), kLayerKeys.end(), key) == kLayerKeys.end()) {
        throw ZigzagLeftOut{&entry.key,
                            fmt::format("{} of a layer is not known here", quoted(key))};
      }
    }
    for (std::size_t i = 0; mapping_ != nullptr && i < mapping_->entries.size(); ++i) {
      const Node& key = mapping_->entries[i].key;
      if (std::find(kMappingKeys.begin(), kMappingKeys.end(), key.text) == kMappingKeys.end()) {
        throw ZigzagLeftOut{
            &key, fmt::format("{} of a mapping is not known here", quoted(key.text)), true};
      }
    }
    check_forms();
    const Node* sources = value_of(node_, "operand_source");
    for (std::size_t i = 0; sources != nullptr && i < sources->entries.size(); ++i) {
      if (const Node& key = sources->entries[i].key; key.text != "I" && key.text != "W") {
        throw ZigzagLeftOut{&key,
                            fmt::format("the source of {}; known are I and W", quoted(key.text))};
      }
    }
    if (const Node* padding = value_of(node_, "padding");
        padding != nullptr && has_padding(*padding)) {
      notes.push_back(fmt::format(
          "{}: its padding is read like the rest of the input; ZigZag does not count it", name()));
    }
  }

  // What has another form would be read past.
  void check_forms() const {
    using enum Node::Kind;
    for (const auto& [name, form, what] :
         {std::tuple{"spatial_mapping", kMap, "a map of lists"},
          std::tuple{"spatial_mapping_hint", kMap, "a map of lists"},
          std::tuple{"memory_operand_links", kMap, "a map"},
          std::tuple{"temporal_ordering", kSequence, "a list"}}) {
      const Node* value = mapping_ == nullptr ? nullptr : value_of(*mapping_, name);
      if (value == nullptr || value->kind == kNull) {
        continue;
      }
      const Node* wrong = value->kind == form ? nullptr : value;
      for (const Entry& entry : value->entries) {
        const bool list = std::string_view{what} == "a map of lists";
        wrong = list && entry.value.kind != kSequence ? &entry.value : wrong;
      }
      if (wrong != nullptr) {
        throw ZigzagLeftOut{
            wrong, fmt::format("{} is {}, and here stands {}", name, what, describe(*wrong)), true};
      }
    }
  }

  static bool has_padding(const Node& node) {
    const bool here = node.kind == Node::Kind::kScalar && node.text != "0";
    return here || std::any_of(node.items.begin(), node.items.end(), has_padding);
  }

  std::string workload_text(const std::string& name) {
    const Node& dims = need(node_, "loop_dims");
    const Node& sizes = need(node_, "loop_sizes");
    if (dims.items.size() != sizes.items.size()) {
      throw ZigzagLeftOut{&sizes, "as many loop_sizes as loop_dims are needed"};
    }
    std::vector<std::string> bounds;
    for (std::size_t i = 0; i < dims.items.size(); ++i) {
      bounds.push_back(fmt::format("{}: {}", zigzag_upper(dims.items[i].text),
                                   whole(sizes.items[i], sizes.items[i].text)));
    }
    const Node& bits = need(node_, "operand_precision");
    std::vector<std::string> precision;
    std::string output, partial;
    for (const char* operand : {"I", "W", "O"}) {
      need(bits, operand);
    }
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
        std::string sum = zigzag_upper(item.text);
        sum.erase(std::remove(sum.begin(), sum.end(), ' '), sum.end());
        const std::size_t equals = sum.find('=');
        const bool known =
            equals != std::string::npos &&
            zigzag_upper(written.text).find("[" + sum.substr(0, equals) + "]") != std::string::npos;
        if (!known) {
          throw ZigzagLeftOut{&item, fmt::format("{} is no relation of an index of the equation",
                                                 quoted(item.text))};
        }
        relations[sum.substr(0, equals)] = sum.substr(equals + 1);
      }
    }
    std::string text = written.text;
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    const bool product = text.find('*') != std::string::npos;
    if (const std::size_t equals = text.find('='); product && text.find('+') == std::string::npos) {
      text.insert(std::min(equals, text.size()), "+");  // ZigZag reads both alike
    }
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
      const std::string index = zigzag_upper(text.substr(at + 1, close - at - 1));
      const auto relation = relations.find(index);
      out += fmt::format("[{}]", relation == relations.end() ? index : relation->second);
      at = close + 1;
    }
    out.replace(out.find("+="), 2, " += ");
    return out;
  }

  // I1 is the input of the memories, I2 the weight.
  std::vector<std::string> roles() {
    std::string input = "I1", weight = "I2";
    const Node* links = mapping_ == nullptr ? nullptr : value_of(*mapping_, "memory_operand_links");
    const std::size_t count = links == nullptr ? 0 : links->entries.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [key, value] = links->entries[i];
      const bool sums = key.text == "O" && value.text == "O";
      if (!sums &&
          ((key.text != "I" && key.text != "W") || (value.text != "I1" && value.text != "I2"))) {
        throw ZigzagLeftOut{&key,
                            fmt::format("{}: {} of memory_operand_links; known are O: O, and I and "
                                        "W with I1 and I2",
                                        key.text, value.text),
                            true};
      }
      if (!sums) {
        (key.text == "I" ? input : weight) = value.text;
      }
    }
    if (input == weight) {
      throw ZigzagLeftOut{links, fmt::format("I and W are both {} of the memories", input), true};
    }
    return {fmt::format("I: {}", input == "I1" ? "input" : "weight"),
            fmt::format("W: {}", weight == "I2" ? "weight" : "input")};
  }

  std::vector<ZigzagUnrolling> read_unrollings(const Workload& workload,
                                               std::vector<std::string>& notes) {
    // A result says all that is unrolled.
    std::vector<ZigzagUnrolling> unrollings(machine_.dims.size(), {result_ != nullptr, {}, {}});
    read_hints(workload, unrollings, notes);
    const Node* spatial = mapping_ == nullptr ? nullptr : value_of(*mapping_, "spatial_mapping");
    if (spatial == nullptr) {
      return unrollings;
    }
    for (const Entry& entry : spatial->entries) {
      const std::size_t axis = axis_of(entry.key);
      unrollings[axis].given = true;
      for (const Node& item : entry.value.items) {
        add_factor(workload, item, unrollings[axis], notes);
        if (unrollings[axis].used() > machine_.sizes[axis]) {
          throw ZigzagLeftOut{&entry.key,
                              fmt::format("{} has {} units, not {}", entry.key.text,
                                          machine_.sizes[axis], unrollings[axis].used()),
                              true};
        }
      }
    }
    return unrollings;
  }

  std::size_t axis_of(const Node& key) const {
    const auto dim = std::find(machine_.dims.begin(), machine_.dims.end(), key.text);
    if (dim == machine_.dims.end()) {
      throw ZigzagLeftOut{&key, fmt::format("the array has no dim {}", quoted(key.text)), true};
    }
    return static_cast<std::size_t>(dim - machine_.dims.begin());
  }

  // Dims of the layer that ZigZag may unroll along a dim of the array; all where the layer has none
  // of those that it names.
  void read_hints(const Workload& workload, std::vector<ZigzagUnrolling>& unrollings,
                  std::vector<std::string>& notes) const {
    const Node* hints = mapping_ == nullptr ? nullptr : value_of(*mapping_, "spatial_mapping_hint");
    const Node* fixed = mapping_ == nullptr ? nullptr : value_of(*mapping_, "spatial_mapping");
    for (std::size_t i = 0; hints != nullptr && i < hints->entries.size(); ++i) {
      const auto& [key, list] = hints->entries[i];
      const bool exists =
          std::find(machine_.dims.begin(), machine_.dims.end(), key.text) != machine_.dims.end();
      if (!exists || (fixed != nullptr && value_of(*fixed, key.text) != nullptr)) {
        notes.push_back(fmt::format(
            "{}: spatial_mapping_hint of {} has no effect: {}", name(), key.text,
            exists ? "spatial_mapping says what is unrolled there" : "the array has no such dim"));
        continue;
      }
      std::optional<DimSet>& may = unrollings[axis_of(key)].may;
      std::vector<std::string> known, unknown;
      for (const Node& item : list.items) {
        const auto dim = workload.find_dim(zigzag_upper(item.text));
        (dim ? known : unknown).push_back(item.text);
        if (dim) {
          may = may.value_or(DimSet{});
          may->insert(*dim);
        }
      }
      notes.push_back(fmt::format(
          "{}: {} may unroll {} (spatial_mapping_hint){}", name(), key.text,
          known.empty() ? "any dim" : joined(known, ", "),
          unknown.empty() ? "" : fmt::format("; the layer has no {}", joined(unknown, ", "))));
    }
  }

  // "K, 32"
  void add_factor(const Workload& workload, const Node& item, ZigzagUnrolling& unrolling,
                  std::vector<std::string>& notes) {
    const std::size_t comma = std::min(item.text.find(','), item.text.size());
    const std::int64_t size =
        whole(item, comma < item.text.size() ? item.text.substr(comma + 1) : "", true);
    const auto dim = workload.find_dim(zigzag_upper(item.text.substr(0, comma)));
    const auto same = [&](const auto& each) { return dim && each.first == *dim; };
    if (size < 1 || std::any_of(unrolling.factors.begin(), unrolling.factors.end(), same)) {
      const char* why = size < 1 ? "no units" : "a second factor of its dim; ZigZag reads one";
      throw ZigzagLeftOut{&item, fmt::format("{}: {}", quoted(item.text), why), true};
    }
    if (size == 1) {
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
          if (!indexes.contains(d) && (!unrolling.may || unrolling.may->contains(d))) {
            dims.push_back(workload.dims[d].name);
          }
        }
        if (dims.empty()) {  // the dim of the array stays unused
          dims.push_back(workload.dims[DimId{0}].name);
          factors.push_back(dims.front() + ": 1");
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
      const auto dim = item.items.size() == 2 ? workload.find_dim(zigzag_upper(item.items[0].text))
                                              : std::nullopt;
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

}  // namespace

ZigzagImport::Layer read_zigzag_layer(const ZigzagMachine& machine, const Node& layer,
                                      const Node* mapping, const ZigzagResult* result,
                                      std::vector<std::string>& notes) {
  return LayerReader{machine, layer, mapping, result}.read(notes);
}

Workload read_zigzag_workload(const Node& layer) {
  const ZigzagMachine machine;
  return LayerReader{machine, layer, nullptr}.read_workload();
}

std::string zigzag_upper(std::string text) {
  for (char& c : text) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return text;
}

std::string zigzag_word(const Node& map, const char* key) {
  const Node* value = value_of(map, key);
  return value != nullptr && value->kind == Node::Kind::kScalar ? value->text : "";
}

std::string zigzag_layer_name(const Node& layer) {
  const std::string given = zigzag_word(layer, "name");
  return is_name(given) ? given : "layer_" + zigzag_word(layer, "id");
}

}  // namespace mapsim
