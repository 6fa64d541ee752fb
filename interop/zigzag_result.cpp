// SPDX-License-Identifier: Apache-2.0
#include "interop/zigzag_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "costmodel/nest.hpp"
#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

const Node& down(const Node& root, std::initializer_list<const char*> keys) {
  const Node* node = &root;
  for (const char* key : keys) {
    const Node* inner = value_of(*node, key);
    if (inner == nullptr) {
      throw ZigzagLeftOut{node, fmt::format("no '{}'", key)};
    }
    node = inner;
  }
  return *node;
}

// As Python writes one: 68294568.736, 1e+16.
std::optional<double> parse_number(const std::string& text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = failure == std::errc{} && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional{value} : std::nullopt;
}

double number(const Node& node) {
  const auto value = parse_number(node.text);
  if (!value || *value < 0) {
    throw ZigzagLeftOut{&node, fmt::format("expected a number, got {}", describe(node))};
  }
  return *value;
}

// A node of this kind where another stands.
Node made(const Node& place, Node::Kind kind, std::string text = "") {
  Node node;
  node.kind = kind;
  node.line = place.line;
  node.column = place.column;
  node.text = std::move(text);
  return node;
}

void add(Node& map, const Node& place, const char* key, Node value) {
  map.entries.push_back({made(place, Node::Kind::kScalar, key), std::move(value)});
}

