// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/joint.hpp"
#include "campaign/leases.hpp"
#include "campaign/point.hpp"
#include "campaign/queue.hpp"
#include "campaign/store.hpp"
#include "campaign/sweep.hpp"

namespace mapsim {

// Chooses the mappings of networks jointly for the designs of a sweep (docs/decisions/0085). Each
// search for a choice is a point of the queue, and its answer a row like any other. Rows that exist
// are not searched again, so a killed sweep continues where it was. The answer about a network is a
// row, too; its mapping names for each layer the question that found the mapping. Choices are
// leased as points are. A choice in progress has one search at a time in the queue.
class JointSearches {
 public:
  // `missing`: numbers of network_points(campaign). `designs`: ids of the contents of theirs, by
  // number. `store`, of which no transaction is open, outlives it, and so does the campaign.
  JointSearches(const Campaign& campaign, Store& store, const std::vector<std::size_t>& missing,
                std::vector<std::string> designs, std::chrono::milliseconds lease);

  // Continues each choice whose answer has come, and begins others while the queue is empty. To be
  // called repeatedly.
  void feed(PointQueue& queue, const std::atomic<bool>& stop, SweepProgress& progress);
  bool is_done() const;
  // The result of a search, whose row exists.
  void take(const Solved& solved);
  void release() { leases_.release(); }  // gives all leases back

 private:
  struct Found {
    std::string question;
    double energy_pj = 0;
    std::int64_t steady = 0, ramped = 0;  // cycles
    double seconds = 0;                   // of the search
  };
  // A choice in progress.
  struct Choosing {
    std::size_t number = 0;
    PointKey key;
    JointEdp joint;
    bool is_engine = false;
    double clock_hz = 0;
    std::vector<std::size_t> layers{};        // the distinct layers, as indices of the campaign
    std::vector<std::vector<Found>> found{};  // of each, in the order of the points of `joint`
    Found streams{};                          // all of the network
    std::optional<JointQuestion> question{};
    PointKey asked{};          // of that question
    Asked task{};              // the same as the queue has it
    bool is_waiting = false;   // for its answer
    bool is_open = false;      // a layer has no mapping
    bool is_given_up = false;  // a search failed, or the design's files changed
  };
  PointKey key_of(std::size_t number) const;
  Question question_of(const Choosing& choosing) const;
  Choosing begin(std::size_t number) const;
  void ask(Choosing& choosing, PointQueue& queue);
  void learn(Choosing& choosing, Record row);
  void finish(const Choosing& choosing, SweepProgress& progress);
  Record answer(const Choosing& choosing) const;

  const Campaign& campaign_;
  Store& store_;
  std::vector<std::string> designs_, layers_, questions_;  // ids of their contents
  std::vector<NetworkPoint> networks_;
  LeasedPoints leases_;
  PointQueue leased_;  // to begin
  std::list<Choosing> choosing_;
};

}  // namespace mapsim
