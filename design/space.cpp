// SPDX-License-Identifier: Apache-2.0
#include "design/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "core/diagnostic.hpp"
#include "core/substitute.hpp"

namespace mapsim {

namespace {

[[noreturn]] void refuse(const Document& document, const std::string& message) {
  throw ConfigError{{{document.file, 0, 0, "", message, ""}}};
}

const Node* nodes_of(const Document& document) {
  for (const Entry& entry : document.root.entries) {
    if (entry.key.text == "nodes") {
      return &entry.value;
    }
  }
  return nullptr;
}

// All of a file but its nodes.
std::string head_text(const Document& document) {
  std::string text;
  for (const Entry& entry : document.root.entries) {
    text += entry.key.text == "nodes" ? "" : entry.key.text + ": " + flow_text(entry.value) + "\n";
  }
  return text;
}

enum class Kind : std::uint8_t { kStorage, kFanout, kCompute };
std::vector<Kind> kinds_of(const Node& nodes) {
  std::vector<Kind> kinds;
  for (const Node& node : nodes.items) {
    kinds.push_back(Kind::kCompute);
    for (const Entry& entry : node.entries) {
      if (entry.key.text == "storage" || entry.key.text == "fanout") {
        kinds.back() = entry.key.text == "storage" ? Kind::kStorage : Kind::kFanout;
      }
    }
  }
  return kinds;
}

// The nodes of the file that differ; nullopt: more than single nodes do.
std::optional<std::set<std::size_t>> changed_nodes(const Document& a, const Document& b) {
  const Node* const nodes = nodes_of(a);
  const Node* const others = nodes_of(b);
  if (nodes == nullptr || others == nullptr || head_text(a) != head_text(b) ||
      kinds_of(*nodes) != kinds_of(*others)) {
    return std::nullopt;
  }
  std::set<std::size_t> changed;
  for (std::size_t i = 0; i < nodes->items.size(); ++i) {
    if (flow_text(nodes->items[i]) != flow_text(others->items[i])) {
      changed.insert(i);
    }
  }
  return changed;
}

bool has_same_nodes(const Arch& a, const Arch& b) {
  const auto named = [](const auto& one, const auto& other) { return one.name == other.name; };
  return a.levels_above == b.levels_above &&
         std::equal(a.levels.begin(), a.levels.end(), b.levels.begin(), b.levels.end(), named) &&
         std::equal(a.fanouts.begin(), a.fanouts.end(), b.fanouts.begin(), b.fanouts.end(), named);
}

// What zeros save is written in nodes, is one of the whole machine, and may depend on values of two
// axes together (an energy per word, and the word), of which neither shows it alone.
bool differ_in_nodes_alone(const Arch& a, Arch b) {
  b.levels = a.levels;
  b.fanouts = a.fanouts;
  b.compute = a.compute;
  b.levels_above = a.levels_above;
  return !a.sparsity && b == a;
}

DesignBox part_of(const DesignBox& box, const std::vector<std::size_t>& axes) {
  DesignBox part;
  for (const std::size_t axis : axes) {
    part.push_back(box[axis]);
  }
  return part;
}

}  // namespace

double volume(const DesignBox& box) {
  return std::accumulate(box.begin(), box.end(), 1.0,
                         [](double product, const ValueInterval& values) {
                           return product * static_cast<double>(values.size());
                         });
}

bool is_single(const DesignBox& box) {
  return std::all_of(box.begin(), box.end(), [](const ValueInterval& i) { return i.size() == 1; });
}

bool contains(const DesignBox& box, const std::vector<std::size_t>& values) {
  for (std::size_t axis = 0; axis < box.size(); ++axis) {
    if (values[axis] < box[axis].low || values[axis] > box[axis].high) {
      return false;
    }
  }
  return true;
}

DesignSpace::DesignSpace(const Machine& machine, bool has_constraints)
    : machine_{&machine}, has_constraints_{has_constraints} {
  if (describes_gpu(machine.document)) {
    refuse(machine.document,
           "is a GPU, whose kernels have no proven bounds; 'mapsim sweep' searches its designs");
  }
  add_axes();
  find_nodes();
  classify();
}

void DesignSpace::add_axes() {
  if (machine_->list.size() > 1 || !machine_->list.front().empty()) {
    axes_.push_back({"list", machine_->list, {}, ""});
  }
  for (const auto& [path, values] : machine_->grid) {
    axes_.push_back({path, {}, {}, ""});
    for (const Node& value : values) {
      axes_.back().values.push_back({{path, value}});
    }
  }
  first_.assign(axes_.size(), 0);
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    DesignAxis& axis = axes_[a];
    std::vector<std::pair<double, std::size_t>> ranked;
    for (std::size_t v = 0; v < axis.values.size(); ++v) {
      std::vector<std::size_t> values = first_;
      values[a] = v;
      ranked.emplace_back(rank_of(arch(values)), v);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<Settings> sorted;
    for (const auto& [rank, v] : ranked) {
      sorted.push_back(axis.values[v]);
      axis.places.push_back(v);
    }
    axis.values = std::move(sorted);
  }
}

// Which axes each node depends on, by the text of the file: a node's numbers follow from its own
// text and the head of the file. A timing model may look at other nodes, so that the machines are
// compared, too.
void DesignSpace::find_nodes() {
  base_ = arch(first_);
  const Document base = document(first_);
  const std::vector<Kind> kinds = kinds_of(*nodes_of(base));
  levels_.resize(base_.levels.size());
  fanouts_.resize(base_.fanouts.size());
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    std::optional<std::set<std::size_t>> changed = std::set<std::size_t>{};
    for (std::size_t v = 1; v < axes_[a].values.size() && changed; ++v) {
      std::vector<std::size_t> values = first_;
      values[a] = v;
      const auto more = changed_nodes(base, document(values));
      const Arch other = arch(values);
      const bool beyond = !more || !differ_in_nodes_alone(base_, other) ||
                          (!more->contains(kinds.size() - 1) && !(base_.compute == other.compute));
      changed = beyond ? std::nullopt : changed;
      if (changed) {
        changed->insert(more->begin(), more->end());
      }
    }
    if (!changed) {
      whole_.push_back(a);
    }
    std::size_t level = 0;
    std::size_t fanout = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      std::vector<std::size_t>& axes = kinds[i] == Kind::kStorage  ? levels_[level++].axes
                                       : kinds[i] == Kind::kFanout ? fanouts_[fanout++].axes
                                                                   : compute_.axes;
      if (!changed || changed->contains(i)) {
        axes.push_back(a);
      }
    }
  }
}

