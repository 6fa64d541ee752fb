// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "core/reader.hpp"
#include "costmodel/mapping.hpp"
#include "workloads/graph.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// An accelerator of ZigZag, in its own words.
struct ZigzagMemory {
  std::string name;
  Bits size{0};
  Bits width{1};  // of the widest port
  // Of the accesses that the energies are of.
  Bits read_width{1};
  Bits write_width{1};     // from further out
  Bits update_width{1};    // sums from further in
  double read_energy = 0;  // pJ
  double write_energy = 0;
  Bandwidth bandwidth;
  bool double_buffered = false;
  RoleSet roles;                 // I1 is the input, I2 the weight
  std::set<std::size_t> shared;  // array dims along which all units share an instance
};
struct ZigzagMachine {
  std::string name;
  std::vector<std::string> dims;  // of the array
  std::vector<std::int64_t> sizes;
  double mac_energy = 0;               // pJ
  std::vector<ZigzagMemory> memories;  // innermost first
  // Of a core of Stream: whether it has an array at all, and whether its outermost memory is one of
  // the chip, with an end.
  bool computes = true;
  bool on_chip = false;
};
ZigzagMachine read_zigzag_machine(Reader& reader, std::vector<std::string>& notes);

// What is unrolled along one dim of the array.
struct ZigzagUnrolling {
  bool given = false;           // else any dim may be, or
  std::optional<DimSet> may{};  // one of these
  std::vector<std::pair<DimId, std::int64_t>> factors;
  std::int64_t used() const;
};

// The machine as it stands when these dims are unrolled (one entry for each dim of the array). Dims
// of the array that a memory is shared along are below it. Where two memories are shared along
// dims of which neither has all, one becomes a copy for each unit that shares it, at its share of
// the energy; `copied` has the dims of the array along which a role is copied: no dim that indexes
// its operand may be unrolled there.
struct ZigzagArch {
  Arch arch;
  std::vector<RoleSet> copied;
  std::vector<std::string> copies;  // memories that became some
};
ZigzagArch zigzag_arch(const ZigzagMachine& machine,
                       const std::vector<ZigzagUnrolling>& unrollings);

// An accelerator, and layers with their rules as YAML; `arch` of a layer is another where its
// unrolling leaves units of a shared memory idle.
// A core of a chip of Stream, with the memory off the chip behind it.
struct ZigzagCore {
  std::string name;
  Arch arch;
  std::int64_t count = 1;
  Words operators{};             // that it runs; empty: all
  std::optional<double> port{};  // bits per cycle to the memory off the chip
};
// The distinct cores of a chip that compute something, and the chip as `mapsim plan` reads it
// (YAML; empty: nothing lies off the chip). Links between cores are left out with a note.
struct ZigzagChip {
  std::vector<ZigzagCore> cores;
  std::string soc;
};
using ReadFile = std::function<Document(const std::string& path)>;
ZigzagChip read_stream_chip(const Document& chip, const ReadFile& read,
                            std::vector<std::string>& notes);

struct ZigzagImport {
  struct Layer {
    std::string name;
    Workload workload;
    std::string constraints;  // empty: none
    Arch arch;
    std::int64_t count = 1;
    // Of a result: the mapping that ZigZag found, and what it says that it costs.
    struct Found {
      Mapping mapping;
      Picojoules energy{0};
      double cycles = 0;
    };
    std::optional<Found> found{};
  };
  Arch arch;
  std::vector<Layer> layers;
  std::map<std::string, std::int64_t> left_out;  // layers by why: Add, Pooling
  std::string network;                           // the workload's name
  std::optional<NetworkGraph> graph;             // of all of its layers
  ZigzagChip chip;                               // then there is neither of the above
  std::vector<std::string> notes;
};

// Reads an accelerator, a workload (YAML, or an ONNX model) with a mapping, and results (the JSON
// of a layer that ZigZag has mapped), told apart by their keys; or a chip of Stream alone. A layer
// that has no counterpart here is left out with a note that names it, its line and why. Throws
// ConfigError.
ZigzagImport read_zigzag(const std::vector<std::string>& paths);
ZigzagImport import_zigzag(std::vector<Document> documents);

}  // namespace mapsim
