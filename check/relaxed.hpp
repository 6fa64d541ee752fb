// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "check/potential.hpp"
#include "check/rungs.hpp"
#include "check/shares.hpp"
#include "check/stop.hpp"

namespace mapsim::check {

// The least that a walk of a balanced space still has to pay from each node to the end, per
// component, if its loops come straight from the bounds and every tile only has to fit its room
// alone. From the inside out.
class Relaxed {
 public:
  // Told to stop it leaves potentials out, and says nothing.
  Relaxed(const Graph& graph, const Rungs& rungs, Tracked tracked, Stop stop = {});
  double at(const Node& node, std::size_t component) const {
    return to_go_[component][rows_[node.phase * graph_.spots() + node.spot] + node.tile];
  }
  const Shares& shares() const { return shares_; }
  const std::vector<double>& bits(std::size_t placing) const { return bits_[placing]; }
  std::int64_t states() const { return states_; }
  // What no walk is better than, in either figure.
  Figures least(const Price& price) const;

  // Doubles that it takes for each tile.
  static std::size_t width(const Graph& graph, Tracked tracked);

 private:
  void pass_on(std::size_t phase, std::size_t spot);
  void cross(std::size_t component, std::size_t phase, std::size_t from, std::size_t spot);
  void slide(std::size_t component, std::size_t phase, std::size_t spot, const Graph::Slide& slide);
  void loop(DimId dim, double* row) const;
  void read_on(std::size_t component, std::size_t phase, const Graph::Loop& each);
  double* row_of(std::size_t component, std::size_t phase, std::size_t spot) {
    return &to_go_[component][rows_[phase * graph_.spots() + spot]];
  }
  const std::vector<double>& plain(std::size_t placing);
  const std::vector<double>& sliding(std::size_t placing, DimId dim);

  const Graph& graph_;
  const Rungs& rungs_;
  Shares shares_;
  std::vector<std::size_t> rows_;
  std::vector<std::vector<double>> to_go_;
  std::vector<std::vector<double>> bits_;   // per placing
  std::vector<std::vector<double>> plain_;  // likewise
  std::vector<PerDim<std::vector<double>>> sliding_;
  std::int64_t states_ = 0;
};

}  // namespace mapsim::check
