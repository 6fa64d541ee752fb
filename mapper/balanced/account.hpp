// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "mapper/balanced/tiles.hpp"
#include "mapper/exact/skeleton.hpp"
#include "mapper/exact/valuation.hpp"
#include "mapper/exact/volume.hpp"

namespace mapsim::balanced {

// Everything about a placing that does not depend on tiles: whose volumes count, and what they
// cost.
struct Terms {
  exact::Sharing parent, child, busy_parent, busy_child;  // totals; the first instance
  exact::Sharing met_parent, met_child, met_busy_parent,
      met_busy_child;                                         // distinct sums of the run
  std::vector<std::pair<double, exact::Sharing>> reductions;  // pJ per addition, behind the fanout
  TensorId tensor{};
  bool output = false;
  bool has_child = false;
  bool slides = false;
  bool widths = false;  // finished sums are narrower
  bool narrow_parent = false;
  double distinct = 0;  // elements of the output
  double bits = 0;
  double partial_bits = 0;
  StorageEnergy parent_energy, child_energy;
  std::optional<std::size_t> parent_read, parent_write, child_read, child_write, child_link;
  double limit = exact::kInfinity;  // bits that the tile may take
  double stored_bits = 0;           // of an element of the tile
  std::size_t fanouts = 0;          // used fanouts above the child
  bool owes = false;                // costs what account() leaves out: hops, or cycles of edges
};
Terms make_terms(const exact::Skeleton& skeleton, const Tiles& tiles, const exact::Placing& placing,
                 exact::Tracked tracked);

// Elements that cross a boundary. `again`: those that the upper end has to hand back, or the lower
// one to take back.
struct Flow {
  double parent = 0, child = 0, busy_parent = 0, busy_child = 0;
  double parent_again = 0, child_again = 0, busy_parent_again = 0, busy_child_again = 0;
  double reduction_energy = 0;  // pJ
  bool is_bound = false;        // the true numbers may be larger
};

// Adds what a flow costs to out[k * step]: energy [pJ], then the busiest instance's bits per port.
// False: a width contradicts what the placing says.
bool account(const Terms& terms, const Flow& flow, std::size_t components, double* out,
             std::size_t step);

}  // namespace mapsim::balanced
