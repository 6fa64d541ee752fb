// SPDX-License-Identifier: Apache-2.0
#include "check/design_grid.hpp"

#include <algorithm>

#include "arch/load.hpp"
#include "core/diagnostic.hpp"
#include "core/substitute.hpp"

namespace mapsim::check {

namespace {

const mapsim::Node* nodes_of(const Document& document) {
  for (const Entry& entry : document.root.entries) {
    if (entry.key.text == "nodes") {
      return &entry.value;
    }
  }
  return nullptr;
}

std::string head_of(const Document& document) {
  std::string text;
  for (const Entry& entry : document.root.entries) {
    if (entry.key.text != "nodes") {
      text += entry.key.text + ": " + flow_text(entry.value) + "\n";
    }
  }
  return text;
}

bool has_key(const mapsim::Node& node, const char* key) {
  return std::any_of(node.entries.begin(), node.entries.end(),
                     [key](const Entry& entry) { return entry.key.text == key; });
}

bool overlap(const Box& a, const Box& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].second < b[i].first || b[i].second < a[i].first) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool is_single(const Box& box) {
  return std::all_of(box.begin(), box.end(), [](const auto& i) { return i.first == i.second; });
}

Box single(const std::vector<std::size_t>& values) {
  Box box;
  for (const std::size_t value : values) {
    box.emplace_back(value, value);
  }
  return box;
}

double volume(const Box& box) {
  double all = 1;
  for (const auto& [low, high] : box) {
    all *= static_cast<double>(high - low + 1);
  }
  return all;
}

// Boxes inside the whole that are apart and have as many designs. Sorted along an axis, only those
// that begin before a box ends can meet it.
bool tile(const Box& whole, const std::vector<const Box*>& boxes) {
  std::vector<const Box*> sorted = boxes;
  if (whole.empty()) {
    return boxes.size() == 1;
  }
  const auto widest = std::max_element(
      whole.begin(), whole.end(),
      [](const auto& a, const auto& b) { return a.second - a.first < b.second - b.first; });
  const auto axis = static_cast<std::size_t>(widest - whole.begin());
  std::sort(sorted.begin(), sorted.end(),
            [axis](const Box* a, const Box* b) { return (*a)[axis] < (*b)[axis]; });
  double designs = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    designs += volume(*sorted[i]);
    for (std::size_t j = i + 1;
         j < sorted.size() && (*sorted[j])[axis].first <= (*sorted[i])[axis].second; ++j) {
      if (overlap(*sorted[i], *sorted[j])) {
        return false;
      }
    }
  }
  constexpr double kExact = 9007199254740992.0;  // 2^53, from where on doubles do not count
  return designs == volume(whole) && designs < kExact;
}

std::string GridAxis::text(std::size_t value) const {
  std::string all;
  for (const auto& [path, node] : values[value]) {
    all += (all.empty() ? "" : ", ") + (path == name ? "" : path + " ") + flow_text(node);
  }
  return all;
}

DesignGrid::DesignGrid(std::string name, Document document, std::vector<GridAxis> axes)
    : name_{std::move(name)}, document_{std::move(document)}, axes_{std::move(axes)} {
  const Document base = this->document(std::vector<std::size_t>(axes_.size(), 0));
  const mapsim::Node* const nodes = nodes_of(base);
  for (std::size_t n = 0; nodes != nullptr && n < nodes->items.size(); ++n) {
    if (has_key(nodes->items[n], "storage")) {
      level_nodes_.push_back(n);
    } else if (has_key(nodes->items[n], "fanout")) {
      fanout_nodes_.push_back(n);
    } else {
      compute_node_ = n;
    }
  }
  levels_.resize(level_nodes_.size());
  fanouts_.resize(fanout_nodes_.size());
  whole_.assign(axes_.size(), false);
  find_axes();
}

// Do two machines differ in nothing but their nodes?
bool DesignGrid::have_same_head(const Arch& one, Arch other) {
  other.levels = one.levels;
  other.fanouts = one.fanouts;
  other.compute = one.compute;
  return one == other;
}

// Which axes each node's text depends on. A model of an array's time may look at other nodes: then
// its axis is one of the whole machine. So are all where zeros save: how much may depend on values
// of two axes together, of which neither shows it alone.
void DesignGrid::find_axes() {
  const std::vector<std::size_t> first(axes_.size(), 0);
  const Document base = document(first);
  const Arch machine = arch(first);
  const mapsim::Node* const nodes = nodes_of(base);
  axes_of_.resize(nodes->items.size());
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    std::vector<bool> differs(nodes->items.size(), false);
    for (std::size_t v = 1; v < axes_[a].values.size(); ++v) {
      std::vector<std::size_t> values = first;
      values[a] = v;
      const Document other = document(values);
      const mapsim::Node* const others = nodes_of(other);
      if (head_of(base) != head_of(other) || others->items.size() != nodes->items.size()) {
        whole_[a] = true;
        break;
      }
      for (std::size_t n = 0; n < nodes->items.size(); ++n) {
        for (const char* kind : {"storage", "fanout"}) {
          whole_[a] =
              whole_[a] || has_key(nodes->items[n], kind) != has_key(others->items[n], kind);
        }
        differs[n] = differs[n] || flow_text(nodes->items[n]) != flow_text(others->items[n]);
      }
      const Arch another = arch(values);
      whole_[a] = whole_[a] || machine.sparsity || !have_same_head(machine, another) ||
                  (!differs[compute_node_] && !(another.compute == machine.compute));
    }
    for (std::size_t n = 0; n < differs.size(); ++n) {
      if (differs[n] || whole_[a]) {
        axes_of_[n].push_back(a);
      }
    }
  }
}

