// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "check/graph.hpp"
#include "check/lattice.hpp"

namespace mapsim::check {

// Tables of what the edges of an unrolling's graph cost, per tile: the components of
// resource_vector.hpp. Perfect factors: exactly (perfect_costs.hpp). Imperfect ones: at least,
// whatever loops have led to the tile (traffic_bounds.hpp). Every component is infinite where the
// tile does not fit its capacity alone or breaks a rule, or where the sums are not as wide as the
// residence says.
class EdgeCosts {
 public:
  virtual ~EdgeCosts() = default;

  const Lattice& lattice() const { return lattice_; }
  std::size_t components() const { return components_; }
  // Bits that the tile takes of its capacity; infinite where it may not stand there.
  const std::vector<double>& bits(std::size_t edge);
  // Component k of tile T at [k * tiles + T], wherever the loops above leave the tile.
  const std::vector<double>& plain(std::size_t edge);
  // Does sliding() say what the edge costs right below a loop? Otherwise plain() does.
  bool by_run(std::size_t edge) const {
    return lattice_.is_perfect() || graph_.slides(graph_.edges()[edge]);
  }
  // Right below a loop over `dim`: component k of run r of the lattice at
  // [(k * runs + r) * rests + rest], `rest` counting the tiles that differ in other dims.
  const std::vector<double>& sliding(std::size_t edge, DimId dim);
  // The operations, and the edges into the compute units that end a nest.
  std::vector<double> end(const std::vector<std::size_t>& edges);

 protected:
  // The graph and the lattice outlive this.
  EdgeCosts(const Graph& graph, const Lattice& lattice, Tracked tracked);
  const Graph& graph() const { return graph_; }
  Tracked tracked() const { return tracked_; }

 private:
  // As bits(), plain() and sliding(), but for component 0 alone being infinite.
  virtual std::vector<double> make_bits(std::size_t edge) = 0;
  virtual std::vector<double> make_plain(std::size_t edge) = 0;
  virtual std::vector<double> make_sliding(std::size_t edge, DimId dim) = 0;
  // The components of an edge into the compute units, at the tile of ones.
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
