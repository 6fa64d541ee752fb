// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "workloads/graph_node.hpp"
#include "workloads/limits.hpp"
#include "workloads/read_workload.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMaxBits = std::int64_t{1} << 53;   // of a tensor
constexpr std::int64_t kMaxMoved = std::int64_t{1} << 56;  // that all operators together move
constexpr std::int64_t kMaxRounds = 1024;
constexpr std::size_t kMaxNodes = 16'384;

class GraphReader {
 public:
  GraphReader(Reader& reader, const Document& document, const Words& configs)
      : reader_{reader}, document_{document}, configs_{configs} {}

  NetworkGraph read(const Fields& fields) {
    precision_ = read_default_precision(reader_, fields.find("precision"));
    scopes_.emplace_back();
    if (const Node* inputs = fields.find("inputs")) {
      for (const Entry* entry : reader_.entries(*inputs, "a map of names to tensors")) {
        read_input(*entry);
      }
    }
    read_nodes(fields.find("graph"));
    read_outputs(fields.find("outputs"));
    return std::move(graph_);
  }

 private:
  // Names that a list of nodes knows, and what its own get in front.
  struct Scope {
    std::string prefix;
    std::map<std::string, std::size_t> tensors{};
    std::set<std::string> nodes{};
    std::map<std::string, int> later{};  // made further down, and in which line
    std::vector<const Node*> items{};    // its nodes, and the one that is being read
    const Node* item = nullptr;
  };

  void read_input(const Entry& entry) {
    const auto name = reader_.name(&entry.key);
    const Fields fields = reader_.fields(entry.value, {"shape", "bits", "constant"});
    const auto shape = read_extents(reader_, fields.require("shape"), 1);
    const auto own = reader_.quantity(fields.find("bits"), parse_size);
    const auto usual = precision_.roles.find(Role::kInput);
    const Bits bits = own.value_or(usual == precision_.roles.end() ? Bits{8} : usual->second);
    const bool constant = reader_.boolean(fields.find("constant")).value_or(false);
    if (!name) {
      return;
    }
    if (!shape || !check_size(fields.node(), *shape, bits)) {
      keep_name(*name);
    } else {
      scopes_.back().tensors[*name] = graph_.tensors.size();
      if (!constant) {
        graph_.inputs.push_back(graph_.tensors.size());
      }
      graph_.tensors.push_back({*name, *shape, bits, constant});
    }
  }

  bool check_size(const Node& at, const Extents& shape, Bits bits) {
    std::int64_t room = kMaxBits / std::max<std::int64_t>(1, bits.count());
    for (const std::int64_t extent : shape) {
      room /= extent;
    }
    if (bits > kMaxElementBits || room < 1) {
      reader_.error(at, bits > kMaxElementBits
                            ? fmt::format("elements wider than {} b", kMaxElementBits.count())
                            : std::string{"a tensor of more than 2^53 bits"});
      return false;
    }
    return true;
  }

  void read_nodes(const Node* list) {
    if (list == nullptr) {
      return;
    }
    const auto items = reader_.items(*list, "a list of nodes");
    scopes_.back().items = items;
    for (const Node* item : items) {
      for (const Node* name : made_by(*item)) {
        scopes_.back().later.emplace(name->text, name->line);
      }
    }
    for (const Node* item : items) {
      if (full_) {
        return;
      }
      scopes_.back().item = item;
      if (is_group(*item)) {
        read_group(*item);
      } else {
        read_node(*item);
      }
    }
  }

  static const Node* value_of(const Node& map, std::string_view key) {
    const auto at = std::find_if(map.entries.begin(), map.entries.end(),
                                 [key](const Entry& entry) { return entry.key.text == key; });
    return at == map.entries.end() ? nullptr : &at->value;
  }
  static bool is_group(const Node& item) { return value_of(item, "repeat") != nullptr; }

  // The names in a value: of a text, a list, or a map to texts.
  static std::vector<const Node*> names_in(const Node* value) {
    std::vector<const Node*> names;
    if (value == nullptr) {
      return names;
    }
    if (value->kind == Node::Kind::kScalar) {
      names.push_back(value);
    }
    for (const Node& item : value->items) {
      names.push_back(&item);
    }
    for (const Entry& entry : value->entries) {
      names.push_back(&entry.value);
    }
    return names;
  }
  static std::vector<const Node*> made_by(const Node& item) {
    const Node* out = is_group(item) ? nullptr : value_of(item, "out");
    return names_in(out == nullptr ? value_of(item, "name") : out);
  }

  // "'b', which needs 'a'": why the node that is being read in a scope has to run before a tensor
  // of it that stands further down; empty: it does not.
  std::string way_back(const Scope& scope, const std::string& tensor,
                       std::set<const Node*>& seen) const {
    for (const Node* item : scope.items) {
      const auto made = made_by(*item);
      const bool makes = std::any_of(made.begin(), made.end(),
                                     [&](const Node* each) { return each->text == tensor; });
      if (!makes || !seen.insert(item).second) {
        continue;
      }
      if (item == scope.item) {
        return fmt::format("'{}'", tensor);
      }
      for (const Node* read : names_in(value_of(*item, is_group(*item) ? "carry" : "in"))) {
        const std::string rest = way_back(scope, read->text, seen);
        if (!rest.empty()) {
          return fmt::format("'{}', which needs {}", tensor, rest);
        }
      }
    }
    return "";
  }

