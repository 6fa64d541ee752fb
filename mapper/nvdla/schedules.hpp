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

// The work of one atomic operation: kernels along X of the array; channels, filter rows and filter
// columns along Y. The form of the workload decides: channels (direct); 4 x 4 elements of a
// sixteenth of the channels (Winograd); or columns of up to four filter lines (image).
struct NvdlaAtom {
  std::int64_t kernels = 1, channels = 1, filter_rows = 1, filter_columns = 1;
  friend bool operator==(const NvdlaAtom&, const NvdlaAtom&) = default;
};
std::vector<NvdlaAtom> nvdla_atoms(const Problem& problem);

// How software runs a layer on the engine. The buffer holds `kernels` kernels, and the input for
// `rows` rows of output with all columns and all channels, or a part of the channels. One of the
// two stays while parts of the other pass. Inside, it goes kernel group by kernel group, and stripe
// by stripe of rows x columns of outputs.
struct NvdlaSchedule {
  NvdlaAtom atom;
  std::int64_t channels = 1;
  std::int64_t rows = 1;
  std::int64_t kernels = 1;
  bool weights_outside = true;  // the loop over kernels stands outside of that over rows
  std::int64_t stripe_rows = 1;
  std::int64_t stripe_columns = 1;
  friend bool operator==(const NvdlaSchedule&, const NvdlaSchedule&) = default;
};
Mapping mapping_of(const Problem& problem, const NvdlaSchedule& schedule);

// Every schedule with
// - rows of ceil(P / n); whole kernel groups, ceil(groups / n) of them; both loop orders, where
//   they differ;
// - stripes of ceil(rows / n) x ceil(Q / m) outputs, no longer than the engine allows; those of
//   image input within a line;
// - channels in as few parts as let the smallest such schedule fit.
//
// Any extent between two of these needs as many parts and more capacity (docs/nvdla.md). `size`
// counts all schedules. With steady latency, `schedules` leaves out stripes that are no fewer than
// others and take no less time. (With ramped latency the last drain of a smaller stripe is
// shorter.)
struct NvdlaSpace {
  std::vector<NvdlaSchedule> schedules;
  std::int64_t size = 0;
};
NvdlaSpace nvdla_space(const Problem& problem, LatencyMode mode);

// Throws UnsupportedSearch if the layer is neither a convolution nor a matrix product, or if the
// machine's levels are not those of the engine.
void check_engine(const Problem& problem);

}  // namespace mapsim
