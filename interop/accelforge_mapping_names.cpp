// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "interop/accelforge_mapping.hpp"
#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

// The names that a machine gives to its parts.
struct ForgePartNames {
  Words memories, computes;
  std::map<std::string, Words> fanouts;  // of each component that has some
};

void collect_parts(const Node& arch, ForgePartNames& names) {
  const Node* nodes = value_of(arch, "nodes");
  for (std::size_t i = 0; nodes != nullptr && i < nodes->items.size(); ++i) {
    const Node& node = nodes->items[i];
    const Node *name = value_of(node, "name"), *spatial = value_of(node, "spatial");
    if (name != nullptr && node.tag == "!Memory") {
      names.memories.push_back(name->text);
    } else if (name != nullptr && node.tag == "!Compute") {
      names.computes.push_back(name->text);
    }
    for (std::size_t f = 0; name != nullptr && spatial != nullptr && f < spatial->items.size();
         ++f) {
      if (const Node* axis = value_of(spatial->items[f], "name")) {
        names.fanouts[name->text].push_back(axis->text);
      }
    }
    collect_parts(node, names);
  }
}

bool has_dim(const ForgeEinsum& einsum, const std::string& variable) {
  return std::any_of(einsum.dims.begin(), einsum.dims.end(),
                     [&](const Dim& dim) { return dim.name == variable; });
}

class ForgeMappingChecker {
 public:
  ForgeMappingChecker(Reader& reader, const Node& arch, const std::vector<ForgeEinsum>& einsums,
                      ImportNotes& notes)
      : reader_{reader}, einsums_{einsums}, notes_{notes} {
    collect_parts(arch, parts_);
    for (const auto& [component, axes] : parts_.fanouts) {
      spread_.push_back(component);
    }
    std::set<std::string> tensors, variables;
    for (const ForgeEinsum& einsum : einsums) {
      for (const ForgeTensor& tensor : einsum.tensors) {
        tensors.insert(tensor.name);
      }
      for (const Dim& dim : einsum.dims) {
        variables.insert(dim.name);
      }
    }
    tensors_.assign(tensors.begin(), tensors.end());
    variables_.assign(variables.begin(), variables.end());
  }

  void check(const Node& mapping) {
    const Fields fields = reader_.fields(mapping, {"nodes", "title"});
    if (const Node* nodes = fields.require("nodes")) {
      check_list(*nodes);
    }
  }

 private:
  using Einsums = std::vector<const ForgeEinsum*>;

  // The einsums that the nodes below compute.
  void add_below(const Node& nodes, Einsums& below) const {
    for (const Node& node : nodes.items) {
      if (const Node* inside = value_of(node, "nodes")) {
        add_below(*inside, below);
      }
      const Node* computed = node.tag == "!Compute" ? value_of(node, "einsum") : nullptr;
      for (const ForgeEinsum& einsum : einsums_) {
        if (computed != nullptr && computed->text == einsum.name) {
          below.push_back(&einsum);
        }
      }
    }
  }

  // Nodes of which each is around the next; the last computes, or has nodes of its own.
  void check_list(const Node& list) {
    Einsums below;
    add_below(list, below);
    const std::vector<const Node*> nodes = reader_.items(list, "a list of nodes");
    for (const Node* node : nodes) {
      const bool ends = node->tag == "!Compute" || value_of(*node, "nodes") != nullptr;
      if (ends && node != nodes.back()) {
        reader_.error(*node,
                      fmt::format("{} is the last of its nodes, and others follow it", node->tag));
      } else if (!ends && node == nodes.back()) {
        reader_.error(*node,
                      "the last of these nodes is none that computes: a !Compute, or one "
                      "with nodes of its own");
      }
      check_node(*node, below);
    }
  }

  void check_node(const Node& node, const Einsums& below) {
    if (is_forge_split(node)) {
      check_branches(node);
    } else if (node.tag == "!Nested" || node.tag == "!Mapping") {
      const Fields fields = reader_.fields(node, {"nodes", "title", "text"});
      if (const Node* nodes = fields.require("nodes")) {
        check_list(*nodes);
      }
    } else if (node.tag == "!Storage") {
      check_storage(node);
    } else if (node.tag == "!Temporal" || node.tag == "!Spatial") {
      check_loop(node, below);
    } else if (node.tag == "!Compute") {
      check_compute(node);
    } else {
      reader_.error(node, fmt::format("{} in a mapping has no counterpart; !Storage, !Temporal, "
                                      "!Spatial, !Compute, !Sequential and !Nested have",
                                      node.tag.empty() ? "a node without a tag" : node.tag));
    }
  }

  void check_branches(const Node& node) {
    const Fields fields = reader_.fields(node, {"nodes", "text"});
    const Node* branches = fields.require("nodes");
    if (branches == nullptr) {
      return;
    }
    for (const Node* branch : reader_.items(*branches, "a list of branches")) {
      if (branch->tag == "!Nested") {
        check_node(*branch, {});
      } else {
        reader_.error(*branch, "a branch is a !Nested with nodes of its own");
      }
    }
  }

