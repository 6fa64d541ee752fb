// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "campaign/campaign.hpp"
#include "design/layers.hpp"

namespace mapsim {

// A design that was valued in full.
struct BestDesign {
  std::size_t space = 0;            // of the campaign's machines
  std::vector<std::size_t> values;  // of its axes
  std::size_t number = 0;           // in the campaign
  Settings settings;
  Arch arch;
  double value = 0;                    // of the objective [pJ, s]
  double energy = 0;                   // of all layers [pJ]
  double cycles = 0;                   // of all layers
  std::optional<double> area;          // mm2
  std::vector<LayerFigures> layers{};  // one a distinct layer
  double seconds() const { return cycles / arch.clock.count(); }
};

// Which designs are asked for.
enum class Wanted : std::uint8_t {
  kBest,  // the best `count`
  kFront  // each of which no other design has a lower value and no more area
};

// The designs that are known to be wanted, best value first.
class Archive {
 public:
  Archive(Wanted wanted, std::size_t count) : wanted_{wanted}, count_{count} {}
  // No design of at least `area` mm2 is wanted with this value or a higher one.
  double worth(double area) const;
  // False: it is not wanted.
  bool take(BestDesign design);
  const std::vector<BestDesign>& designs() const { return designs_; }

 private:
  Wanted wanted_;
  std::size_t count_;
  std::vector<BestDesign> designs_;
};

}  // namespace mapsim