  // ---- groups of nodes, repeated ----

  void read_group(const Node& item) {
    const Fields fields = reader_.fields(item, {"name", "repeat", "carry", "graph", "out"});
    const std::string name = reader_.name(fields.require("name")).value_or("");
    const auto rounds = reader_.integer(fields.require("repeat"), 1, kMaxRounds);
    const auto result = reader_.name(fields.require("out"));
    const Node* nodes = fields.require("graph");
    std::map<std::string, std::size_t> carried;
    const std::size_t before = reader_.errors();
    if (const Node* carry = fields.find("carry")) {
      for (const Entry* entry : reader_.entries(*carry, "a map of a name to a tensor")) {
        const auto local = reader_.name(&entry->key);
        const auto tensor = find(entry->value);
        if (local && tensor) {
          carried[*local] = *tensor;
        }
      }
      if (carried.size() > 1) {
        reader_.error(*carry, "one tensor at most goes from a round to the next");
      }
    }
    take_name(fields, name);
    if (!rounds || !result || nodes == nullptr || reader_.errors() > before) {
      keep_name(name);
      return;
    }
    std::optional<std::size_t> last;
    for (std::int64_t round = 1; round <= *rounds && reader_.errors() == before && !full_;
         ++round) {
      scopes_.push_back({fmt::format("{}{}.{}.", scopes_.back().prefix, name, round), carried});
      read_nodes(nodes);
      last = reader_.errors() == before ? find(*fields.find("out")) : std::nullopt;
      scopes_.pop_back();
      if (last && !carried.empty()) {
        carried.begin()->second = *last;
      }
    }
    if (!last) {
      keep_name(name);
    } else if (!scopes_.back().tensors.emplace(name, *last).second) {
      reader_.error(fields.place("name"), fmt::format("'{}' is made twice", name));
    }
  }

  // ---- names ----

  void take_name(const Fields& fields, const std::string& name) {
    if (!name.empty() && !scopes_.back().nodes.insert(name).second) {
      reader_.error(fields.place("name"), fmt::format("a second node '{}'", name));
    }
  }