// Names of layers of ONNX models have slashes.
Node name_of(const Node& written) {
  Node name = written;
  for (char& c : name.text) {
    c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  name.text = is_name(name.text) ? name.text : "layer_" + name.text;
  return name;
}

Node layer_of(const Node& written) {
  Node layer = made(written, Node::Kind::kMap);
  add(layer, written, "name", name_of(down(written, {"name"})));
  add(layer, written, "equation", down(written, {"equation"}));
  if (const Node* relations = value_of(written, "equation_relations")) {
    add(layer, written, "dimension_relations", *relations);
  }
  const Node& bounds = down(written, {"loop_dimensions"});
  Node dims = made(bounds, Node::Kind::kSequence);
  Node sizes = dims;
  for (const Entry& entry : bounds.entries) {
    dims.items.push_back(entry.key);
    sizes.items.push_back(entry.value);
  }
  add(layer, bounds, "loop_dims", std::move(dims));
  add(layer, bounds, "loop_sizes", std::move(sizes));
  add(layer, written, "operand_precision", down(written, {"operand_precision"}));
  return layer;
}

// {D1: {K: 32}} for a list of "K, 32".
Node mapping_of(const Node& layer) {
  Node mapping = made(layer, Node::Kind::kMap);
  const Node& written = down(layer, {"user_spatial_mapping"});
  Node spatial = made(written, Node::Kind::kMap);
  for (const Entry& axis : written.entries) {
    Node factors = made(axis.value, Node::Kind::kSequence);
    for (const Entry& each : axis.value.entries) {
      factors.items.push_back(made(each.value, Node::Kind::kScalar,
                                   fmt::format("{}, {}", each.key.text, each.value.text)));
    }
    spatial.entries.push_back({axis.key, std::move(factors)});
  }
  add(mapping, written, "spatial_mapping", std::move(spatial));
  add(mapping, layer, "memory_operand_links", down(layer, {"memory_operand_links"}));
  return mapping;
}

struct Loop {
  DimId dim;
  std::int64_t factor = 1;
};

// "(K, 32)"
Loop read_loop(const Workload& workload, const Node& node) {
  const std::vector<TextPiece> words = pieces(node.text, "(), ");
  const auto dim = words.size() == 2 ? workload.find_dim(words[0].text) : std::nullopt;
  const auto factor = words.size() == 2 ? parse_number(words[1].text) : std::nullopt;
  if (!dim || !factor || *factor < 1 || *factor > 1e15 || *factor != std::floor(*factor)) {
    throw ZigzagLeftOut{&node,
                        fmt::format("expected a loop such as (K, 32), got {}", quoted(node.text))};
  }
  return {*dim, static_cast<std::int64_t>(*factor)};
}

class NestWriter {
 public:
  NestWriter(const ZigzagMachine& machine, const Arch& arch, const Workload& workload,
             const std::vector<ZigzagUnrolling>& unrollings)
      : machine_{machine}, arch_{arch}, workload_{workload}, at_(arch.fanouts.size()) {
    for (const Fanout& fanout : arch.fanouts) {
      const auto axis = std::find(machine.dims.begin(), machine.dims.end(), fanout.name);
      factors_.push_back(unrollings[static_cast<std::size_t>(axis - machine.dims.begin())].factors);
    }
  }

  Mapping write(const ZigzagResult& result) {
    for (const TensorId t : workload_.tensors.ids()) {
      const char* name = workload_.tensors[t].name.c_str();
      read_operand(t, down(result.temporal, {name}));
      check_unrolling(down(result.spatial, {name}));
    }
    place_fanouts(result.temporal);
    return nodes();
  }

 private:
  // A tensor at a level, inside of which so many of the loops stand.
  struct Held {
    std::size_t level;
    TensorId tensor;
    std::size_t loops;
  };

  void read_operand(TensorId tensor, const Node& blocks) {
    std::vector<std::size_t> levels;  // innermost first
    for (const ZigzagMemory& memory : machine_.memories) {
      if (memory.roles.contains(workload_.tensors[tensor].role)) {
        const auto level =
            std::find_if(arch_.levels.begin(), arch_.levels.end(),
                         [&](const Storage& each) { return each.name == memory.name; });
        levels.push_back(static_cast<std::size_t>(level - arch_.levels.begin()));
      }
    }
    if (blocks.items.size() != levels.size()) {
      throw ZigzagLeftOut{
          &blocks, fmt::format("{} has {} memories on this machine, not {}",
                               workload_.tensors[tensor].name, levels.size(), blocks.items.size())};
    }
    std::vector<Loop> order;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      for (const Node& item : blocks.items[i].items) {
        order.push_back(read_loop(workload_, item));
      }
      held_.push_back({levels[i], tensor, order.size()});
    }
    held_.back().loops = order.size();
    const auto same = [](const Loop& a, const Loop& b) {
      return a.dim == b.dim && a.factor == b.factor;
    };
    if (tensor != TensorId{0} &&
        !std::equal(order.begin(), order.end(), order_.begin(), order_.end(), same)) {
      throw ZigzagLeftOut{&blocks, "the loops of the operands differ"};
    }
    order_ = std::move(order);
  }

  // What is unrolled is said twice.
  void check_unrolling(const Node& blocks) const {
    PerDim<std::int64_t> left(workload_.dims.size(), 1);
    for (const Node& block : blocks.items) {
      for (const Node& item : block.items) {
        const Loop loop = read_loop(workload_, item);
        left[loop.dim] *= loop.factor;
      }
    }
    PerDim<std::int64_t> used(workload_.dims.size(), 1);
    for (const auto& factors : factors_) {
      for (const auto& [dim, factor] : factors) {
        used[dim] *= factor;
      }
    }
    for (const DimId d : used.ids()) {
      if (std::min(left[d], workload_.dims[d].bound) != used[d]) {
        throw ZigzagLeftOut{&blocks, fmt::format("{} is unrolled by {}, not {} as in "
                                                 "user_spatial_mapping",
                                                 workload_.dims[d].name, left[d], used[d])};
      }
    }
  }

  bool indexes(const Held& each, std::size_t loop) const {
    return workload_.tensors[each.tensor].dims().contains(order_[loop].dim);
  }

  // Above how many loops each fanout stands: what its units hold goes below, the rest above.
  void place_fanouts(const Node& place) {
    const std::size_t outermost =
        arch_.levels_above.empty() ? arch_.levels.size() : arch_.levels_above[FanoutId{0}];
    for (Held& each : held_) {
      while (each.level >= outermost && each.loops > 0 && !indexes(each, each.loops - 1)) {
        --each.loops;
      }
    }
    std::size_t position = 0;
    for (std::size_t f = arch_.fanouts.size(); f-- > 0;) {
      const std::size_t above = arch_.levels_above[static_cast<FanoutId>(f)];
      for (const Held& each : held_) {
        position = each.level >= above ? std::max(position, each.loops) : position;
      }
      at_[static_cast<FanoutId>(f)] = position;
      for (Held& each : held_) {
        while (each.level < above && each.loops < position && !indexes(each, each.loops)) {
          ++each.loops;
        }
        if (each.level < above && each.loops < position) {
          throw ZigzagLeftOut{&place,
                              fmt::format("{} changes {} more often than the units what they hold",
                                          arch_.levels[static_cast<LevelId>(each.level)].name,
                                          workload_.tensors[each.tensor].name)};
        }
      }
    }
  }

  // The extent of a tile of the innermost loops, and of what fanouts from `first` on unroll.
  std::int64_t extent(DimId dim, std::size_t loops, std::size_t first) const {
    std::int64_t extent = 1;
    for (std::size_t i = 0; i < loops; ++i) {
      extent *= order_[i].dim == dim ? order_[i].factor : 1;
    }
    for (std::size_t f = first; f < factors_.size(); ++f) {
      for (const auto& [each, factor] : factors_[f]) {
        extent *= each == dim ? factor : 1;
      }
    }
    return std::min(extent, workload_.dims[dim].bound);
  }

  Mapping nodes() const {
    Mapping mapping;
    PerDim<std::int64_t> extents = bounds_of(workload_);
    std::size_t fanout = 0;  // the next one
    const auto cross = [&] {
      for (const DimId d : workload_.dims.ids()) {
        for (const auto& [dim, factor] : factors_[fanout]) {
          const std::int64_t inner = extent(d, at_[static_cast<FanoutId>(fanout)], fanout + 1);
          if (dim == d && inner < extents[d]) {
            extents[d] = inner;
            mapping.nodes.emplace_back(Parallel{d, extents[d], static_cast<FanoutId>(fanout)});
          }
        }
      }
      ++fanout;
    };
    for (std::size_t loops = order_.size();; --loops) {
      for (std::size_t level = 0; level <= arch_.levels.size(); ++level) {
        while (fanout < factors_.size() && at_[static_cast<FanoutId>(fanout)] == loops &&
               arch_.levels_above[static_cast<FanoutId>(fanout)] == level) {
          cross();
        }
        add_keep(mapping, level, loops);
      }
      if (loops == 0) {
        return mapping;
      }
      const DimId dim = order_[loops - 1].dim;
      const std::int64_t inner = extent(dim, loops - 1, fanout);
      if (inner < extents[dim]) {
        // Two neighbours over one dim are one loop.
        const auto* above = std::get_if<Temporal>(&mapping.nodes.back());
        if (above != nullptr && above->dim == dim) {
          mapping.nodes.pop_back();
        }
        mapping.nodes.emplace_back(Temporal{dim, inner});
        extents[dim] = inner;
      }
    }
  }

  void add_keep(Mapping& mapping, std::size_t level, std::size_t loops) const {
    Keep keep{static_cast<LevelId>(level), {}};
    for (const Held& each : held_) {
      if (each.level == level && each.loops == loops) {
        keep.tensors.insert(each.tensor);
      }
    }
    if (!keep.tensors.empty()) {
      mapping.nodes.emplace_back(keep);
    }
  }

  const ZigzagMachine& machine_;
  const Arch& arch_;
  const Workload& workload_;
  std::vector<std::vector<std::pair<DimId, std::int64_t>>> factors_;  // by fanout
  PerFanout<std::size_t> at_;
  std::vector<Loop> order_;  // innermost first; the same for all operands
  std::vector<Held> held_;
};

}  // namespace

