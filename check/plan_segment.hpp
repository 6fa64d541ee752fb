// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "check/plan_at_once.hpp"

namespace mapsim::check {

inline constexpr std::size_t kNoPart = ~std::size_t{0};

// When what has been appended lets something start, from the start of the segment.
struct PlanMoment {
  std::uint64_t covered = 0;    // operations of the segment
  std::size_t out = kNoPart;    // the place that made the last tensor
  double now = 0;               // what is appended starts no earlier
  double finish = 0;            // of all groups
  std::vector<double> free{};   // by clock
  std::vector<double> there{};  // by tensor of the segment, and server
};

// The parts of a segment, numbered from 0, and what no schedule of it can be faster than.
class SegmentParts {
 public:
  using Bits = std::uint64_t;
  static constexpr std::size_t kMostBits = 64;

  SegmentParts(const PlanClaim& claim, const PlanServers& servers, const PlanSegment& segment);

  // The first tensor is at a place, and nothing has run.
  PlanMoment root(std::size_t place) const;
  // Leaves out what cannot run before the caps (by place of the end) in a schedule from here.
  void close(const PlanMoment& root, const PlanArrivals& caps);
  // By place of the end: none is before these.
  PlanArrivals bounds(const PlanMoment& moment, const PlanArrivals& caps);

  std::size_t size() const { return segment_.end - segment_.begin; }
  bool is_small() const { return size() <= kMostBits; }
  Bits all() const { return size() == kMostBits ? ~Bits{0} : (Bits{1} << size()) - 1; }
  std::size_t count() const { return servers_.all.size(); }
  const PlanGroup& group(std::size_t g) const { return claim_.groups[segment_.groups[g]]; }
  double load(std::size_t g, std::size_t s) const;
  bool makes_out(const PlanGroup& each) const;
  bool reads(std::size_t g, std::size_t k) const;
  bool may_run(std::size_t g, std::size_t s) const { return is_open_[g * count() + s]; }

  std::vector<std::size_t> local, tensors;  // by tensor of the claim; of the segment
  std::vector<Bits> bits;                   // by group: operations

 private:
  void set_order();
  void set_ways();
  void set_tails();
  double way(std::size_t k, std::size_t from, std::size_t to) const {
    return ways_[(k * count() + from) * count() + to];
  }
  double tail(std::size_t g, std::size_t s, std::size_t out) const;
  double from_end_of(std::size_t g, std::size_t s, std::size_t h, std::size_t out) const;
  void set_heads(const PlanMoment& moment);
  void set_head(std::size_t g, const PlanMoment& moment);
  const std::vector<double>& work(Bits covered);
  double by_paths(const PlanMoment& moment, std::size_t out) const;
  double by_work(const PlanMoment& moment, std::size_t out, double cap);

  const PlanClaim& claim_;
  const PlanServers& servers_;
  const PlanSegment& segment_;
  std::vector<std::vector<std::size_t>> writers_;  // by tensor: groups
  std::vector<std::size_t> order_;                 // tensors, by when they are made
  std::vector<double> ways_;                       // by tensor, and the servers from and to
  std::vector<std::vector<double>> tails_;         // by place of the end: by group and server
  std::vector<double> heads_, ready_;              // of one moment: by group or tensor, and server
  std::vector<bool> is_open_;                      // by group and server
  std::vector<std::vector<double>> weights_;
  std::map<Bits, std::vector<double>> works_;
};

// From the first tensor of a segment at a place, no schedule ends the network earlier, or not
// before `below`. `rests`: by place of the last tensor, the least time from there. Where that takes
// more than `most_nodes`, open nodes count by their bounds.
struct SegmentBound {
  double value = 0;
  std::size_t nodes = 0;
  bool is_open = false;
};
SegmentBound bound_segment(const PlanServers& servers, const PlanSegment& segment,
                           SegmentParts& parts, std::size_t place, const PlanArrivals& rests,
                           double below, std::size_t most_nodes);

}  // namespace mapsim::check
