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

// How far a sweep is.
struct SweepProgress {
  std::size_t points = 0;   // of this shard
  std::size_t known = 0;    // answered before, or by another point with the same content
  std::size_t planned = 0;  // to compute
  std::size_t computed = 0;
  std::size_t elsewhere = 0;  // planned at first, then answered by another sweep of the database
  std::size_t awaited = 0;    // planned, and at another sweep now
  double seconds = 0;         // since computing began, until all points were computed
  // After the points: choices of all mappings of a network on a design (docs/decisions/0085).
  std::size_t networks_known = 0;    // chosen before, or by another sweep at the same time
  std::size_t networks_planned = 0;  // to choose
  std::size_t networks_chosen = 0;
  std::size_t networks_open = 0;      // cannot be chosen, as a layer has no mapping
  std::size_t networks_given_up = 0;  // a search failed, or files changed: chosen the next time
  std::size_t searches = 0;           // for these choices
  double choosing_seconds = 0;
};
// ", 12 of 96 points, 3.1/s, 27 s left"; ", mappings of 3 of 12 networks, 45 searches"
std::string progress_text(const SweepProgress& progress);

// Points computed elsewhere, too: serve() is called again and again by the thread that writes. It
// hands out points and puts back answers; `stopping`: nothing more is handed out. Says whether
// anybody still owes an answer.
struct Remote {
  std::function<bool(PointQueue& queue, bool stopping)> serve;
};

struct SweepOptions {
  std::string database;
  Shard shard;
  int threads = 1;                          // points at a time; each search has one thread
  const std::atomic<bool>* stop = nullptr;  // none: nobody stops it
  std::function<void(const SweepProgress&)> progress = [](const SweepProgress&) {};
  Remote remote = {};
  std::function<void(const std::string& path)> waiting = {};  // others write to it for a second
  // Other sweeps take over the points of a sweep that has not renewed its leases for this long.
  std::chrono::milliseconds lease{5000};
};

struct SweepSummary {
  SweepProgress progress;
  Store::SampleStatistics tally;      // statistics of all points of the campaign
  std::vector<std::string> failures;  // errors of mapsim's own: computed again next time
  bool interrupted = false;
  std::size_t short_of_memory = 0;  // points without an answer for want of it
};

// Solves points of a campaign, one after the other.
class PointSolver {
 public:
  PointSolver(const Campaign& campaign, const std::atomic<bool>& stop);
  Solved solve(const Asked& asked);

 private:
  const Campaign& campaign_;
  const std::atomic<bool>& stop_;
  std::vector<std::string> layers_, questions_;  // ids of their contents
  std::size_t design_;                           // the one that is loaded
  Design drawn_;
  LoadedDesign loaded_;
};

// Writes down the campaign and the designs of its points (or the shard's), computes those whose
// result is not in the database yet, and writes each as it comes. Rows do not depend on threads,
// shards or the order in which answers come, but for their seconds. Sweeps of one database at the
// same time share the points (campaign/leases.hpp). Throws DatabaseInterrupted
// where it is stopped while it looks through the results that are there.
SweepSummary sweep(const Campaign& campaign, const SweepOptions& options);

std::string summary_text(const Campaign& campaign, const SweepSummary& summary);
// The same for programs.
std::string summary_json(const Provenance& origin, const Campaign& campaign,
                         const SweepSummary& summary);

}  // namespace mapsim
