// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "core/reader.hpp"
#include "interop/accelforge_sets.hpp"
#include "interop/front_end.hpp"
#include "interop/import_notes.hpp"
#include "workloads/chain.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// An einsum of AccelForge, and what its names stand for.
struct ForgeTensor {
  std::string name;
  std::vector<std::string> ranks;  // in our words: p, 2*p+r
  std::int64_t size = 1;           // elements that its ranks reach
  bool output = false;
  Bits bits{8};
};
struct ForgeEinsum {
  std::string name;
  const Node* at = nullptr;
  std::vector<ForgeTensor> tensors;  // the output last
  std::vector<Dim> dims;             // rank variables
  std::int64_t count = 1;
  bool copies = false;  // from where a tensor lies to the same place: it costs nothing
  ForgeNames names;
  // Without multiply-accumulates worth a mapping.
  bool is_stream() const { return tensors.size() < 3; }
  // Roles by the renames `input` and `output`; without them the first operand is the input.
  Role role_of(std::size_t tensor) const;
};

// The einsums of `workload`, with the renames of `renames` (may be absent).
std::vector<ForgeEinsum> read_forge_einsums(Reader& reader, const Node& workload,
                                            const Node* renames, ImportNotes& notes);
// For a machine without a workload: O[m, n] = I[m, k] * W[k, n], 8 bits a value, called output,
// input and weight.
ForgeEinsum usual_forge_einsum();

// A machine as it stands for one einsum, and what its constraints say about that einsum's mapspace
// (YAML; empty: nothing). Errors go to the reader.
struct ForgeMachine {
  Arch arch;
  std::string constraints;
};
ForgeMachine forge_machine(Reader& reader, const Node& arch, const ForgeEinsum& einsum,
                           ImportNotes& notes);

// The mapping of an einsum by itself (YAML). Empty: there is none, or it fuses the einsum with
// others.
struct ForgeMapping {
  std::string text;
  bool fused = false;
};
ForgeMapping forge_mapping(Reader& reader, const Node& mapping, const Arch& arch,
                           const ForgeEinsum& einsum);

// What a set of AccelForge files says.
struct ForgeImport {
  struct Layer {
    std::string name;
    Arch arch;
    std::string constraints;  // empty: none
    std::string mapping;      // likewise
  };
  std::optional<Arch> arch;          // absent: no architecture among the files
  std::optional<Network> network;    // absent: no workload
  std::vector<Layer> layers;         // of einsums that are layers of the network
  std::optional<EinsumChain> chain;  // the einsums, where they pass tensors on
  std::string tree;                  // the mapping of the chain; empty: none
  std::vector<std::string> notes;
};

// Reads the sections of all files together: arch, workload, renames, mapping, variables; templates
// resolved. Throws ConfigError with all that is wrong with a file.
ForgeImport read_accelforge(const std::vector<std::string>& paths,
                            const FrontEndSettings& settings = {});
ForgeImport parse_accelforge(const std::string& text, const std::string& filename,
                             const FrontEndSettings& settings = {});

}  // namespace mapsim
