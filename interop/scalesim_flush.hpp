// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "interop/scalesim_stream.hpp"

namespace mapsim {

// Reads of DRAM while SCALE-Sim computes the bandwidth (InterfaceBandwidth: CALC), and the cycle of
// the first.
struct ScaleSimReads {
  std::int64_t words = 0;
  std::int64_t start = 0;
};

// Slip: a read buffer is a hundred sets of words, the half that is read fifty of them. A word that
// is in none of them is fetched and joins; when all are full, all are emptied. Slip: this is
// prefetched at a bandwidth of its own, from so many cycles before the first request (or before
// cycle 0, if it never gets full).
//
// In closed form but for an ifmap of windows that overlap and do not fit: its requests are walked
// (nullopt: in more than `steps`).
std::optional<ScaleSimReads> ifmap_reads(const ScaleSimConfig& config,
                                         const ScaleSimFolding& folding, const ScaleSimLayer& layer,
                                         std::int64_t& steps);
ScaleSimReads filter_reads(const ScaleSimConfig& config, const ScaleSimFolding& folding);

}  // namespace mapsim
