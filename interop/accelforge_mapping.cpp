// SPDX-License-Identifier: Apache-2.0
#include "interop/accelforge_mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "costmodel/mapping_text.hpp"
#include "interop/accelforge_chain.hpp"
#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

// Down to the compute node of one einsum. `shared` counts the nodes above the innermost split:
// other einsums stand below them, too.
struct Path {
  std::vector<const Node*> nodes;
  std::size_t shared = 0;
  const Node* compute = nullptr;
};

std::optional<Path> path_to(const Node& list, const ForgeEinsum& einsum, Path path) {
  for (const Node& node : list.items) {
    const Node* inside = value_of(node, "nodes");
    if (is_forge_split(node)) {
      path.shared = path.nodes.size();
    }
    if (inside != nullptr && is_forge_split(node)) {
      for (const Node& branch : inside->items) {
        const Node* own = value_of(branch, "nodes");
        if (const auto found = own == nullptr ? std::nullopt : path_to(*own, einsum, path)) {
          return found;
        }
      }
      return std::nullopt;
    }
    if (inside != nullptr) {
      return path_to(*inside, einsum, path);
    }
    const Node* computed = value_of(node, "einsum");
    if (node.tag == "!Compute") {
      path.compute = &node;
      return computed != nullptr && computed->text == einsum.name ? std::optional{path}
                                                                  : std::nullopt;
    }
    path.nodes.push_back(&node);
  }
  return std::nullopt;
}

class ForgeMappingWriter {
 public:
  ForgeMappingWriter(Reader& reader, const Arch& arch, const ForgeEinsum& einsum)
      : reader_{reader}, arch_{arch}, einsum_{einsum} {
    for (const Dim& dim : einsum.dims) {
      extents_[dim.name] = dim.bound;
    }
  }

  ForgeMapping write(const Path& path) {
    const Node* unit = value_of(*path.compute, "component");
    if (unit != nullptr && unit->text != arch_.compute.name) {
      reader_.error(*unit, fmt::format("{} is computed by {} here, not by {}", einsum_.name,
                                       arch_.compute.name, unit->text));
    }
    if (is_fused(path)) {
      return {"", ForgeMapping::State::kFused};
    }
    for (const ForgeTensor& tensor : einsum_.tensors) {
      outer_.push_back(tensor.name);
    }
    text_ = fmt::format("mapping:\n  - keep {}: [{}]\n", arch_.levels[LevelId{}].name,
                        joined(outer_, ", "));
    for (const Node* node : path.nodes) {
      if (node->tag == "!Storage") {
        add_storage(*node);
      } else {
        add_loop(*node);
      }
    }
    if (reader_.errors() == 0) {
      check_whole(*path.compute);
    }
    return {text_, ForgeMapping::State::kAlone};
  }

 private:
  // Errors of the text stand where its lines come from.
  void check_whole(const Node& compute) {
    try {
      parse_mapping(text_, "", arch_, forge_workload(einsum_));
    } catch (const ConfigError& error) {
      constexpr std::size_t kHead = 2;  // lines that no node has written
      for (const Diagnostic& each : error.diagnostics()) {
        const auto line = static_cast<std::size_t>(each.line);
        const bool known = line > kHead && line - kHead <= written_.size();
        reader_.error(known ? *written_[line - kHead - 1] : compute,
                      fmt::format("{}: {}", einsum_.name, each.message));
      }
    }
  }

  void write_line(const Node& node, const std::string& line) {
    text_ += fmt::format("  - {}\n", line);
    written_.push_back(&node);
  }

  bool has_tensor(const std::string& name) const {
    return std::any_of(einsum_.tensors.begin(), einsum_.tensors.end(),
                       [&](const ForgeTensor& each) { return each.name == name; });
  }

  // Loops around several einsums, or a tensor that the outermost memory never holds.
  bool is_fused(const Path& path) const {
    std::vector<std::string> stored;
    for (std::size_t i = 0; i < path.nodes.size(); ++i) {
      const Node& node = *path.nodes[i];
      if (i < path.shared && node.tag != "!Storage") {
        return true;
      }
      const Node* component = value_of(node, "component");
      const Node* tensors = value_of(node, "tensors");
      if (node.tag == "!Storage" && component != nullptr && tensors != nullptr &&
          component->text == arch_.levels[LevelId{}].name) {
        for (const Node& tensor : tensors->items) {
          stored.push_back(tensor.text);
        }
      }
    }
    return !std::all_of(einsum_.tensors.begin(), einsum_.tensors.end(),
                        [&](const ForgeTensor& each) {
                          return std::find(stored.begin(), stored.end(), each.name) != stored.end();
                        });
  }

  void add_storage(const Node& node) {
    const Node *component = value_of(node, "component"), *tensors = value_of(node, "tensors");
    if (component == nullptr || tensors == nullptr ||
        component->text == arch_.levels[LevelId{}].name) {
      return;
    }
    if (!arch_.find_level(component->text)) {
      reader_.error(*component, fmt::format("no memory is called {}", quoted(component->text)));
      return;
    }
    std::vector<std::string> own;
    for (const Node& tensor : tensors->items) {
      if (has_tensor(tensor.text)) {
        own.push_back(tensor.text);
      }
    }
    if (!own.empty()) {
      write_line(node, fmt::format("keep {}: [{}]", component->text, joined(own, ", ")));
    }
  }

  void add_loop(const Node& node) {
    const Node *variable = value_of(node, "rank_variable"), *tile = value_of(node, "tile_shape");
    const auto dim =
        variable == nullptr ? std::nullopt : forge_loop_variable(*variable, names_of(einsum_.dims));
    if (!dim || tile == nullptr) {
      return;  // a loop of another einsum
    }
    double extent = 0;
    try {
      extent = evaluate_number(tile->text, einsum_.names);
    } catch (const ExpressionError& error) {
      reader_.error(*tile, error.offset(), error.what());
      return;
    }
    std::int64_t& before = extents_[*dim];
    if (!(extent >= 1) || extent != std::floor(extent) || extent > static_cast<double>(before)) {
      reader_.error(*tile,
                    fmt::format("a tile of {} is a whole number from 1 to {}", *dim, before));
      return;
    }
    if (extent == static_cast<double>(before)) {
      return;
    }
    before = static_cast<std::int64_t>(extent);
    if (node.tag == "!Temporal") {
      write_line(node, fmt::format("for {}: {}", *dim, before));
      return;
    }
    const Node *component = value_of(node, "component"), *name = value_of(node, "name");
    const std::string fanout =
        component == nullptr || name == nullptr ? "" : component->text + "_" + name->text;
    if (!arch_.find_fanout(fanout)) {
      reader_.error(node, "no fanout of the machine has this component and name");
      return;
    }
    write_line(node, fmt::format("parallel {}: {} over X of {}", *dim, before, fanout));
  }

  Reader& reader_;
  const Arch& arch_;
  const ForgeEinsum& einsum_;
  std::vector<std::string> outer_;
  std::map<std::string, std::int64_t> extents_;
  std::string text_;
  std::vector<const Node*> written_;  // of each line of the text, behind its head
};

}  // namespace

ForgeMapping forge_mapping(Reader& reader, const Node& mapping, const Arch& arch,
                           const ForgeEinsum& einsum) {
  const Node* nodes = value_of(mapping, "nodes");
  const auto path = nodes == nullptr ? std::nullopt : path_to(*nodes, einsum, {});
  return path ? ForgeMappingWriter{reader, arch, einsum}.write(*path) : ForgeMapping{};
}

}  // namespace mapsim
