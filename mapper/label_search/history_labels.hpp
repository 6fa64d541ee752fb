// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mapper/label_search/label_store.hpp"
#include "mapper/label_search/loop_chains.hpp"

namespace mapsim::imperfect {

// A nest in the making.
struct Label {
  exact::Step step;
  std::int64_t before = -1;   // the label that it extends
  PerDim<Chains::Id> chains;  // as far as the last point: a keep that stands here, or a fanout
  DimSet since;    // dims cut since something was placed before; if it is placed here, above it
  DimSet settled;  // dims that no loop may cut next: the keep above might as well stand below it
  // Where loops have an order: dims that the next loop may not be over; those cut since the last
  // point, loops over which end nowhere yet.
  DimSet barred, open;
  std::size_t begun = 0;  // the tile at which the region began, as far as its rules ask
  bool placed = true;     // something here, ahead of its place or not
  // What was placed ahead at less than it may cost in the end; 0: nothing. Such a label is dearer
  // than it looks, by as much as any other that owes the same.
  std::size_t owed = 0;
  bool at_point = true;
  std::size_t next_dim = 0;      // loops of a block come in the order of dims, edges apart
  std::size_t run = Run::kNone;  // dim of the last loop, if tiles slide along it
  bool dominated = false;
  double steps = 0;        // temporal, of the first instance: at least
  std::int64_t next = -1;  // in the list of labels like it
};

// The labels of a search with their values: paid components, then used rooms.
class Labels {
 public:
  using Id = std::int64_t;
  static constexpr Id kNone = -1;
  explicit Labels(std::size_t width) : width_{width} {}

  const Label& operator[](Id id) const { return labels_[static_cast<std::size_t>(id)]; }
  double* values(Id id) { return &values_[static_cast<std::size_t>(id) * width_]; }
  const double* values(Id id) const { return &values_[static_cast<std::size_t>(id) * width_]; }
  std::size_t size() const { return labels_.size(); }
  // A new one after `before`, whose values it gets; the newest of all.
  Id add(Label label);
  Label& newest() { return labels_.back(); }
  void retract();
  // Is there a label like the newest, at the same node and with the same chains, that is no worse
  // in any way? If not, it joins their list and strikes out those that it is no worse than.
  bool newest_is_dominated();
  std::vector<exact::Step> trace(Id id) const;

 private:
  static std::uint64_t hash(const Label& label);
  static bool alike(const Label& a, const Label& b);
  bool no_worse(Id a, Id b) const;

  std::size_t width_;
  std::vector<Label> labels_;
  std::vector<double> values_;
  std::unordered_map<std::uint64_t, Id> heads_;
};

}  // namespace mapsim::imperfect
