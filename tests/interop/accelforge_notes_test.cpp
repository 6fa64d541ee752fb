// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "interop/accelforge.hpp"

namespace mapsim::accelforge_notes_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

std::string written(const char* name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream{path} << text;
  return path;
}

// A memory that depends on another one, one without a size known to a table, a compute unit without
// a time, an einsum without widths, and a mapping that fuses.
TEST(ForgeNotes, SayWhereWhatTheyAreAboutStands) {
  const std::string machine = written("forge_notes_arch.yaml", R"(arch:
  nodes:
  - !Memory
    name: Off
    size: inf
    component_class: LPDDR4
    tensors: {keep: All}
  - !Memory
    name: Buffer
    size: 1024 * 8
    actions: [{name: read, energy: 1e-12}, {name: write, energy: 1e-12}]
    tensors: {keep: ~Off, may_keep: All, back: output}
  - !Compute
    name: MAC
    actions: [{name: compute, energy: 1e-12, throughput: inf}]
)");
  const std::string products = written("forge_notes_workload.yaml", R"(workload:
  rank_sizes: {M: 8, N0: 4, N1: 6, N2: 2}
  einsums:
  - "T1[m, n1] = T0[m, n0] * W0[n0, n1]"
  - "T2[m, n2] = T1[m, n1] * W1[n1, n2]"
)");
  const std::string mapping = written("forge_notes_mapping.yaml", R"(mapping:
  nodes:
  - !Storage {tensors: [T0, W0, W1, T2], component: Off}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Compute {einsum: T1, component: MAC}
    - !Nested
      nodes:
      - !Compute {einsum: T2, component: MAC}
)");
  const ForgeImport import = read_accelforge({machine, products, mapping});
  for (const std::string& note : import.notes) {
    EXPECT_THAT(note, MatchesRegex(".*forge_notes_(arch|workload|mapping)\\.yaml:[0-9]+: .*"));
  }
  EXPECT_THAT(import.notes, Contains(StartsWith(machine + ":3: Off: energies by our own tables")));
  EXPECT_THAT(import.notes, Contains(StartsWith(machine + ":12: Buffer: back is left out")));
  EXPECT_THAT(import.notes, Contains(StartsWith(machine + ":13: MAC takes no time in AccelForge")));
  EXPECT_THAT(import.notes, Contains(StartsWith(products + ":4: tensor T0 has no bits_per_value")));
  EXPECT_THAT(import.notes, Contains(StartsWith(products + ":2: network.yaml: einsums run")));
  EXPECT_THAT(import.notes, Contains(StartsWith(mapping + ":2: the mapping fuses T1")));
  EXPECT_THAT(import.notes,
              Contains(StartsWith(mapping + ":2: the mapping of the einsums is not written")));
}

// Line 3 of what the template becomes is line 2 of another file.
TEST(ForgeNotes, StandInTheFileThatATemplateIncludes) {
  written("forge_included.yaml",
          "\n  - !Compute {name: MAC, actions: [{name: compute, energy: 1e-12, "
          "throughput: inf}]}\n");
  const std::string machine = written("forge_including.yaml", R"(arch:
  nodes:
  - !Memory
    name: Off
    size: inf
    actions: [{name: read, energy: 1e-12, latency: 0}, {name: write, energy: 1e-12, latency: 0}]
{{include_text("forge_included.yaml")}}
)");
  EXPECT_THAT(read_accelforge({machine}).notes,
              Contains(HasSubstr("forge_included.yaml:2: MAC takes no time in AccelForge")));
}

// What is missing of the totals comes first.
TEST(ForgeNotes, BeginWithNetworksThatAreLeftOut) {
  const std::string machine = written("forge_network.yaml", R"(arch:
  nodes:
  - !Memory
    name: Off
    size: inf
    tensors: {keep: All, back: All}
    actions: [{name: read, energy: 1e-12, latency: 0}, {name: write, energy: 1e-12, latency: 0}]
  - !Network
    name: Mesh
    actions: [{name: hop, energy: 1e-12, latency: 1e-9}]
  - !Compute
    name: MAC
    spatial: [{name: X, fanout: 4}]
    actions: [{name: compute, energy: 1e-12, throughput: 1e9}]
)");
  const ForgeImport import = read_accelforge({machine});
  EXPECT_EQ(import.notes.front(),
            machine +
                ":8: Mesh: a !Network has no counterpart and is left out: energy and time of its "
                "hops, its area and its leakage are in no figure");
  EXPECT_EQ(import.arch->mac_units(), 4);
}

}  // namespace
}  // namespace mapsim::accelforge_notes_test
