// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapper/mapper.hpp"

namespace mapsim {

struct HistogramOptions {
  std::int64_t mappings = 480'000;  // distinct mappings, about
  double within_peak = 0.05;        // only mappings that reach (1 - this) of the peak MAC rate
  bool compute_only = false;        // the rate without transfers: as if bandwidths were infinite
  std::int64_t thinning = 4;        // steps of the walk per mapping that counts
  std::uint64_t seed = 1;
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;
};

// Figures of one mapping.
struct HistogramPoint {
  double energy_pj = 0;
  std::int64_t outermost_accesses = 0;  // elements that the outermost level reads and writes
};

struct Histogram {
  std::vector<HistogramPoint> points;  // distinct mappings, in a fixed order
  std::optional<Cost> optimum;         // of the whole mapspace, for energy, proven
  std::int64_t unrollings = 0;  // those that reach the rate; each gets the same share of walks
  std::int64_t unrollings_total = 0;
  std::int64_t proposals = 0;
  std::string mapspace_size{};  // exact, decimal; empty: interrupted before it was counted
  bool interrupted = false;
};

// The distribution of energy over the mappings of a space that keep the machine busy. Random walks,
// uniform in the long run (mapper/mapspace/walk.hpp), begin at the fastest mapping of each
// unrolling that reaches the rate. Without points no mapping reaches it. The result does not depend
// on the number of threads.
Histogram make_histogram(const Mapspace& space, const HistogramOptions& options);

// The statistics that figure 1 of Timeloop (Parashar et al., ISPASS 2019) shows.
struct HistogramSummary {
  double least_pj = 0;
  double most_pj = 0;
  std::int64_t near_optimum = 0;    // within 1 % of the least known energy
  std::int64_t least_accesses = 0;  // of the outermost level
  std::int64_t tied = 0;            // mappings with that number of accesses
  double tied_spread = 0;           // most / least energy among them
};
HistogramSummary summarise(const Histogram& histogram);

}  // namespace mapsim