  void check_storage(const Node& node) {
    const Fields fields =
        reader_.fields(node, {"tensors", "component", "persistent", "binding", "text"});
    reader_.choice(fields.require("component"), parts_.memories, "memory");
    if (const Node* tensors = fields.require("tensors")) {
      if (tensors->kind != Node::Kind::kSequence) {
        reader_.error(*tensors,
                      fmt::format("expected a list of tensors, not {}", describe(*tensors)));
      }
      for (const Node& tensor : tensors->items) {
        reader_.choice(&tensor, tensors_, "tensor");
      }
    }
    if (read_foreign_boolean(reader_, fields.find("persistent")).value_or(false)) {
      notes_.add(node, {"ignored keys of storage in a mapping", "persistent", ""});
    }
    if (const Node* binding = fields.find("binding")) {
      notes_.add(*binding, {"ignored keys of storage in a mapping", "binding", ""});
    }
  }

  void check_loop(const Node& node, const Einsums& below) {
    const bool spatial = node.tag == "!Spatial";
    Words keys{"rank_variable", "tile_shape", "text"};
    if (spatial) {
      keys.insert(keys.end(), {"component", "name"});
    }
    const Fields fields = reader_.fields(node, keys);
    fields.require("tile_shape");
    if (const Node* variable = fields.require("rank_variable")) {
      check_variables(*variable, below);
    }
    const Node *component = spatial ? fields.require("component") : nullptr,
               *name = spatial ? fields.require("name") : nullptr;
    const auto which = reader_.choice(component, spread_, "component with a fanout");
    if (which) {
      reader_.choice(name, parts_.fanouts.at(spread_[*which]), "fanout of " + spread_[*which]);
    }
  }

  // A loop cuts at most one rank variable of an einsum, and one of at least one einsum.
  void check_variables(const Node& variable, const Einsums& below) {
    const std::size_t before = reader_.errors();
    if (variable.kind == Node::Kind::kSequence) {
      for (const Node* item : reader_.items(variable, "a list of rank variables")) {
        reader_.choice(item, variables_, "rank variable");
      }
    } else {
      reader_.choice(&variable, variables_, "rank variable");
    }
    if (reader_.errors() > before) {
      return;
    }
    bool cuts = below.empty();
    const std::vector<std::string> names = forge_loop_variables(variable);
    for (const ForgeEinsum* einsum : below) {
      std::vector<std::string> own;
      std::copy_if(names.begin(), names.end(), std::back_inserter(own),
                   [&](const std::string& name) { return has_dim(*einsum, name); });
      cuts = cuts || !own.empty();
      if (own.size() > 1) {
        reader_.error(variable, fmt::format("a loop over several rank variables of {}: {}; write "
                                            "a loop for each",
                                            einsum->name, joined(own, ", ")));
      }
    }
    if (!cuts) {
      reader_.error(variable, fmt::format("{} is no rank variable of what is computed below: {}",
                                          joined(names, ", "), variables_of(below)));
    }
  }

  // Z has m, n, k
  static std::string variables_of(const Einsums& einsums) {
    std::vector<std::string> all;
    for (const ForgeEinsum* einsum : einsums) {
      all.push_back(fmt::format("{} has {}", einsum->name, joined(names_of(einsum->dims), ", ")));
    }
    return joined(all, "; ");
  }

  void check_compute(const Node& node) {
    const Fields fields = reader_.fields(node, {"einsum", "component", "text"});
    const Node* einsum = fields.require("einsum");
    const auto which = reader_.choice(einsum, names_of(einsums_), "einsum");
    if (which && !computed_.insert(*which).second) {
      reader_.error(*einsum, fmt::format("{} is computed twice", einsum->text));
    }
    if (which && einsums_[*which].is_stream()) {
      notes_.add(*einsum, {"einsums of two tensors, which have no mapping of their own here",
                           einsum->text, ""});
    }
    reader_.choice(fields.require("component"), parts_.computes, "compute unit");
  }

  Reader& reader_;
  const std::vector<ForgeEinsum>& einsums_;
  ImportNotes& notes_;
  ForgePartNames parts_;
  Words spread_, tensors_, variables_;
  std::set<std::size_t> computed_;  // einsums
};

}  // namespace

bool is_forge_split(const Node& node) {
  return node.tag == "!Sequential" || node.tag == "!Pipeline" || node.tag == "!Parallel";
}

std::vector<std::string> forge_loop_variables(const Node& rank_variable) {
  if (rank_variable.kind != Node::Kind::kSequence) {
    return {rank_variable.text};
  }
  std::vector<std::string> names;
  for (const Node& item : rank_variable.items) {
    names.push_back(item.text);
  }
  return names;
}

std::optional<std::string> forge_loop_variable(const Node& rank_variable, const Words& dims) {
  const std::vector<std::string> names = forge_loop_variables(rank_variable);
  const auto found = std::find_if(dims.begin(), dims.end(), [&](const std::string& dim) {
    return std::find(names.begin(), names.end(), dim) != names.end();
  });
  return found == dims.end() ? std::nullopt : std::optional{*found};
}

void check_forge_mapping(Reader& reader, const Node& mapping, const Node& arch,
                         const std::vector<ForgeEinsum>& einsums, ImportNotes& notes) {
  ForgeMappingChecker{reader, arch, einsums, notes}.check(mapping);
}

}  // namespace mapsim
