// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "check/plan_proof.hpp"

namespace mapsim::check {

inline constexpr double kNoTime = std::numeric_limits<double>::infinity();

// One place of one copy of an engine. Servers of one clock do one thing at a time.
struct PlanServer {
  std::size_t place = 0, engine = 0, copy = 0, clock = 0;
};

// The engines of a claim about engines at once.
class PlanServers {
 public:
  explicit PlanServers(const PlanClaim& claim);

  std::vector<PlanServer> all;
  std::vector<std::size_t> engine_of_clock;
  // The move of a tensor from one server to another; null: there is none. Nothing is known of ways
  // between copies of an engine.
  const PlanPrice* move(std::size_t tensor, std::size_t from, std::size_t to) const;
  // The clocks on which a conversion may run: that of one of both servers, else any of its engine.
  std::vector<std::size_t> converting(const PlanPrice& move, std::size_t from,
                                      std::size_t to) const;
  // A tensor comes to a server, and to those that only wait for it. `there`: by server.
  void arrive(std::size_t tensor, std::size_t server, double time, double* there) const;

 private:
  const PlanClaim& claim_;
};

// Groups between two cut tensors: all that is in front of a cut must have ended when its tensor is
// made, and nothing behind it can start before.
struct PlanSegment {
  std::size_t begin = 0, end = 0;  // operations
  std::vector<std::size_t> groups;
  std::optional<std::size_t> in{}, out{};  // the cut tensors; nullopt: at the ends of the network
};
std::vector<PlanSegment> segments_of(const PlanClaim& claim);

// By place: times of the tensor at a cut; at the end of the network only of place 0.
using PlanArrivals = std::vector<double>;

// No schedule ends earlier; or not before `below`, if that is as early.
struct AtOnceBound {
  double value = 0;
  std::size_t nodes = 0;
  bool is_open = false;  // there were too many nodes
};
AtOnceBound bound_at_once(const PlanClaim& claim, double below, std::size_t most_nodes);

// Finds engines that are not there, and tensors that two groups of one schedule may make.
std::optional<std::string> wrong_engines(const PlanClaim& claim);

// Verifies the schedule of a claim, and that none is faster than its bound. Adds to the verdict.
void check_at_once(const PlanClaim& claim, PlanVerdict& verdict);

}  // namespace mapsim::check
