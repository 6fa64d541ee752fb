// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "check/potential.hpp"
#include "check/rungs.hpp"
#include "check/shares.hpp"
#include "check/stop.hpp"

namespace mapsim::check {

// The least that a walk of an imperfect space still has to pay from each node to the end, per
// component, if its loops come straight from the bounds and every tile only has to fit its room
// alone. From the inside out.
class Relaxed {
 public:
  // Told to stop it leaves potentials out, and says nothing.
  Relaxed(const Graph& graph, const ExtentBins& bins, Tracked tracked, Stop stop = {});
  double at(const Node& node, std::size_t component) const {
    return to_go_[component][rows_[node.stage * graph_.residencies() + node.residency] + node.tile];
  }
  const Shares& shares() const { return shares_; }
  const std::vector<double>& bits(std::size_t edge) const { return bits_[edge]; }
  std::int64_t states() const { return states_; }
  // What no walk is better than, in either figure.
  Figures least(const Price& price) const;

  // Doubles that it takes for each tile.
  static std::size_t width(const Graph& graph, Tracked tracked);

 private:
  void pass_on(std::size_t stage, std::size_t residency);
  void cross(std::size_t component, std::size_t stage, std::size_t from, std::size_t residency);
  void slide(std::size_t component, std::size_t stage, std::size_t residency,
             const Graph::Slide& slide);
  void loop(DimId dim, double* row) const;
  void read_on(std::size_t component, std::size_t stage, const Graph::Loop& each);
  double* row_of(std::size_t component, std::size_t stage, std::size_t residency) {
    return &to_go_[component][rows_[stage * graph_.residencies() + residency]];
  }
  const std::vector<double>& plain(std::size_t edge);
  const std::vector<double>& sliding(std::size_t edge, DimId dim);

  const Graph& graph_;
  const ExtentBins& bins_;
  Shares shares_;
  std::vector<std::size_t> rows_;
  std::vector<std::vector<double>> to_go_;
  std::vector<std::vector<double>> bits_;   // per edge
  std::vector<std::vector<double>> plain_;  // likewise
  std::vector<PerDim<std::vector<double>>> sliding_;
  std::int64_t states_ = 0;
};

}  // namespace mapsim::check
