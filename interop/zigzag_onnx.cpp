// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <initializer_list>
#include <utility>

#include "interop/zigzag_layer.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

Node scalar_of(std::string text) {
  Node node;
  node.kind = Node::Kind::kScalar;
  node.text = std::move(text);
  return node;
}

Node list_of(const std::vector<std::string>& items) {
  Node list;
  list.kind = Node::Kind::kSequence;
  for (const std::string& item : items) {
    list.items.push_back(scalar_of(item));
  }
  return list;
}

void add(Node& map, const std::string& key, Node value) {
  map.entries.push_back({scalar_of(key), std::move(value)});
}

// ZigZag's names of dims: B, G, K, C, OY, OX, FY, FX of a convolution; H, D, K, C of a product.
class LayerWords {
 public:
  LayerWords(const Workload& workload, const LayerView& view) : workload_{workload}, view_{view} {
    map_.kind = Node::Kind::kMap;
  }

  Node write(const std::string& name, std::int64_t count) {
    add(map_, "name", scalar_of(name));
    add(map_, "operator_type", scalar_of(view_.convolution ? "Conv" : "Gemm"));
    write_equation();
    add(map_, "loop_dims", list_of(dims_));
    add(map_, "loop_sizes", list_of(sizes_));
    Node widths;
    widths.kind = Node::Kind::kMap;
    for (const auto& [operand, bits] : {std::pair{"W", "8"}, std::pair{"I", "8"},
                                        std::pair{"O", "16"}, std::pair{"O_final", "8"}}) {
      add(widths, operand, scalar_of(bits));
    }
    add(map_, "operand_precision", std::move(widths));
    add(map_, kZigzagCount, scalar_of(std::to_string(count)));
    return std::move(map_);
  }

 private:
  // [name], and its size; empty: the layer has no such dim.
  std::string index(std::optional<DimId> dim, const char* name) {
    if (!dim) {
      return "";
    }
    dims_.emplace_back(name);
    sizes_.push_back(std::to_string(workload_.dims[*dim].bound));
    return fmt::format("[{}]", name);
  }

  void write_equation() {
    const std::string g = index(view_.group, view_.convolution ? "G" : "H");
    const std::string k = index(view_.kernel, "K"), c = index(view_.channel, "C");
    if (!view_.convolution) {
      const std::string d = index(view_.rows, "D");
      // Rows of a product of two matrices are in both where it has heads.
      const std::string shared = weight_has(view_.group) ? g : "";
      add(map_, "equation",
          scalar_of(fmt::format("O{0}{1}{2}+=I{0}{1}{3}*W{4}{3}{2}", g, d, k, c, shared)));
      return;
    }
    const std::string b = index(view_.batch, "B");
    for (const auto& [dim, name] :
         {std::pair{view_.rows, "OY"}, std::pair{view_.columns, "OX"},
          std::pair{view_.filter_rows, "FY"}, std::pair{view_.filter_columns, "FX"}}) {
      index(dim, name);
    }
    add(map_, "equation",
        scalar_of(
            fmt::format("O{0}{1}{2}[OY][OX]+=W{1}{2}{3}[FY][FX]*I{0}{1}{3}[IY][IX]", b, g, k, c)));
    add(map_, "dimension_relations",
        list_of({fmt::format("IY={}*OY+{}*FY", view_.stride[0], view_.dilation[0]),
                 fmt::format("IX={}*OX+{}*FX", view_.stride[1], view_.dilation[1])}));
  }

  bool weight_has(std::optional<DimId> dim) const {
    return dim && workload_.tensors[view_.weight].dims().contains(*dim);
  }

  const Workload& workload_;
  const LayerView& view_;
  Node map_;
  std::vector<std::string> dims_, sizes_;
};

// Has the input more elements than lie in memory?
bool has_padded_input(const Workload& workload, const LayerView& view) {
  const Tensor& input = workload.tensors[view.input];
  std::int64_t elements = 1;
  for (const Rank& rank : input.ranks) {
    elements *= points_along(workload, rank);
  }
  return view.convolution && input.stored_elements && *input.stored_elements < elements;
}

}  // namespace

Document zigzag_workload(const Network& network, const std::string& file,
                         std::vector<std::string>& notes) {
  Document document;
  document.file = file;
  document.root.kind = Node::Kind::kSequence;
  std::vector<std::string> padded;
  for (const NetworkLayer& layer : network.layers) {
    if (const auto view = view_layer(layer.workload)) {
      document.root.items.push_back(
          LayerWords{layer.workload, *view}.write(layer.name, layer.count));
      if (has_padded_input(layer.workload, *view)) {
        padded.push_back(layer.name);
      }
    } else {
      notes.push_back(fmt::format("{}: {} is left out: it is no convolution and no matrix product",
                                  file, layer.name));
    }
  }
  notes.push_back(fmt::format(
      "{}: operands of 8 b and sums of 16 b, which ZigZag takes where a node has no act_size, "
      "weight_size or output_size; layers of one shape are one layer, and operators that only move "
      "data are left out",
      file));
  for (const std::string& warning : network.warnings) {
    notes.push_back(fmt::format("{}: {}", file, warning));
  }
  for (const auto& [kind, count] : network.unpriced) {
    notes.push_back(fmt::format("{}: {}, {} x: not known, not priced", file, kind, count));
  }
  if (!padded.empty()) {
    notes.push_back(
        fmt::format("{}: the padding of {} is read like the rest of the input; ZigZag does not "
                    "count it",
                    file, fmt::join(padded, ", ")));
  }
  return document;
}

}  // namespace mapsim