// For the order of branching and for people: what is not seen here is found where a box has no
// enclosure.
void DesignSpace::classify() {
  for (const std::size_t a : whole_) {
    axes_[a].branched = "changes more than single nodes of the machine";
  }
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    DesignAxis& axis = axes_[a];
    for (std::size_t v = 1; v < axis.values.size() && axis.branched.empty(); ++v) {
      std::vector<std::size_t> values = first_;
      values[a] = v;
      const Arch other = arch(values);
      if (const std::string what = uncovered(base_, other); !what.empty()) {
        axis.branched = fmt::format("changes {} in a way that no lemma covers", what);
      } else if (const Excepted excepted = this->excepted(other);
                 breaks(excepted, {base_, other})) {
        axis.branched = excepted.reason;
      }
    }
  }
}

DesignBox DesignSpace::all() const {
  DesignBox box;
  for (const DesignAxis& axis : axes_) {
    box.push_back({0, axis.values.size() - 1});
  }
  return box;
}

Settings DesignSpace::settings(const std::vector<std::size_t>& values) const {
  Settings settings;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const Settings& more = axes_[a].values[values[a]];
    settings.insert(settings.end(), more.begin(), more.end());
  }
  return settings;
}

std::size_t DesignSpace::number(const std::vector<std::size_t>& values) const {
  std::size_t number = 0;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    number = number * axes_[a].values.size() + axes_[a].places[values[a]];
  }
  return number;
}

Document DesignSpace::document(const std::vector<std::size_t>& values) const {
  return Design{machine_, settings(values)}.document();
}

Arch DesignSpace::arch(const std::vector<std::size_t>& values) const {
  Arch arch = read_arch(document(values));
  arch.name = machine_->name;
  return arch;
}

// Halves the widest interval, so that boxes share what is known of their parts.
template <class Node, class Of>
const std::optional<NodeRange<Node>>& DesignSpace::range(Table<Node>& table, const DesignBox& box,
                                                         const Of& of) {
  const auto [place, is_new] = table.known.try_emplace(box);
  if (!is_new) {
    return place->second;
  }
  std::optional<NodeRange<Node>>& found = place->second;
  const auto widest = std::max_element(
      box.begin(), box.end(),
      [](const ValueInterval& a, const ValueInterval& b) { return a.size() < b.size(); });
  if (widest == box.end() || widest->size() == 1) {
    std::vector<std::size_t> values = first_;
    for (std::size_t i = 0; i < box.size(); ++i) {
      values[table.axes[i]] = box[i].low;
    }
    const Node node = of(arch(values));
    return found = NodeRange<Node>{node, node};
  }
  const std::size_t middle = (widest->low + widest->high) / 2;
  const auto at = static_cast<std::size_t>(widest - box.begin());
  DesignBox low = box;
  low[at].high = middle;
  DesignBox high = box;
  high[at].low = middle + 1;
  const auto& a = range(table, low, of);
  const auto& b = range(table, high, of);
  return found = a && b ? join(*a, *b) : std::nullopt;
}

std::optional<Enclosure> DesignSpace::enclosure(const DesignBox& box) {
  std::vector<std::size_t> values = first_;
  std::vector<std::size_t> key;
  for (const std::size_t axis : whole_) {
    if (box[axis].size() > 1) {
      return std::nullopt;
    }
    values[axis] = box[axis].low;
    key.push_back(box[axis].low);
  }
  const auto [frame, is_new] = frames_.try_emplace(key);
  if (is_new) {
    frame->second = arch(values);
  }
  Enclosure both{frame->second, frame->second};
  if (!has_same_nodes(both.most, base_) || both.most.sparsity) {
    // Its nodes are others, or depend on each other: only a single design is known as a whole.
    if (!is_single(box)) {
      return std::nullopt;
    }
    for (std::size_t a = 0; a < box.size(); ++a) {
      values[a] = box[a].low;
    }
    both.most = both.least = arch(values);
    return both;
  }
  const auto put = [&](auto& table, auto& most, auto& least, const auto& of) {
    const auto& found = range(table, part_of(box, table.axes), of);
    if (found) {
      most = found->most;
      least = found->least;
    }
    return found.has_value();
  };
  bool good = true;
  for (const LevelId l : both.most.levels.ids()) {
    good = good && put(levels_[index_of(l)], both.most.levels[l], both.least.levels[l],
                       [l](const Arch& arch) { return arch.levels[l]; });
  }
  for (const FanoutId f : both.most.fanouts.ids()) {
    good = good && put(fanouts_[index_of(f)], both.most.fanouts[f], both.least.fanouts[f],
                       [f](const Arch& arch) { return arch.fanouts[f]; });
  }
  good = good && put(compute_, both.most.compute, both.least.compute,
                     [](const Arch& arch) { return arch.compute; });
  return good && !breaks(excepted(both.most), both) ? std::optional{both} : std::nullopt;
}

}  // namespace mapsim