bool is_zigzag_result(const Node& root) {
  return value_of(root, "outputs") != nullptr && value_of(root, "inputs") != nullptr;
}

ZigzagResult read_zigzag_result(const Document& document) {
  const Node& root = document.root;
  const Node& layer = down(root, {"inputs", "layer"});
  if (layer.kind != Node::Kind::kMap) {
    throw ZigzagLeftOut{&layer, "a sum over several layers; each has a result of its own"};
  }
  ZigzagResult result;
  result.layer = layer_of(layer);
  result.mapping = mapping_of(layer);
  result.temporal = down(root, {"inputs", "temporal_mapping"});
  result.spatial = down(root, {"inputs", "spatial_mapping"});
  result.energy = number(down(root, {"outputs", "energy", "energy_total"}));
  const Node& latency = down(root, {"outputs", "latency"});
  for (const char* part : {"data_onloading", "computation", "data_offloading"}) {
    result.cycles += number(down(latency, {part}));
  }
  return result;
}

Mapping zigzag_mapping(const ZigzagMachine& machine, const Arch& arch, const Workload& workload,
                       const std::vector<ZigzagUnrolling>& unrollings, const ZigzagResult& result) {
  return NestWriter{machine, arch, workload, unrollings}.write(result);
}

}  // namespace mapsim
