// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "core/file_kind.hpp"
#include "core/reader.hpp"
#include "costmodel/fusion/shape.hpp"
#include "costmodel/fusion/tree.hpp"
#include "costmodel/mapping_text.hpp"

namespace mapsim {

namespace {

const Words kItems{"keep", "for", "sequence", "parallel"};

struct NamedUse {
  std::string name;
  ChainTensor use;
};

// The names that keeps of a node can use, each for one tensor. An intermediate that is made in the
// node goes by its producer's output.
std::vector<NamedUse> names_in(const EinsumChain& chain, const std::vector<std::size_t>& einsums,
                               bool leaf) {
  std::vector<NamedUse> all;
  for (const std::size_t e : einsums) {
    for (const TensorId t : chain.einsums[e].tensors.ids()) {
      const std::string& local = chain.einsums[e].tensors[t].name;
      const auto i = chain.intermediate_of({e, t});
      const bool made = i && t != chain.einsums[e].output() &&
                        std::find(einsums.begin(), einsums.end(),
                                  chain.intermediates[*i].producer) != einsums.end();
      if (made) {
        continue;
      }
      if (leaf) {
        all.push_back({local, {e, t}});
      }
      all.push_back({chain.names[e][t], {e, t}});
      all.push_back({fmt::format("{}.{}", chain.einsums[e].name, local), {e, t}});
    }
  }
  std::vector<NamedUse> names;
  for (const NamedUse& each : all) {
    const bool ambiguous = std::any_of(all.begin(), all.end(), [&](const NamedUse& other) {
      return other.name == each.name && other.use != each.use;
    });
    const bool known = std::any_of(names.begin(), names.end(),
                                   [&](const NamedUse& other) { return other.name == each.name; });
    if (!ambiguous && !known) {
      names.push_back(each);
    }
  }
  return names;
}

std::vector<std::size_t> einsums_of(const MappingTree& tree, std::size_t n) {
  std::vector<std::size_t> einsums;
  if (tree.nodes[n].children.empty()) {
    einsums.push_back(tree.nodes[n].einsum);
  }
  for (const std::size_t child : tree.nodes[n].children) {
    const std::vector<std::size_t> below = einsums_of(tree, child);
    einsums.insert(einsums.end(), below.begin(), below.end());
  }
  return einsums;
}

class TreePrinter {
 public:
  TreePrinter(const Arch& arch, const EinsumChain& chain, const MappingTree& tree)
      : arch_{arch}, chain_{chain}, tree_{tree} {}

  std::string print() {
    print_items(0, 2);
    return "mapping:\n" + text_;
  }

 private:
  void print_items(std::size_t n, int indent) {
    const TreeNode& node = tree_.nodes[n];
    const std::vector<NamedUse> names =
        names_in(chain_, einsums_of(tree_, n), node.children.empty());
    for (const TreeItem& item : node.items) {
      text_ += fmt::format("{:{}}- ", "", indent);
      if (const auto* loop = std::get_if<Temporal>(&item)) {
        const Workload& workload = chain_.einsums[node.einsum];
        text_ += fmt::format("for {}{}: {}\n", node.children.empty() ? "" : workload.name + ".",
                             workload.dims[loop->dim].name, loop->extent);
        continue;
      }
      if (const auto* parallel = std::get_if<Parallel>(&item)) {
        text_ += print_node(arch_, chain_.einsums[node.einsum], *parallel) + "\n";
        continue;
      }
      const TreeKeep& keep = std::get<TreeKeep>(item);
      Words tensors;
      for (const ChainTensor& use : keep.tensors) {
        const auto name = std::find_if(names.begin(), names.end(),
                                       [&](const NamedUse& each) { return each.use == use; });
        tensors.push_back(name->name);
      }
      text_ +=
          fmt::format("keep {}: [{}]\n", arch_.levels[keep.level].name, fmt::join(tensors, ", "));
    }
    if (node.children.empty()) {
      return;
    }
    text_ += fmt::format("{:{}}- sequence:\n", "", indent);
    for (const std::size_t child : node.children) {
      const TreeNode& branch = tree_.nodes[child];
      const bool group = !branch.children.empty();
      text_ += fmt::format("{:{}}- {}:{}\n", "", indent + 4,
                           group ? "group" : chain_.einsums[branch.einsum].name,
                           !group && branch.items.empty() ? " []" : "");
      print_items(child, indent + 8);
    }
  }

