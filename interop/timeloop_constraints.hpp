// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/reader.hpp"
#include "interop/import_notes.hpp"
#include "interop/timeloop.hpp"
#include "interop/timeloop_arch.hpp"

namespace mapsim {

// The constraints of a mapspace, of all files together: tensors kept and bypassed, dims that may be
// unrolled along an axis and their factors, and factors and order of temporal loops. Several
// constraints for one storage form one rule; one that repeats another is an error, as in Timeloop.
// A least utilisation and dims to maximise are left out with a note, so that the space is wider.
// Other demands of Timeloop (overbooking, no reuse ...) have no counterpart and are errors, unless
// they demand nothing.
class TimeloopConstraints {
 public:
  TimeloopConstraints(const TimeloopArchSection& arch, const Workload& workload,
                      ImportNotes& notes);

  // A section of constraints.
  void read(Reader& reader, const Node& section);
  // Constraints of version 0.4, inside of the component that they are about. Those about the
  // instances of a container concern the fanout below the storage above it.
  void read(Reader& reader, const TimeloopPlacedConstraint& placed);

  std::vector<TimeloopConstraint> take();  // for each storage one, if there is any

 private:
  // All constraints on the loops of one kind at one storage.
  struct Loops {
    Reader* reader = nullptr;  // of the last of them
    const Node* node = nullptr;
    const Node* factors_at = nullptr;
    const Node* permutation = nullptr;
    Reader* permutation_reader = nullptr;
    const Node* split = nullptr;
    bool of_front_end = false;  // not yet as the front end hands it to Timeloop
    TimeloopFactorRules factors;
  };

  struct Target {
    std::size_t level = 0;
    bool is_name = false;  // of a fanout: nothing is kept or iterated there
    bool is_unit = false;  // of a fanout to one instance
  };

  void read_list(Reader& reader, const Node& list);
  void read_typed(Reader& reader, const Node& item, const Node* target, const Node& node);
  void read_one(Reader& reader, const std::string& type, const Node& node, const Target& target);
  void read_keeps(Reader& reader, const Node& node, const Target& target);
  void read_loops(Reader& reader, const Node& node, const Target& target, bool spatial);
  DimSet not_iterated(Reader& reader, const Node& node) const;
  TimeloopFactorRules factors_of(Reader& reader, const Node& node) const;
  void read_branches(Reader& reader, const TimeloopPlacedConstraint& placed);
  std::optional<Target> own_fanout(const std::string& name) const;
  std::optional<Target> find_target(const std::string& name, bool spatial) const;
  void demand_ones(Reader& reader, const Node& node, const TimeloopFactorRules& factors) const;
  void check_keys(Reader& reader, const Node& node, const std::string& type, const Words& known);
  void refuse_all(Reader& reader, const Node& node, const std::string& type);
  void add(std::size_t level, TensorSet keep, TensorSet bypass, Reader& reader, const Node& node);
  TimeloopLoopRule temporal_rule(const Loops& loops) const;
  void spatial_rule(const Loops& loops, TimeloopConstraint& out) const;
  void note_split(std::size_t level, std::size_t split) const;
  void check_instances(const Loops& loops, std::size_t level,
                       const TimeloopAxisRule (&axes)[2]) const;

  const TimeloopMachine& machine_;
  const Workload& workload_;
  ImportNotes& notes_;
  std::set<std::string> absorbed_;
  std::set<std::string> dummies_;
  std::set<std::string> empty_;
  std::set<std::string> of_nodes_;
  Words storages_;
  Words tensors_;
  std::map<std::size_t, std::pair<TensorSet, TensorSet>> keeps_;  // kept, bypassed
  std::map<std::pair<std::size_t, bool>, Loops> loops_;           // by level; true: spatial
};

}  // namespace mapsim