  std::optional<std::size_t> find(const Node& at) {
    const auto name = reader_.name(&at);
    if (!name) {
      return std::nullopt;
    }
    Words known;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto tensor = scope->tensors.find(*name); tensor != scope->tensors.end()) {
        return tensor->second;
      }
      if (const auto later = scope->later.find(*name); later != scope->later.end()) {
        std::set<const Node*> seen;
        const std::string cycle = way_back(*scope, *name, seen);
        reader_.error(
            at, cycle.empty()
                    ? fmt::format("'{}' is made in line {}, after it is read; list the nodes in an "
                                  "order in which they can run",
                                  *name, later->second)
                    : fmt::format("a cycle: what it makes is needed before it, by {}", cycle));
        return std::nullopt;
      }
      for (const auto& [each, tensor] : scope->tensors) {
        known.push_back(each);
      }
    }
    reader_.error(at, fmt::format("unknown tensor '{}'{}", *name, suggestion(*name, known)));
    return std::nullopt;
  }

  void make(const Node& at, GraphNode& node, const std::string& name, const NodeResult& result) {
    Scope& scope = scopes_.back();
    if (result.shape && !check_size(at, *result.shape, result.bits)) {
      return;
    }
    if (!scope.tensors.emplace(name, graph_.tensors.size()).second) {
      reader_.error(at, fmt::format("'{}' is made twice", name));
      return;
    }
    node.out.push_back(graph_.tensors.size());
    graph_.tensors.push_back({scope.prefix + name, result.shape, result.bits, false});
  }

  // ---- nodes ----

  void read_node(const Node& item) {
    const std::size_t before = reader_.errors();
    const Fields fields = reader_.fields(item, node_keys());
    const std::string name = reader_.name(fields.require("name")).value_or("");
    take_name(fields, name);
    GraphNode node;
    node.name = scopes_.back().prefix + name;
    Operands operands;
    read_operands(fields, node, operands);
    read_epilogue(fields.find("epilogue"), node);
    std::vector<NodeResult> results;
    const bool whole = reader_.errors() == before && !reads_unknown(node);
    if (whole) {
      results = fields.has("op") ? read_node_op(context(), fields, node)
                                 : read_node_layer(context(), fields, operands, node);
    }
    if (!whole || reader_.errors() > before) {
      keep_names(fields, name);
      return;
    }
    name_results(fields, name, results, node);
    price(fields, node);
    if (graph_.nodes.size() == kMaxNodes) {
      reader_.error(item, fmt::format("more than {} nodes", kMaxNodes));
      full_ = true;
    }
    graph_.nodes.push_back(std::move(node));
  }

  // What a wrong node makes is known by name, so that its readers are not wrong as well.
  void keep_names(const Fields& fields, const std::string& name) {
    const Node* out = fields.find("out");
    if (out == nullptr || out->kind != Node::Kind::kSequence) {
      keep_name(out == nullptr ? name : out->text);
      return;
    }
    for (const Node& each : out->items) {
      keep_name(each.text);
    }
  }
  void keep_name(const std::string& name) {
    if (scopes_.back().tensors.emplace(name, graph_.tensors.size()).second) {
      graph_.tensors.push_back({name, std::nullopt, Bits{0}, false});
    }
  }
  // Is a tensor that it reads not known, because what makes it is wrong?
  bool reads_unknown(const GraphNode& node) const {
    return std::any_of(node.in.begin(), node.in.end(), [this](const GraphUse& use) {
      return !graph_.tensors[use.tensor].shape.has_value();
    });
  }

  NodeContext context() {
    return {reader_, document_, configs_, graph_.tensors, precision_, macs_left_};
  }

  void read_operands(const Fields& fields, GraphNode& node, Operands& operands) {
    const Node* in = fields.require("in");
    if (in == nullptr) {
      return;
    }
    const auto take = [&](const Node& at) {
      const auto tensor = find(at);
      if (tensor) {
        node.in.push_back({*tensor, std::nullopt});
      }
      return tensor.has_value();
    };
    if (in->kind == Node::Kind::kMap) {
      for (const Entry* entry : reader_.entries(*in, "a map of operands to tensors")) {
        if (take(entry->value)) {
          operands.push_back(&entry->key);
        }
      }
    } else if (in->kind == Node::Kind::kSequence) {
      for (const Node* item : reader_.items(*in, "a list of tensors")) {
        take(*item);
      }
    } else {
      take(*in);
    }
  }

  void read_epilogue(const Node* list, GraphNode& node) {
    if (list == nullptr) {
      return;
    }
    for (const std::size_t word : reader_.choice_list(list, epilogue_words(), "epilogue")) {
      node.epilogue.push_back(epilogue_words()[word]);
    }
  }

  // ---- results ----

  void name_results(const Fields& fields, const std::string& name,
                    const std::vector<NodeResult>& results, GraphNode& node) {
    const Node* out = fields.find("out");
    std::vector<const Node*> places(1, &fields.place(out == nullptr ? "name" : "out"));
    if (out != nullptr && out->kind == Node::Kind::kSequence) {
      places = reader_.items(*out, "a list of tensors");
    }
    if (places.size() != results.size()) {
      reader_.error(
          out == nullptr ? fields.node() : *out,
          fmt::format("it makes {} tensors; `out` names {}", results.size(), places.size()));
      return;
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto made = out == nullptr ? std::optional{name} : reader_.name(places[i]);
      if (made) {
        make(*places[i], node, *made, results[i]);
      }
    }
  }

  // What crosses memory beside the layers, as of streams.
  void price(const Fields& fields, GraphNode& node) {
    if (const auto held = reader_.integer(fields.find("parameters"), 0, kMaxInteger)) {
      node.parameters = *held;
    }
    const bool alias = reader_.boolean(fields.find("alias")).value_or(false);
    if (alias) {
      node.kind = OpKind::kAlias;
    }
    if (node.kind == OpKind::kEinsum || node.kind == OpKind::kAlias || !node.unpriced.empty()) {
      return;
    }
    bool known = true;
    const auto add = [&](Bits& sum, std::size_t tensor) {
      const auto size = size_of(graph_.tensors[tensor]);
      known = known && size;
      sum += size.value_or(Bits{0});
    };
    for (const std::size_t tensor : node.out) {
      add(node.writes, tensor);
    }
    for (std::size_t i = 0; i < node.in.size(); ++i) {
      if (i == 0 && reads_what_it_writes(node.op)) {
        node.reads += node.writes;
      } else {
        add(node.reads, node.in[i].tensor);
      }
    }
    moved_ += std::min(kMaxMoved, (node.reads + node.writes).count());
    if (moved_ > kMaxMoved) {
      reader_.error(fields.node(), "the graph moves more than 2^56 bits");
      full_ = true;
    }
  }

  void read_outputs(const Node* list) {
    if (list != nullptr) {
      for (const Node* item : reader_.items(*list, "a list of tensors")) {
        if (const auto tensor = find(*item)) {
          graph_.outputs.push_back(*tensor);
        }
      }
      return;
    }
    const GraphLinks links = links_of(graph_);
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      if (links.producer[t] && links.readers[t].empty()) {
        graph_.outputs.push_back(t);
      }
    }
  }

  Reader& reader_;
  const Document& document_;
  const Words& configs_;
  NetworkGraph graph_;
  Precision precision_;
  std::vector<Scope> scopes_;
  std::int64_t macs_left_ = kMaxMacs, moved_ = 0;
  bool full_ = false;  // beyond a limit: the rest is not read
};

}  // namespace

Words graph_keys() { return {"graph", "inputs", "outputs", "precision"}; }

NetworkGraph read_graph(Reader& reader, const Document& document, const Fields& fields,
                        const Words& configs) {
  return GraphReader{reader, document, configs}.read(fields);
}

}  // namespace mapsim