  const Arch& arch_;
  const EinsumChain& chain_;
  const MappingTree& tree_;
  std::string text_;
};

class TreeReader {
 public:
  TreeReader(const Document& document, const Arch& arch, const EinsumChain& chain)
      : reader_{document}, arch_{arch}, chain_{chain}, levels_{names_of(arch.levels)} {}

  MappingTree read() {
    const Fields fields = reader_.fields(reader_.root(), {"mapping"});
    if (const Node* list = fields.require("mapping")) {
      read_node(*list, kNoNode,
                chain_.einsums.size() == 1 ? std::optional{std::size_t{0}} : std::nullopt);
    }
    reader_.finish();  // the structure of half a tree says nothing
    for (const TreeProblem& problem : check_tree(arch_, chain_, tree_)) {
      const Places& places = places_[problem.node];
      reader_.error(problem.item < places.items.size() ? *places.items[problem.item] : *places.list,
                    problem.what);
    }
    reader_.finish();
    return std::move(tree_);
  }

 private:
  // Where a node of the tree stands in the document.
  struct Places {
    const Node* list = nullptr;
    std::vector<const Node*> items;
  };

  // `einsum`: of a branch; nullopt: the list ends with a sequence.
  void read_node(const Node& list, std::size_t parent, std::optional<std::size_t> einsum) {
    const std::size_t n = tree_.nodes.size();
    tree_.nodes.push_back({einsum.value_or(0), parent, {}, {}});
    places_.push_back({&list, {}});
    if (parent != kNoNode) {
      tree_.nodes[parent].children.push_back(n);
    }
    const bool bare = einsum && list.kind == Node::Kind::kSequence && list.items.empty();
    const auto items = bare ? std::vector<const Node*>{} : reader_.items(list, "a list of nodes");
    std::vector<const Entry*> entries;
    const Entry* sequence = nullptr;
    for (const Node* item : items) {
      const auto found = reader_.entries(*item, "a node like 'for DIM: EXTENT'");
      if (found.size() != 1) {
        if (item->kind == Node::Kind::kMap) {
          reader_.error(*item, "a node has one entry; begin each with '-'");
        }
      } else if (sequence != nullptr) {
        reader_.error(*item, "a sequence is the last node of its list");
      } else if (found.front()->key.text == "sequence") {
        sequence = found.front();
      } else {
        entries.push_back(found.front());
        places_[n].items.push_back(item);
      }
    }
    if (sequence != nullptr && !(einsum && parent != kNoNode)) {
      read_sequence(sequence->value, n);
    } else if (sequence != nullptr) {
      reader_.error(sequence->key, "a branch of an einsum has no sequence; write 'group:'");
    } else if (!einsum) {
      reader_.error(list, "a group ends with 'sequence:', the list of its branches");
      return;
    }
    read_items(entries, n);
  }

  void read_sequence(const Node& list, std::size_t n) {
    for (const Node* item : reader_.items(list, "a list of branches, EINSUM: [nodes]")) {
      const auto found = reader_.entries(*item, "a branch, EINSUM: [nodes]");
      if (found.size() != 1) {
        if (item->kind == Node::Kind::kMap) {
          reader_.error(*item, "a branch has one entry; begin each with '-'");
        }
        continue;
      }
      const auto& [key, value] = *found.front();
      Words names = names_of(chain_.einsums);
      names.emplace_back("group");
      if (const auto known = reader_.choice(&key, names, "einsum")) {
        read_node(value, n, *known < chain_.einsums.size() ? std::optional{*known} : std::nullopt);
      }
    }
    if (!tree_.nodes[n].children.empty()) {
      tree_.nodes[n].einsum = tree_.nodes[tree_.nodes[n].children.back()].einsum;
    }
  }

