// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/queue.hpp"
#include "campaign/store.hpp"
#include "report/json.hpp"

namespace mapsim {

// The progress of a sweep.
struct SweepProgress {
  std::size_t points = 0;   // of this shard
  std::size_t known = 0;    // answered before, or by a point with equal content
  std::size_t planned = 0;  // to compute
  std::size_t computed = 0;
  std::size_t elsewhere = 0;  // planned, then answered by another sweep
  std::size_t awaited = 0;    // planned, and leased by another sweep now
  double seconds = 0;         // from the first computation to the last point
  // Then the choices of all mappings of a network on a design (docs/decisions/0085).
  std::size_t networks_known = 0;    // chosen before, or by a concurrent sweep
  std::size_t networks_planned = 0;  // to choose
  std::size_t networks_chosen = 0;
  std::size_t networks_open = 0;      // not chosen, because a layer has no mapping
  std::size_t networks_given_up = 0;  // a search failed or files changed; chosen next time
  std::size_t searches = 0;           // for these choices
  double choosing_seconds = 0;
};
// ", 12 of 96 points, 3.1/s, 27 s left"; ", mappings of 3 of 12 networks, 45 searches"
std::string progress_text(const SweepProgress& progress);

// Points that other processes compute. The writing thread calls serve() repeatedly: it hands out
// points (none if `stopping`) and puts back answers. Returns whether an answer is still
// outstanding.
struct Remote {
  std::function<bool(PointQueue& queue, bool stopping)> serve;
};

struct SweepOptions {
  std::string database;
  Shard shard;
  int threads = 1;                          // concurrent points; each search has one thread
  const std::atomic<bool>* stop = nullptr;  // nullptr: it cannot be stopped
  std::function<void(const SweepProgress&)> progress = [](const SweepProgress&) {};
  Remote remote = {};
  std::function<void(const std::string& path)> waiting = {};  // others have written for a second
  // Other sweeps take over the points of a sweep that has not renewed its leases for this long.
  std::chrono::milliseconds lease{5000};
};

struct SweepSummary {
  SweepProgress progress;
  Store::SampleStatistics statistics;  // statistics of all points of the campaign
  std::vector<std::string> failures;   // internal errors: computed again next time
  bool interrupted = false;
  std::size_t short_of_memory = 0;  // points without an answer because memory was short
  std::size_t needed_bytes = 0;     // about what the sweep needed for them, at most
};

// Solves points of a campaign one by one.
class PointSolver {
 public:
  PointSolver(const Campaign& campaign, const std::atomic<bool>& stop);
  Solved solve(const Asked& asked);

 private:
  const Campaign& campaign_;
  const std::atomic<bool>& stop_;
  std::vector<std::string> layers_, questions_;  // ids of their contents
  std::size_t design_;                           // the loaded design
  Design drawn_;
  LoadedDesign loaded_;
};

// Writes down the campaign and the designs of its points (or the shard's), computes those whose
// result is not in the database yet, and writes each as it comes. Rows, their seconds aside, do not
// depend on threads, shards or the order of answers. Concurrent sweeps of one database share the
// points (campaign/leases.hpp). Throws DatabaseInterrupted if it is stopped while it reads existing
// results.
SweepSummary sweep(const Campaign& campaign, const SweepOptions& options);

std::string summary_text(const Campaign& campaign, const SweepSummary& summary);
// The same for programs.
std::string summary_json(const Provenance& origin, const Campaign& campaign,
                         const SweepSummary& summary);

}  // namespace mapsim
