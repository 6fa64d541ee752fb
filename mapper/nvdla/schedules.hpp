// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/mapping.hpp"
#include "costmodel/problem.hpp"
#include "mapper/objective.hpp"
#include "workloads/form.hpp"

namespace mapsim {

// What an atomic operation does at once: kernels along X of the array; channels, filter rows and
// filter columns along Y. By the form of the workload: channels (direct), 4 x 4 of a quarter of a
// sixteenth of the channels (winograd), or columns of up to four filter lines (image).
struct NvdlaAtom {
  std::int64_t kernels = 1, channels = 1, filter_rows = 1, filter_columns = 1;
  friend bool operator==(const NvdlaAtom&, const NvdlaAtom&) = default;
};
std::vector<NvdlaAtom> nvdla_atoms(const Problem& problem);

// How software runs a layer on the engine. The buffer holds all columns and channels (or a part of
// the channels) of `rows` rows of output, and `kernels` kernels; one of the two stays while parts
// of the other pass. Inside: kernel by kernel group, stripe by stripe of rows x columns of outputs.
struct NvdlaSchedule {
  NvdlaAtom atom;
  std::int64_t channels = 1;
  std::int64_t rows = 1;
  std::int64_t kernels = 1;
  bool weights_outside = true;  // the loop over kernels is outside of that over rows
  std::int64_t stripe_rows = 1;
  std::int64_t stripe_columns = 1;
  friend bool operator==(const NvdlaSchedule&, const NvdlaSchedule&) = default;
};
Mapping mapping_of(const Problem& problem, const NvdlaSchedule& schedule);

// Every schedule with
//  - rows of ceil(P / n); kernels of whole kernel groups, ceil(groups / n) of them; both orders,
//    where they differ;
//  - stripes of ceil(rows / n) x ceil(Q / m) outputs, at most the engine's longest; those of image
//    input within a line;
//  - channels in as few parts as let the least such schedule fit.
// Any extent between two of these needs as many parts and more capacity; docs/nvdla.md. `size`
// counts them all; `schedules` of steady latency lacks stripes that are as many as others' or more
// and take as long or longer. (Ramped, the last drain of a smaller stripe is shorter.)
struct NvdlaSpace {
  std::vector<NvdlaSchedule> schedules;
  std::int64_t size = 0;
};
NvdlaSpace nvdla_space(const Problem& problem, LatencyMode mode);

// Throws UnsupportedSearch for what is neither a convolution nor a matrix product, and for machines
// whose levels are not those of the engine.
void check_engine(const Problem& problem);

}  // namespace mapsim
