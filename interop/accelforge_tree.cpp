// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "costmodel/fusion/tree.hpp"
#include "interop/accelforge_chain.hpp"
#include "interop/accelforge_mapping.hpp"
#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

struct NoTree {
  const Node& at;
  std::string why;
};

[[noreturn]] void refuse(const Node& at, const std::string& what) { throw NoTree{at, what}; }

// Loops of AccelForge are over rank variables, which several einsums have in common; ours are over
// dims of a group's last einsum, and tiles of the others follow from what they pass on. The two are
// the same where a loop's variable is at the same rank of each intermediate on both of its sides.
class ForgeTreeWriter {
 public:
  ForgeTreeWriter(const Arch& arch, const EinsumChain& chain,
                  const std::vector<ForgeEinsum>& einsums)
      : arch_{arch}, chain_{chain} {
    for (const ForgeEinsum& einsum : einsums) {
      names_.emplace(einsum.name, &einsum.names);
    }
  }

  std::string write(const Node& mapping) {
    const Node* nodes = value_of(mapping, "nodes");
    if (nodes == nullptr) {
      refuse(mapping, "no nodes");
    }
    find_spilled(*nodes);
    text_ = "mapping:\n";
    write_list(*nodes, 2, {});
    for (const Intermediate& each : chain_.intermediates) {
      if (!spilled_.contains(each.name) && !scoped_.contains(each.name)) {
        refuse(mapping, fmt::format("no memory holds {} from where it is made to where it is read",
                                    each.name));
      }
    }
    return text_;
  }

 private:
  using Extents = std::map<std::string, std::int64_t>;  // of loops further out, by rank variable

  const std::string& outermost() const { return arch_.levels[LevelId{}].name; }

  // Intermediates that the outermost memory holds, wherever that is said.
  void find_spilled(const Node& nodes) {
    for (const Node& node : nodes.items) {
      const Node *component = value_of(node, "component"), *tensors = value_of(node, "tensors");
      if (node.tag == "!Storage" && component != nullptr && tensors != nullptr &&
          component->text == outermost()) {
        for (const Node& tensor : tensors->items) {
          spilled_.insert(tensor.text);
        }
      }
      if (const Node* inside = value_of(node, "nodes")) {
        find_spilled(*inside);
      }
    }
  }

  // The einsums below, in the order of the mapping.
  std::vector<std::size_t> einsums_below(const Node& nodes) const {
    std::vector<std::size_t> found;
    for (const Node& node : nodes.items) {
      if (node.tag == "!Compute") {
        const Node* computed = value_of(node, "einsum");
        if (computed == nullptr) {
          refuse(node, "a compute node that names no einsum");
        }
        const auto e = chain_.find_einsum(computed->text);
        if (!e) {
          refuse(node, fmt::format("{} is no einsum of the chain", computed->text));
        }
        found.push_back(*e);
      } else if (const Node* inside = value_of(node, "nodes")) {
        const auto below = einsums_below(*inside);
        found.insert(found.end(), below.begin(), below.end());
      }
    }
    return found;
  }

  void write_list(const Node& nodes, int indent, Extents extents) {
    const std::vector<std::size_t> einsums = einsums_below(nodes);
    if (einsums.empty()) {
      refuse(nodes, "nodes without an einsum");
    }
    for (const Node& node : nodes.items) {
      const Node* inside = value_of(node, "nodes");
      if (node.tag == "!Storage") {
        add_storage(node, einsums, indent);
      } else if (node.tag == "!Temporal" || node.tag == "!Spatial") {
        add_loop(node, einsums, indent, extents);
      } else if (node.tag == "!Sequential" && inside != nullptr) {
        add_sequence(*inside, indent, extents);
      } else if (node.tag == "!Nested" && inside != nullptr) {
        write_list(*inside, indent, extents);
      } else if (node.tag != "!Compute") {
        refuse(node, fmt::format("{} has no counterpart in a mapping tree", node.tag));
      }
    }
  }

