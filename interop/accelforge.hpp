// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
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

// A tensor of an AccelForge einsum.
struct ForgeTensor {
  std::string name;
  std::vector<std::string> ranks;  // as mapsim's workloads write them: p, 2*p+r
  std::int64_t size = 1;           // elements within the reach of its ranks
  bool output = false;
  Bits bits{8};
};
// An einsum, and the meaning of the names in its file.
struct ForgeEinsum {
  std::string name;
  const Node* at = nullptr;
  std::vector<ForgeTensor> tensors;  // the output last
  std::vector<Dim> dims;             // rank variables
  std::int64_t count = 1;
  bool copies = false;  // it copies a tensor to the place where it lies, and costs nothing
  ForgeNames names;
  // Is it a memory-bound operator, with too few MACs to be mapped?
  bool is_stream() const { return tensors.size() < 3; }
  // The role of a tensor by the renames `input` and `output`; without these the first operand is
  // the input.
  Role role_of(std::size_t tensor) const;
};

// A node `renames`, and the reader of its file.
struct ForgeRenames {
  Reader* reader = nullptr;
  const Node* node = nullptr;  // nullptr: absent
};
// Check the form of renames, and of one list of them. Errors go to the reader.
void check_forge_rename_list(Reader& reader, const Node& renames);
void check_forge_renames(const ForgeRenames& renames);
// The einsums of a node `workload`, with those of `renames`. Numbers may name `variables`. Errors
// go to the readers.
std::vector<ForgeEinsum> read_forge_einsums(Reader& reader, const Node& workload,
                                            const ForgeRenames& renames,
                                            const std::map<std::string, double>& variables,
                                            ImportNotes& notes);
// The einsum by which a machine without a workload is read: O[m, n] = I[m, k] * W[k, n] of 8 b,
// with the names output, input and weight.
ForgeEinsum usual_forge_einsum();

// The machine for one einsum, and the constraints of that einsum's mapspace (YAML; empty: none).
// Errors go to the reader.
struct ForgeMachine {
  Arch arch;
  std::string constraints;
};
ForgeMachine forge_machine(Reader& reader, const Node& arch, const ForgeEinsum& einsum,
                           ImportNotes& notes);

// The mapping of a single einsum (YAML), where it is alone.
struct ForgeMapping {
  enum class State : std::uint8_t { kAbsent, kFused, kAlone };
  std::string text;
  State state = State::kAbsent;
};
// check_forge_mapping() has found no error in the mapping.
ForgeMapping forge_mapping(Reader& reader, const Node& mapping, const Arch& arch,
                           const ForgeEinsum& einsum);

// The content of a set of AccelForge files.
struct ForgeImport {
  struct Layer {
    std::string name;
    Arch arch;
    std::string constraints;  // empty: none
    std::string mapping;      // empty: none
  };
  std::optional<Arch> arch;          // absent: no architecture among the files
  std::optional<Network> network;    // absent: no workload
  std::vector<Layer> layers;         // of einsums that are layers of the network
  std::optional<EinsumChain> chain;  // the einsums, if they pass tensors on
  std::string tree;                  // the mapping of the chain; empty: none
  std::vector<std::string> notes;
};

// Reads the sections of all files together (arch, workload, renames, mapping, variables) and
// resolves templates. Throws ConfigError with all errors of a file.
ForgeImport read_accelforge(const std::vector<std::string>& paths,
                            const FrontEndSettings& settings = {});
ForgeImport parse_accelforge(const std::string& text, const std::string& filename,
                             const FrontEndSettings& settings = {});

}  // namespace mapsim
