// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "arch/accelergy.hpp"
#include "core/reader.hpp"
#include "interop/import_notes.hpp"
#include "interop/timeloop_formats.hpp"

namespace mapsim {

// Reads the sections `sparse_optimizations` of whole designs ({targets: [...]}) and of single
// components. Errors are what has no counterpart: UB, a choice among several conditions, conditions
// on the output.
class TimeloopSparse {
 public:
  TimeloopSparse(const TimeloopDesign& design, ImportNotes& notes)
      : design_{design}, notes_{notes} {
    levels_.resize(design.machine.storages.size());
    for (Level& level : levels_) {
      level.formats.resize(design.workload.tensors.size());
    }
  }

  void read(Reader& reader, const Node& section);
  void read(Reader& reader, const std::string& component, const Node& section);
  // Below which storages lanes take the next nonzeros.
  void mark_lanes(TimeloopMachine& machine) const;
  // Takes the energies of gated and skipped accesses.
  void take_energies(const EnergyReferences& table);
  // Is the design dense? So it is if no target has an optimisation.
  bool is_empty() const;
  // Are the formats of a tensor with this density counted? Not all are of n:m structure.
  bool is_counted(TensorId t, const Workload& with_density) const;
  // Marks a tensor with uniform density in files, of which every tile has its exact share of
  // nonzeros.
  void share_out(TensorId t) { shared_out_.insert(t); }
  // Called last, because formats depend on the mapping, if there is one. Errors go to the readers.
  Sparsity result();

 private:
  // Formats per tensor, and where each is written.
  struct Place {
    Reader* reader = nullptr;
    const Node* node = nullptr;
  };
  struct Level {
    std::vector<std::optional<TimeloopRanks>> formats;
    std::map<std::size_t, Place> places;
    StorageSparsity sparsity;
    TensorSet packed;  // whose nonzeros the lanes below take
  };

  void read_format(Reader& reader, const Node& node, std::size_t level);
  void read_ranks(Reader& reader, const Node& space, std::size_t level, TensorId t);
  std::optional<TimeloopRank> read_rank(Reader& reader, const Node& node, std::size_t level,
                                        bool innermost);
  std::int64_t whole_in_row(std::int64_t bits, const TimeloopStorage& storage);
  void read_actions(Reader& reader, const Node& list, std::size_t level);
  void read_lanes(Reader& reader, const Node& node, std::size_t level, bool own);
  void read_condition(Reader& reader, const Node& node, ZeroAct act, std::size_t level);
  bool may_name_roles(Reader& reader, const Node& node) const;
  void read_compute(Reader& reader, const Node& list);
  std::optional<TensorId> tensor(Reader& reader, const Node* node) const;
  StoredAs stored_as(TensorId t, std::size_t level) const;
  void write_formats(std::size_t l);
  void set_fits(std::size_t l);
  DimSet lane_dims(std::size_t l) const;
  void set_lanes();

  const TimeloopDesign& design_;
  ImportNotes& notes_;
  std::vector<Level> levels_;
  Sparsity sparsity_;
  TensorSet shared_out_;
};

// More indices than lanes become batches of loops in time: `for K: 16` outside of 16 of 64 lanes.
void split_into_batches(TimeloopDesign& design, ImportNotes& notes);

// Reads `densities` and `commonDensity` of a problem: hypergeometric becomes uniform;
// fixed_structured becomes n:m along a dim that m divides or, if there is none, uniform with a
// note.
void read_timeloop_densities(Reader& reader, const Node& problem, TimeloopSparse& sparse,
                             Workload& workload, ImportNotes& notes);
// Has a problem any densities?
bool has_densities(const Node& problem);

}  // namespace mapsim
