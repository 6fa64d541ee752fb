// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "check/graph.hpp"
#include "check/lattice.hpp"

namespace mapsim::check {

// The costs of the edges of an unrolling's graph, as tables over tiles: the components of
// costmodel/resource_vector.hpp. With perfect factors they are exact (perfect_costs.hpp). With
// imperfect factors they are lower bounds over all loops that may lead to the tile
// (traffic_bounds.hpp). All components are infinite where the tile alone exceeds its capacity or
// breaks a rule, or where sums are not as wide as the residence says.
class EdgeCosts {
 public:
  virtual ~EdgeCosts() = default;

  const Lattice& lattice() const { return lattice_; }
  std::size_t components() const { return components_; }
  // Bits of capacity that the tile takes; infinite where a rule forbids the tile.
  const std::vector<double>& bits(std::size_t edge);
  // The cost of an edge at every tile: [component * tiles + tile], wherever the loops above stand.
  const std::vector<double>& plain(std::size_t edge);
  // Does sliding() apply to this edge? Otherwise plain() does, right below a loop, too.
  bool by_run(std::size_t edge) const {
    return lattice_.is_perfect() || graph_.slides(graph_.edges()[edge]);
  }
  // The cost right below a loop over `dim`: [(component * runs + run) * rests + rest]. A run is a
  // loop that may cost something of its own: an index into Lattice::runs(). `rest` numbers the
  // tiles that differ in other dims.
  const std::vector<double>& sliding(std::size_t edge, DimId dim);
  // The operations, and the edges into the compute units at the end of a nest.
  std::vector<double> end(const std::vector<std::size_t>& edges);

 protected:
  // The graph and the lattice outlive this.
  EdgeCosts(const Graph& graph, const Lattice& lattice, Tracked tracked);
  const Graph& graph() const { return graph_; }
  Tracked tracked() const { return tracked_; }

 private:
  // Like bits(), plain() and sliding(); where a cost is infinite, component 0 suffices.
  virtual std::vector<double> make_bits(std::size_t edge) = 0;
  virtual std::vector<double> make_plain(std::size_t edge) = 0;
  virtual std::vector<double> make_sliding(std::size_t edge, DimId dim) = 0;
  // The components of an edge into the compute units, at the tile whose extents are all 1.
  virtual std::vector<double> make_last(std::size_t edge) = 0;

  const Graph& graph_;
  const Lattice& lattice_;
  Tracked tracked_;
  std::size_t components_;
  std::vector<std::vector<double>> bits_;
  std::vector<std::vector<double>> plain_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> sliding_;
};

}  // namespace mapsim::check
