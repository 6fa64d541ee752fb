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

// One tensor at one storage: words of one instance.
struct TimeloopAccesses {
  bool kept = false;
  std::int64_t tile = 0;
  double reads = 0;    // to the child; of outputs: sums read back, first visits left out
  double fills = 0;    // from the parent; of outputs: first visits left out
  double updates = 0;  // outputs that come up from the child
  friend bool operator==(const TimeloopAccesses&, const TimeloopAccesses&) = default;
};

// One tensor in the network below one instance of a storage.
struct TimeloopNetwork {
  double words = 0;
  double word_hops = 0;
  double link_words = 0;
  double energy = 0;  // pJ, all instances
};

// What Timeloop would say of a design, if it followed only some of its rules.
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

  // Are there partial parallel loops, so that instances differ? Their sums over all instances are
  // then counted by rule kInstances or not at all.
  bool uneven_instances() const;
  // Visits that counting without kExtrapolation takes.
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
