// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "interop/scalesim_stream.hpp"

namespace mapsim {

// The number of words that SCALE-Sim reads from DRAM if it computes the bandwidth itself
// (InterfaceBandwidth: CALC), and the cycle of the first.
struct ScaleSimReads {
  std::int64_t words = 0;
  std::int64_t start = 0;
};

// Two slips of the tool: a read buffer consists of a hundred sets of words, of which fifty are
// active. A word that is in none of these is fetched and added; when all are full, all are emptied.
// And these words are prefetched at a bandwidth of their own, which begins that many cycles before
// the first request (or before cycle 0, if the buffer never gets full).
//
// The counts are in closed form, except for an ifmap whose windows overlap and do not fit: its
// requests are walked (nullopt: that takes more than `steps`, which is reduced by those taken).
std::optional<ScaleSimReads> ifmap_reads(const ScaleSimConfig& config,
                                         const ScaleSimFolding& folding, const ScaleSimLayer& layer,
                                         std::int64_t& steps);
ScaleSimReads filter_reads(const ScaleSimConfig& config, const ScaleSimFolding& folding);

}  // namespace mapsim
