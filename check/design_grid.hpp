// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/design_machine.hpp"
#include "core/document.hpp"

namespace mapsim::check {

// Values low to high of each axis, both included.
using Box = std::vector<std::pair<std::size_t, std::size_t>>;
double volume(const Box& box);  // designs; exact below 2^53
// Is each design of `whole` in exactly one of the boxes?
bool tile(const Box& whole, const std::vector<const Box*>& boxes);
bool is_single(const Box& box);
Box single(const std::vector<std::size_t>& values);

// One value of an axis: paths of the architecture file, and the values put there.
using Change = std::vector<std::pair<std::string, Node>>;
struct GridAxis {
  std::string name;
  std::vector<Change> values;
  std::string text(std::size_t value) const;  // as the file has it
};

// A grid of designs as a certificate has it, and the range of machines of each box. A node of the
// architecture is read once for each combination of the axes that its text depends on.
class DesignGrid {
 public:
  // Throws ConfigError if a value cannot be put in its place, or the first design is invalid.
  DesignGrid(std::string name, Document document, std::vector<GridAxis> axes);
  const std::string& name() const { return name_; }
  const std::vector<GridAxis>& axes() const { return axes_; }
  Box all() const;
  Arch arch(const std::vector<std::size_t>& values) const;  // throws ConfigError
  // nullopt: machines of the box differ in more than numbers. Throws ConfigError.
  std::optional<Range> range(const Box& box);
  // Is the design, read as a whole, equal to its nodes read one by one? Throws ConfigError.
  bool is_node_by_node(const std::vector<std::size_t>& values);

 private:
  template <class Node>
  struct Known {
    std::map<std::vector<std::size_t>, Node> nodes;  // by the values of their axes
    std::map<Box, std::optional<std::pair<Node, Node>>> ranges;
  };
  Document document(const std::vector<std::size_t>& values) const;
  static bool have_same_head(const Arch& one, Arch other);
  void find_axes();
  template <class Node, class Of>
  bool widen_over(std::size_t node, Known<Node>& known, const Box& box, const Of& of, Range& range);

  std::string name_;
  Document document_;
  std::vector<GridAxis> axes_;
  std::vector<std::vector<std::size_t>> axes_of_;        // of each node of the file, in its order
  std::vector<bool> whole_;                              // axes that more than nodes depend on
  std::vector<std::size_t> level_nodes_, fanout_nodes_;  // where these stand in the file
  std::size_t compute_node_ = 0;
  std::vector<Known<Storage>> levels_;
  std::vector<Known<Fanout>> fanouts_;
  Known<Compute> compute_;
};

}  // namespace mapsim::check