  void add_sequence(const Node& branches, int indent, const Extents& extents) {
    text_ += fmt::format("{:{}}- sequence:\n", "", indent);
    for (const Node& branch : branches.items) {
      const Node* nodes = value_of(branch, "nodes");
      if (nodes == nullptr) {
        refuse(branch, "a branch without nodes");
      }
      const std::vector<std::size_t> einsums = einsums_below(*nodes);
      if (einsums.empty()) {
        refuse(branch, "a branch without an einsum");
      }
      text_ += fmt::format("{:{}}- {}:\n", "", indent + 4,
                           einsums.size() > 1 ? "group" : chain_.einsums[einsums.front()].name);
      const std::size_t body = text_.size();
      write_list(*nodes, indent + 8, extents);
      if (text_.size() == body) {
        text_.insert(body - 1, " []");
      }
    }
  }

  bool is_tensor(const std::string& name) const {
    return std::any_of(chain_.names.begin(), chain_.names.end(), [&](const auto& of_einsum) {
      return std::find(of_einsum.begin(), of_einsum.end(), name) != of_einsum.end();
    });
  }

  // Tensors by the names of the chain in a group, by their own in a branch.
  void add_storage(const Node& node, const std::vector<std::size_t>& einsums, int indent) {
    const Node *component = value_of(node, "component"), *tensors = value_of(node, "tensors");
    if (component == nullptr || tensors == nullptr) {
      refuse(node, "a storage node needs a component and tensors");
    }
    if (component->text == outermost()) {
      return;
    }
    if (!arch_.find_level(component->text)) {
      refuse(*component, fmt::format("no memory is called {}", quoted(component->text)));
    }
    std::vector<std::string> names;
    for (const Node& tensor : tensors->items) {
      add_names(tensor, einsums, names);
    }
    if (!names.empty()) {
      text_ +=
          fmt::format("{:{}}- keep {}: [{}]\n", "", indent, component->text, joined(names, ", "));
    }
  }

  void add_names(const Node& tensor, const std::vector<std::size_t>& einsums,
                 std::vector<std::string>& names) {
    if (!is_tensor(tensor.text)) {
      refuse(tensor, fmt::format("{} is no tensor of the chain", quoted(tensor.text)));
    }
    const auto made =
        std::find_if(chain_.intermediates.begin(), chain_.intermediates.end(),
                     [&](const Intermediate& each) { return each.name == tensor.text; });
    const bool passed = made != chain_.intermediates.end();
    const auto is_below = [&](std::size_t e) {
      return std::find(einsums.begin(), einsums.end(), e) != einsums.end();
    };
    if (passed && is_below(made->producer) && einsums.size() > 1) {
      if (spilled_.contains(tensor.text)) {
        refuse(tensor, fmt::format("{} is held here and by {} too: a scope is one of them",
                                   tensor.text, outermost()));
      }
      scoped_.insert(tensor.text);
      names.push_back(tensor.text);
      return;
    }
    for (const std::size_t e : einsums) {
      for (const TensorId t : chain_.einsums[e].tensors.ids()) {
        if (chain_.names[e][t] == tensor.text) {
          const std::string& own = chain_.einsums[e].tensors[t].name;
          names.push_back(einsums.size() == 1 ? own
                                              : fmt::format("{}.{}", chain_.einsums[e].name, own));
        }
      }
    }
  }

  void add_loop(const Node& node, const std::vector<std::size_t>& einsums, int indent,
                Extents& extents) {
    const Node *variables = value_of(node, "rank_variable"), *tile = value_of(node, "tile_shape");
    const Workload& last = chain_.einsums[einsums.back()];
    const auto variable =
        variables == nullptr ? std::nullopt : forge_loop_variable(*variables, names_of(last.dims));
    if (tile == nullptr || !variable) {
      refuse(node, fmt::format("a loop needs a tile_shape and a rank_variable of {}", last.name));
    }
    if (einsums.size() > 1) {
      check_shared(node, *variables, einsums);
    }
    const std::int64_t before = extents.contains(*variable)
                                    ? extents[*variable]
                                    : last.dims[*last.find_dim(*variable)].bound;
    double extent = 0;
    try {
      extent = evaluate_number(tile->text, *names_.at(last.name));
    } catch (const ExpressionError& error) {
      refuse(*tile, error.what());
    }
    const auto whole = static_cast<std::int64_t>(std::clamp(extent, 0.0, 1e15));
    if (whole < 1 || static_cast<double>(whole) != extent || whole > before) {
      refuse(*tile, fmt::format("a tile of {} is a whole number from 1 to {}", *variable, before));
    }
    for (const std::string& each : forge_loop_variables(*variables)) {
      extents[each] = whole;
    }
    if (whole == before) {
      return;
    }
    const std::string name =
        einsums.size() > 1 ? fmt::format("{}.{}", last.name, *variable) : *variable;
    if (node.tag == "!Temporal") {
      text_ += fmt::format("{:{}}- for {}: {}\n", "", indent, name, whole);
      return;
    }
    const Node *component = value_of(node, "component"), *axis = value_of(node, "name");
    const std::string fanout = component == nullptr || axis == nullptr
                                   ? ""
                                   : fmt::format("{}_{}", component->text, axis->text);
    if (!arch_.find_fanout(fanout)) {
      refuse(node, "no fanout of the machine has this component and name");
    }
    text_ += fmt::format("{:{}}- parallel {}: {} over X of {}\n", "", indent, name, whole, fanout);
  }

