// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "interop/timeloop.hpp"
#include "interop/timeloop_boundary.hpp"
#include "interop/timeloop_rules.hpp"

namespace mapsim {

// The accesses of one tensor at one storage: words of one instance.
struct TimeloopAccesses {
  bool kept = false;
  std::int64_t tile = 0;
  double reads = 0;    // to the child; of outputs: sums read back, without first visits
  double fills = 0;    // from the parent; of outputs: without first visits
  double updates = 0;  // outputs written by the child
  friend bool operator==(const TimeloopAccesses&, const TimeloopAccesses&) = default;
};

// The traffic of one tensor in the network below one instance of a storage.
struct TimeloopNetwork {
  double words = 0;
  double word_hops = 0;
  double link_words = 0;
  double energy = 0;  // pJ, all instances
};

// Counts a design as Timeloop would if it followed only the given ones of its rules.
class TimeloopCounter {
 public:
  explicit TimeloopCounter(TimeloopDesign design) : design_{std::move(design)} {}
  const TimeloopDesign& design() const { return design_; }

  TimeloopAccesses accesses(TensorId tensor, std::size_t level, TimeloopRules rules);
  TimeloopNetwork network(TensorId tensor, std::size_t level, TimeloopRules rules);
  std::int64_t instances(std::size_t level, TimeloopRules rules) const;    // in use; MACs: the last
  double energy(TensorId tensor, std::size_t level, TimeloopRules rules);  // pJ, all instances
  std::int64_t computes(TimeloopRules rules) const;
  double compute_energy(TimeloopRules rules) const;
  std::int64_t compute_cycles(TimeloopRules rules) const;
  std::int64_t level_cycles(std::size_t level, TimeloopRules rules);
  std::int64_t cycles(TimeloopRules rules);

  // Do instances differ, because parallel loops are partial? Sums over all instances are then
  // counted with rule kInstances, or not compared.
  bool uneven_instances() const;
  // Number of visits that counting without kExtrapolation takes.
  double walk_visits() const;

 private:
  double cluster_share(std::size_t level, TimeloopRules rules) const;
  const TimeloopCrossing& crossing(const TimeloopBoundary& boundary, TimeloopRules rules);
  std::vector<TimeloopCrossing> networks(TensorId tensor, TimeloopRules rules);
  std::size_t outermost_keeper(TensorId tensor) const;
  std::int64_t first_visits(TensorId tensor, std::size_t level, TimeloopRules rules) const;

  TimeloopDesign design_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t, std::uint32_t>, TimeloopCrossing>
      memo_;
};

}  // namespace mapsim
