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
#include "interop/onnx.hpp"
#include "workloads/graph.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// A memory of an accelerator of ZigZag, by its terms. Energies are per access of the given widths.
struct ZigzagMemory {
  std::string name;
  Bits size{0};
  Bits width{1};  // of the widest port
  // Widths of the accesses to which the energies apply.
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
// An accelerator.
struct ZigzagMachine {
  std::string name;
  std::vector<std::string> dims;  // of the array
  std::vector<std::int64_t> sizes;
  double mac_energy = 0;               // pJ
  std::vector<ZigzagMemory> memories;  // innermost first
  // For a core of Stream: does it have an array, and is its outermost memory on the chip, with a
  // limited size?
  bool computes = true;
  bool on_chip = false;
};
// Reads an accelerator; errors go to the reader. `core`: one of a chip, where `type` may be left
// out.
ZigzagMachine read_zigzag_machine(Reader& reader, std::vector<std::string>& notes,
                                  bool core = false);

// The unrolling along one dim of the array.
struct ZigzagUnrolling {
  bool given = false;           // false: any dim may be unrolled, or
  std::optional<DimSet> may{};  // any of these
  std::vector<std::pair<DimId, std::int64_t>> factors;
  std::int64_t used() const;  // product of the factors
};

// The machine of mapsim for these unrollings (one for each dim of the array). The dims of the array
// along which a memory is shared lie below it. If two memories are shared along different dims, and
// neither along all dims of the other, one of them becomes a copy for each unit that shares it, at
// its share of the energy. `copied` has, by dim of the array, the roles that are copied along it:
// no dim that indexes their operands may be unrolled there, which the fanouts' dims say, too.
struct ZigzagArch {
  Arch arch;
  std::vector<RoleSet> copied;
  std::string note;  // names the memories that were copied; empty: none
};
ZigzagArch zigzag_arch(const ZigzagMachine& machine,
                       const std::vector<ZigzagUnrolling>& unrollings);

// A core of a chip of Stream, with the off-chip memory behind it.
struct ZigzagCore {
  std::string name;
  Arch arch;
  std::int64_t count = 1;
  Words operators{};             // the operators that it runs; empty: all
  std::optional<double> port{};  // bits per cycle to the off-chip memory
};
// The distinct computing cores of a chip, and the chip for `mapsim plan` (YAML; empty: there is no
// off-chip memory). Links between cores are left out, with a note.
struct ZigzagChip {
  std::vector<ZigzagCore> cores;
  std::string soc;
};
using ReadFile = std::function<Document(const std::string& path)>;
ZigzagChip read_stream_chip(const Document& chip, const ReadFile& read,
                            std::vector<std::string>& notes);

// An accelerator, and layers with their constraints as YAML. `arch` of a layer differs if its
// unrolling leaves units of a shared memory idle.
struct ZigzagImport {
  struct Layer {
    std::string name;
    Workload workload;
    std::string constraints;  // empty: none
    Arch arch;
    std::int64_t count = 1;
    // From a result file: the mapping that ZigZag found, and the cost that ZigZag states.
    struct Found {
      Mapping mapping;
      Picojoules energy{0};
      double cycles = 0;
    };
    std::optional<Found> found{};
  };
  Arch arch;
  std::vector<Layer> layers;
  std::map<std::string, std::int64_t> left_out;  // numbers of layers by reason: Add, Pooling
  std::string network;                           // the workload's name
  std::optional<NetworkGraph> graph;             // of all of its layers
  std::string no_graph;                          // why no graph has its layers; empty: one may
  ZigzagChip chip;                               // of Stream; all of the above is then empty
  std::vector<std::string> notes;
};

// Reads an accelerator, a workload (YAML, or an ONNX model) with a mapping, and results (the JSON
// of a layer that ZigZag has mapped), or a chip of Stream alone. Keys tell the files apart. A layer
// without a counterpart is left out, with a note that names it, its line and the reason. A model
// has the widths of ZigZag, whatever `model` says. Throws ConfigError.
ZigzagImport read_zigzag(const std::vector<std::string>& paths, const OnnxOptions& model);
ZigzagImport import_zigzag(std::vector<Document> documents);

}  // namespace mapsim
