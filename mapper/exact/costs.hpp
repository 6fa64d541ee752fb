// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/exact/lattice.hpp"
#include "mapper/exact/skeleton.hpp"
#include "mapper/exact/volume.hpp"

namespace mapsim::exact {

// What placements cost on the lattice of one unrolling: energy [pJ] and, for each port, the bits that
// the busiest instance moves through it. The component 0 is the energy, 1 + q the port q.
class Costs {
 public:
  Costs(const Skeleton& skeleton, const Lattice& lattice, const Unrolled& unrolled,
        bool with_ports);

  std::size_t components() const { return components_; }
  // Of a placing at every tile: [component * tiles + tile]. Infinite where the tile does not fit by
  // itself, or the width of its sums contradicts the stop above.
  const std::vector<double>& plain(std::size_t placing);
  // The same right below a loop that slides over `dim` from divisor `digit`, a proper multiple of the
  // tile's own: [(component * digits + digit) * tiles + tile].
  const std::vector<double>& sliding(std::size_t placing, DimId dim);
  // Bits that a tile takes in its room: [tile].
  const std::vector<double>& bits(std::size_t placing);
  // Of the compute units' accesses: infinite where a width contradicts.
  std::vector<double> mac(const std::vector<std::size_t>& placings);

 private:
  // Everything about a placing that does not depend on the tile.
  struct Terms {
    Volume parent, child;            // totals over instances
    Volume busy_parent, busy_child;  // of the first instance
    double met_parent = 0, met_child = 0;            // distinct sums of the whole run, total
    double met_busy_parent = 0, met_busy_child = 0;  // ... of the first instance
    std::vector<std::pair<double, Volume>> reductions;  // pJ per addition, volume after the fanout
    bool output = false;
    bool has_child = false;
    bool slides = false;
    double distinct = 0;     // elements of the output
    double bits = 0;         // final width
    double partial_bits = 0;
    bool widths = false;     // the two differ
    bool narrow_parent = false;
    StorageEnergy parent_energy, child_energy;
    std::optional<std::size_t> parent_read, parent_write, child_read, child_write;
  };

  Terms make_terms(const Placing& placing);
  void add_reductions(const Placing& placing, std::size_t child_fanouts, Terms& terms);
  const Terms& terms(std::size_t placing);
  void evaluate(const Terms& terms, double trips, std::size_t tile, Slide slide, double* out,
                std::size_t step) const;
  void evaluate_output(const Terms& terms, double trips, std::size_t tile, Slide slide,
                       double* out, std::size_t step) const;
  const std::vector<double>& footprints(TensorId t, std::size_t fanouts_above);
  bool fits(std::size_t placing, std::size_t tile);

  const Skeleton& skeleton_;
  const Lattice& lattice_;
  const Unrolled& unrolled_;
  VolumeFactory volumes_;
  std::size_t components_;
  std::vector<std::optional<Terms>> terms_;
  std::vector<std::vector<double>> plain_;
  std::vector<PerDim<std::vector<double>>> sliding_;
  std::vector<std::vector<double>> bits_;
  PerTensor<std::vector<std::vector<double>>> footprints_;  // [fanouts above][tile]
  PerTensor<std::vector<double>> trips_;                    // prod_{d not in t} E_d/T_d
};

}  // namespace mapsim::exact
