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

// Sections `sparse_optimizations`: of whole designs ({targets: [...]}), and of single components.
// What has no counterpart is an error: UB, spatial and position skipping, a choice among several
// conditions, conditions on the output.
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
  // Energies of accesses that are not made.
  void take_energies(const EnergyReferences& table);
  // Targets for which nothing is asked leave a design dense.
  bool is_empty() const;
  // Whether a level stores a tensor in runs.
  bool has_runs(TensorId t) const;
  // Every tile of this tensor has its share of nonzeros, though its density is written as uniform.
  void share_out(TensorId t) { shared_out_.insert(t); }
  // Formats need the mapping, if there is one. `reader` takes what is wrong with them.
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
  };

  void read_format(Reader& reader, const Node& node, std::size_t level);
  void read_ranks(Reader& reader, const Node& space, std::size_t level, TensorId t);
  std::optional<TimeloopRank> read_rank(Reader& reader, const Node& node, std::size_t level,
                                        bool innermost);
  std::int64_t whole_in_row(std::int64_t bits, const TimeloopStorage& storage);
  void read_actions(Reader& reader, const Node& list, std::size_t level);
  void read_condition(Reader& reader, const Node& node, ZeroAct act, std::size_t level);
  void read_compute(Reader& reader, const Node& list);
  std::optional<TensorId> tensor(Reader& reader, const Node* node) const;
  void write_formats(std::size_t l);
  void set_fits(std::size_t l);

  const TimeloopDesign& design_;
  ImportNotes& notes_;
  std::vector<Level> levels_;
  Sparsity sparsity_;
  TensorSet shared_out_;
};

// `densities` and `commonDensity` of a problem: hypergeometric becomes uniform; fixed_structured
// becomes n:m along a dim where there is one that it divides, else uniform, with a note.
void read_timeloop_densities(Reader& reader, const Node& problem, TimeloopSparse& sparse,
                             Workload& workload, ImportNotes& notes);
// Whether a problem has any.
bool has_densities(const Node& problem);

}  // namespace mapsim