  void read_items(const std::vector<const Entry*>& entries, std::size_t n) {
    const bool leaf = tree_.nodes[n].children.empty();
    const std::vector<NamedUse> names = names_in(chain_, einsums_of(tree_, n), leaf);
    const Workload& workload = chain_.einsums[tree_.nodes[n].einsum];
    Words dims = names_of(workload.dims);
    for (const Dim& dim : workload.dims) {
      dims.push_back(fmt::format("{}.{}", workload.name, dim.name));
    }
    for (const Entry* entry : entries) {
      const auto& [key, value] = *entry;
      const std::vector<NodeWord> words = words_of(key.text);
      const std::string kind = words.empty() ? "" : words[0].text;
      const auto known = reader_.choice_in(key, 0, kind, kItems, "node");
      if (!known) {
        continue;
      }
      if (words.size() != 2) {
        reader_.error(key, fmt::format("expected '{} {}', not {}", kind,
                                       *known == 0 ? "LEVEL" : "DIM", quoted(key.text)));
      } else if (*known == 0) {
        read_keep(key, words[1], value, names, n);
      } else if (kind == "parallel" && !leaf) {
        reader_.error(key, "a group has no parallel loops; spread its branches over instances");
      } else {
        const auto dim = reader_.choice_in(key, words[1].offset, words[1].text, dims,
                                           fmt::format("dim of {}", workload.name));
        read_loop(
            dim ? std::optional{static_cast<DimId>(*dim % workload.dims.size())} : std::nullopt,
            kind == "parallel", value, tree_.nodes[n].items);
      }
    }
  }

  void read_loop(std::optional<DimId> dim, bool parallel, const Node& value,
                 std::vector<TreeItem>& items) {
    if (parallel) {
      const auto over = read_over(reader_, value, names_of(arch_.fanouts));
      if (dim && over) {
        items.emplace_back(Parallel{*dim, over->extent, over->fanout, over->axis});
      }
    } else if (const auto extent = reader_.integer(&value, 1, kMaxInteger); dim && extent) {
      items.emplace_back(Temporal{*dim, *extent});
    }
  }

  void read_keep(const Node& key, const NodeWord& level, const Node& value,
                 const std::vector<NamedUse>& names, std::size_t n) {
    const auto id = reader_.choice_in(key, level.offset, level.text, levels_, "level");
    TreeKeep keep;
    for (const std::size_t i : reader_.choice_list(&value, names_of(names), "tensor")) {
      keep.tensors.push_back(names[i].use);
    }
    if (id) {
      keep.level = static_cast<LevelId>(*id);
      tree_.nodes[n].items.emplace_back(std::move(keep));
    }
  }

  Reader reader_;
  const Arch& arch_;
  const EinsumChain& chain_;
  Words levels_;
  MappingTree tree_;
  std::vector<Places> places_;
};

}  // namespace

MappingTree tree_of(const Mapping& mapping) {
  TreeNode root;
  for (const MappingNode& node : mapping.nodes) {
    if (const auto* keep = std::get_if<Keep>(&node)) {
      TreeKeep kept{keep->level, {}};
      for (std::size_t t = 0; t < kMaxTensors; ++t) {
        if (keep->tensors.contains(static_cast<TensorId>(t))) {
          kept.tensors.push_back({0, static_cast<TensorId>(t)});
        }
      }
      root.items.emplace_back(std::move(kept));
    } else if (const auto* loop = std::get_if<Temporal>(&node)) {
      root.items.emplace_back(*loop);
    } else {
      root.items.emplace_back(std::get<Parallel>(node));
    }
  }
  return {{root}};
}

std::string print_tree(const Arch& arch, const EinsumChain& chain, const MappingTree& tree) {
  return TreePrinter{arch, chain, tree}.print();
}

MappingTree load_tree(const std::string& path, const Arch& arch, const EinsumChain& chain) {
  return TreeReader{read_yaml(checked_file(path, {FileKind::kMapping})), arch, chain}.read();
}

MappingTree parse_tree(const std::string& text, const std::string& filename, const Arch& arch,
                       const EinsumChain& chain) {
  return TreeReader{parse_yaml(text, filename), arch, chain}.read();
}

}  // namespace mapsim
