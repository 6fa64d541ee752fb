// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "design/lemmas.hpp"

namespace mapsim {

// What designs of a machine differ in: the `list` of a campaign, or a path of its `grid`. Values
// are sorted, so that neighbours are alike.
struct DesignAxis {
  std::string name;  // "nodes.GLB.capacity", or "list"
  std::vector<Settings> values;
  std::vector<std::size_t> places;  // of each value in the file
  // Branched to single values before anything is bounded, since no lemma covers this of it.
  std::string branched;  // empty: no
};

// Values low to high of an axis, both included.
struct ValueInterval {
  std::size_t low = 0, high = 0;
  std::size_t size() const { return high - low + 1; }
  friend auto operator<=>(const ValueInterval&, const ValueInterval&) = default;
};
using DesignBox = std::vector<ValueInterval>;  // one an axis: designs with every combination
double volume(const DesignBox& box);           // designs; exact below 2^53
bool is_single(const DesignBox& box);
bool contains(const DesignBox& box, const std::vector<std::size_t>& values);

// The designs of one machine of a campaign as a box, and the enclosure of every smaller box.
// Nodes of an architecture file are read apart from each other: the range of a node over a box is
// that of its own axes, whatever the others say.
class DesignSpace {
 public:
  // Throws ConfigError where a value of an axis cannot be read, or the machine is a GPU.
  explicit DesignSpace(const Machine& machine, bool has_constraints);

  const Machine& machine() const { return *machine_; }
  const std::vector<DesignAxis>& axes() const { return axes_; }
  DesignBox all() const;
  Settings settings(const std::vector<std::size_t>& values) const;   // in the order of the file
  std::size_t number(const std::vector<std::size_t>& values) const;  // among the machine's designs
  Arch arch(const std::vector<std::size_t>& values) const;           // throws ConfigError

  // nullopt: something differs within the box that no lemma covers; split it further.
  std::optional<Enclosure> enclosure(const DesignBox& box);
  Excepted excepted(const Arch& arch) const { return exceptions(arch, has_constraints_); }

 private:
  // The axes that the number `index` of a kind of nodes depends on, and the ranges that are known.
  template <class Node>
  struct Table {
    std::vector<std::size_t> axes;
    std::map<DesignBox, std::optional<NodeRange<Node>>> known;  // by the intervals of these axes
  };
  void add_axes();
  void find_nodes();
  void classify();
  Document document(const std::vector<std::size_t>& values) const;
  template <class Node, class Of>
  const std::optional<NodeRange<Node>>& range(Table<Node>& table, const DesignBox& box,
                                              const Of& of);

  const Machine* machine_;
  bool has_constraints_;
  std::vector<DesignAxis> axes_;
  std::vector<std::size_t> first_;  // values of the design that others are compared with
  std::vector<std::size_t> whole_;  // axes that more than nodes depend on
  Arch base_;
  std::vector<Table<Storage>> levels_;
  std::vector<Table<Fanout>> fanouts_;
  Table<Compute> compute_;
  std::map<std::vector<std::size_t>, Arch> frames_;  // by the values of whole_
};

}  // namespace mapsim