Document DesignGrid::document(const std::vector<std::size_t>& values) const {
  Document document = document_;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    for (const auto& [path, value] : axes_[a].values[values[a]]) {
      if (const auto problem = substitute(document.root, path, value)) {
        throw ConfigError({{document.file, 0, 0, path, *problem, ""}});
      }
    }
  }
  return document;
}

Box DesignGrid::all() const {
  Box box;
  for (const GridAxis& axis : axes_) {
    box.emplace_back(0, axis.values.size() - 1);
  }
  return box;
}

Arch DesignGrid::arch(const std::vector<std::size_t>& values) const {
  Arch arch = read_arch(document(values));
  arch.name = name_;
  return arch;
}

// Over every combination of the values of the axes that the node depends on.
template <class Node, class Of>
bool DesignGrid::widen_over(std::size_t node, Known<Node>& known, const Box& box, const Of& of,
                            Range& range) {
  const std::vector<std::size_t>& axes = axes_of_[node];
  Box part;
  for (const std::size_t axis : axes) {
    part.push_back(box[axis]);
  }
  const auto [place, is_new] = known.ranges.try_emplace(part);
  std::optional<std::pair<Node, Node>>& both = place->second;
  std::vector<std::size_t> at;
  for (const auto& interval : part) {
    at.push_back(interval.first);
  }
  for (bool more = is_new; more;) {
    const auto found = known.nodes.find(at);
    if (found == known.nodes.end()) {
      std::vector<std::size_t> values(axes_.size(), 0);
      for (std::size_t i = 0; i < axes.size(); ++i) {
        values[axes[i]] = at[i];
      }
      const Arch machine = arch(values);
      known.nodes.emplace(at, of(machine));
    }
    const Node& next = known.nodes.at(at);
    if (!both) {
      both = std::pair{next, next};
    } else if (!widen(both->first, both->second, next)) {
      both.reset();
      break;
    }
    more = false;
    for (std::size_t i = 0; i < at.size() && !more; ++i) {  // the next combination
      more = at[i] < part[i].second;
      at[i] = more ? at[i] + 1 : part[i].first;
    }
  }
  if (both) {
    of(range.most) = both->first;
    of(range.least) = both->second;
  }
  return both.has_value();
}

std::optional<Range> DesignGrid::range(const Box& box) {
  std::vector<std::size_t> values;
  for (std::size_t a = 0; a < box.size(); ++a) {
    if (whole_[a] && box[a].first != box[a].second) {
      return std::nullopt;
    }
    values.push_back(whole_[a] || is_single(box) ? box[a].first : 0);
  }
  const Arch first = arch(values);
  Range range{first, first};
  if (is_single(box)) {
    return range;
  }
  if (first.sparsity || first.levels.size() != levels_.size() ||
      first.fanouts.size() != fanouts_.size()) {
    return std::nullopt;
  }
  bool good = true;
  for (const LevelId l : first.levels.ids()) {
    good = good && widen_over(
                       level_nodes_[index_of(l)], levels_[index_of(l)], box,
                       [l](auto&& arch) -> auto& { return arch.levels[l]; }, range);
  }
  for (const FanoutId f : first.fanouts.ids()) {
    good = good && widen_over(
                       fanout_nodes_[index_of(f)], fanouts_[index_of(f)], box,
                       [f](auto&& arch) -> auto& { return arch.fanouts[f]; }, range);
  }
  good = good && widen_over(
                     compute_node_, compute_, box,
                     [](auto&& arch) -> auto& { return arch.compute; }, range);
  const auto sizes = [](const Arch& arch) {
    std::vector<std::int64_t> all;
    for (const Fanout& fanout : arch.fanouts) {
      all.push_back(fanout.x);
      all.push_back(fanout.y);
    }
    return all;
  };
  return good && (!sizes_matter(first) || sizes(range.most) == sizes(range.least))
             ? std::optional{range}
             : std::nullopt;
}

bool DesignGrid::is_node_by_node(const std::vector<std::size_t>& values) {
  const Arch whole = arch(values);
  if (whole.levels.size() != levels_.size() || whole.fanouts.size() != fanouts_.size()) {
    return true;  // known as a whole alone
  }
  std::vector<std::size_t> of_whole = values;
  for (std::size_t a = 0; a < of_whole.size(); ++a) {
    of_whole[a] = whole_[a] ? of_whole[a] : 0;
  }
  const Arch frame = arch(of_whole);
  if (frame.sparsity) {
    return true;  // likewise
  }
  if (!have_same_head(whole, frame)) {
    return false;
  }
  Range parts{whole, whole};
  const auto is_same = [&](auto& known, std::size_t node, const auto& of) {
    const Arch& machine = whole;
    return widen_over(node, known, single(values), of, parts) && of(parts.most) == of(machine);
  };
  bool same = true;
  for (const LevelId l : whole.levels.ids()) {
    same = same && is_same(levels_[index_of(l)], level_nodes_[index_of(l)],
                           [l](auto&& arch) -> auto& { return arch.levels[l]; });
  }
  for (const FanoutId f : whole.fanouts.ids()) {
    same = same && is_same(fanouts_[index_of(f)], fanout_nodes_[index_of(f)],
                           [f](auto&& arch) -> auto& { return arch.fanouts[f]; });
  }
  return same &&
         is_same(compute_, compute_node_, [](auto&& arch) -> auto& { return arch.compute; });
}

}  // namespace mapsim::check