  // Which rank of a tensor a loop's variable indexes alone; nullopt: it does not.
  static std::optional<std::size_t> rank_of(const Workload& einsum, TensorId tensor,
                                            const Node& variables) {
    const auto variable = forge_loop_variable(variables, names_of(einsum.dims));
    const auto& ranks = einsum.tensors[tensor].ranks;
    for (std::size_t r = 0; variable && r < ranks.size(); ++r) {
      if (ranks[r].terms.size() == 1 && ranks[r].terms[0].coefficient == 1 &&
          einsum.dims[ranks[r].terms[0].dim].name == *variable) {
        return r;
      }
    }
    return std::nullopt;
  }

  // The bound of a loop's variable; nullopt: it has none.
  static std::optional<std::int64_t> bound_of(const Workload& einsum, const Node& variables) {
    const auto variable = forge_loop_variable(variables, names_of(einsum.dims));
    return variable ? std::optional{einsum.dims[*einsum.find_dim(*variable)].bound} : std::nullopt;
  }

  void check_shared(const Node& node, const Node& variables,
                    const std::vector<std::size_t>& einsums) const {
    const std::string name = joined(forge_loop_variables(variables), ", ");
    const auto is_below = [&](std::size_t e) {
      return std::find(einsums.begin(), einsums.end(), e) != einsums.end();
    };
    for (const Intermediate& each : chain_.intermediates) {
      const Workload& producer = chain_.einsums[each.producer];
      const auto made = rank_of(producer, producer.output(), variables);
      for (const ChainTensor& use : each.readers) {
        if (is_below(each.producer) && is_below(use.einsum) &&
            rank_of(chain_.einsums[use.einsum], use.tensor, variables) != made) {
          refuse(node,
                 fmt::format("a loop over {} around {} and {} must tile the same rank of {} in "
                             "both",
                             name, producer.name, chain_.einsums[use.einsum].name, each.name));
        }
      }
    }
    const Workload& last = chain_.einsums[einsums.back()];
    for (const std::size_t e : einsums) {
      const auto bound = bound_of(chain_.einsums[e], variables);
      if (!bound || *bound != bound_of(last, variables)) {
        refuse(node, fmt::format("{} has no loop over {} as {} has", chain_.einsums[e].name, name,
                                 last.name));
      }
    }
  }

  const Arch& arch_;
  const EinsumChain& chain_;
  std::map<std::string, const ForgeNames*> names_;
  std::set<std::string> spilled_;  // intermediates in the outermost memory
  std::set<std::string> scoped_;   // and those with a scope in a group
  std::string text_;
};

}  // namespace

std::string forge_tree(const Node& mapping, const Arch& arch, const EinsumChain& chain,
                       const std::vector<ForgeEinsum>& einsums, ImportNotes& notes) {
  const auto leave_out = [&](const Node& at, const std::string& why) {
    notes.add(at, fmt::format("the mapping of the einsums is not written as a tree: {}", why));
    return "";
  };
  try {
    std::string text = ForgeTreeWriter{arch, chain, einsums}.write(mapping);
    parse_tree(text, "tree.yaml", arch, chain);
    return text;
  } catch (const NoTree& refusal) {
    return leave_out(refusal.at, refusal.why);
  } catch (const ConfigError& error) {
    return leave_out(mapping, error.diagnostics().front().message);
  }
}

}  // namespace mapsim
