// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "mapper/exact/parts.hpp"
#include "mapper/exact/tensor_moves.hpp"
#include "mapper/mapspace.hpp"
#include "mapper/regions.hpp"

namespace mapsim::exact {

// What the search graph looks like before any extent is known: stops, pointers (one stop per
// tensor: where it was placed last; which borders of regions have been kept that need not be;
// balanced: which tiles that end loops over their dims have been kept; the state of the region;
// packed in one number, the last highest), phases and moves. docs/mapper.md.
class Skeleton {
 public:
  // `used`: the fanouts with a factor > 1, outermost first. `may_stay`: what may stay in a systolic
  // array, if there is one; a nest ends with one of these tensors in it.
  Skeleton(const Mapspace& space, const std::vector<FanoutId>& used,
           std::optional<TensorSet> may_stay = {});

  struct Place {
    std::size_t placing = 0;  // index
    std::size_t target = 0;   // pointers after it
  };
  // One loop over `dim` and, right below, tiles that slide along it.
  struct Jump {
    DimId dim{};
    std::vector<std::size_t> placings;
    std::size_t target = 0;  // before after_loop()
  };

  const Mapspace& space() const { return *space_; }
  const Problem& problem() const { return space_->problem(); }
  const std::vector<FanoutId>& used() const { return used_; }
  std::size_t phases() const { return events_.size() + 1; }
  // Used fanouts that are crossed before a phase begins.
  std::size_t crossed(std::size_t phase) const;
  const Event& event_after(std::size_t phase) const { return events_[phase]; }
  std::size_t pointers() const { return pointers_; }
  const std::vector<std::size_t>& starts() const { return starts_; }
  const std::vector<Stop>& stops(TensorId t) const { return stops_[t]; }
  std::size_t stop_index(std::size_t pointers, TensorId t) const {
    return pointers / radix_[t] % stops_[t].size();
  }
  const Stop& stop(std::size_t pointers, TensorId t) const {
    return stops_[t][stop_index(pointers, t)];
  }
  // Does a tensor of those that may stay in a systolic array stand in it?
  bool is_in_array(TensorId t, const Stop& stop) const;
  const std::vector<Placing>& placings() const { return placings_; }
  const std::vector<Place>& places(std::size_t phase, std::size_t pointers) const {
    return places_[phase * pointers_ + pointers];
  }
  const std::vector<Jump>& jumps(std::size_t phase, std::size_t pointers) const {
    return jumps_[phase * pointers_ + pointers];
  }
  // The accesses of the compute units, one placing per tensor without a latch; nullopt: not an end.
  const std::optional<std::vector<std::size_t>>& end(std::size_t pointers) const {
    return ends_[pointers];
  }
  // Pointers after a loop; nullopt: a rule forbids it.
  std::optional<std::size_t> after_loop(std::size_t phase, std::size_t pointers, DimId dim,
                                        std::int64_t factor) const;
  // Do loops over the dim leave the pointers as they are, whatever their factors?
  bool is_neutral(std::size_t phase, std::size_t pointers, DimId dim) const;
  // Pointers behind the event that ends the phase; nullopt: a rule forbids to end it.
  std::optional<std::size_t> after_event(std::size_t phase, std::size_t pointers) const;
  // Can a nest get here? The rest of the graph is not worth bounding.
  bool reachable(std::size_t phase, std::size_t pointers) const {
    return reachable_[phase * pointers_ + pointers];
  }
  // The same of nests without some placings: by phase and pointers.
  std::vector<char> reachable_without(const std::vector<bool>& left_out) const;
  // The region of a phase, and whether the event that ends the phase ends the region.
  const Region& region(std::size_t phase) const { return regions_[region_[phase]]; }
  bool ends_region(std::size_t phase) const { return region_[phase] != region_[phase + 1]; }
  std::size_t region_index(std::size_t phase) const { return region_[phase]; }
  std::size_t regions() const { return regions_.size(); }
  // Dims that no loop may cut: those of tensors that were placed ahead of their phase or that are
  // done with.
  DimSet frozen(std::size_t phase, std::size_t pointers) const;
  // Energy [pJ] that every nest has paid when it gets to these pointers: each element of a tensor
  // crosses every boundary on its way at least once.
  double least_paid(std::size_t pointers) const;
  const TensorMoves& moves(TensorId t) const { return tensor_moves_[t]; }

  const std::vector<Room>& rooms() const { return rooms_; }
  std::optional<std::size_t> room_of(const Placing& placing) const;
  const std::vector<Port>& ports() const { return ports_; }

 private:
  void make_events();
  void make_stops(TensorId t);
  void make_rooms();
  void make_ends_of_loops();
  void make_moves();
  void make_least_paid();
  void make_end(std::size_t pointers);
  void make_moves(std::size_t phase, std::size_t pointers);
  std::size_t state(std::size_t pointers) const { return pointers / stride_of_state_; }
  bool may_pass(TensorId t, const Stop& from, const Stop* to) const;
  bool may_place(std::size_t phase, const Stop& to) const;
  std::size_t find_placing(const Placing& placing);
  const std::vector<NextStop>& next_stops(std::size_t phase, TensorId t, std::size_t from);
  template <class Visit>
  void for_each_step(std::size_t phase, std::size_t pointers, TensorId t, const Visit& visit);
  void extend_jump(std::size_t phase, DimId dim, TensorId t, Jump& so_far,
                   std::vector<Jump>& found);

  const Mapspace* space_;
  std::vector<FanoutId> used_;
  std::optional<TensorSet> may_stay_;
  Regions regions_;
  std::vector<Event> events_;
  std::vector<std::size_t> region_;    // by phase
  std::vector<LevelId> borders_;       // levels that must keep something, though no tensor must
  std::size_t stride_of_borders_ = 1;  // in pointers
  std::vector<LoopsEnd> loops_end_;
  std::size_t stride_of_ends_ = 1;
  std::size_t stride_of_state_ = 1;
  PerTensor<std::vector<Stop>> stops_;
  PerTensor<std::size_t> radix_;
  PerDim<TensorSet> sliding_;                  // which tiles slide along a dim
  PerDim<std::vector<std::int64_t>> factors_;  // that a loop over a dim may have
  std::size_t pointers_ = 1;
  std::vector<std::size_t> starts_;
  std::map<Placing, std::size_t> placing_index_;
  std::vector<Placing> placings_;
  PerTensor<std::vector<std::optional<std::vector<NextStop>>>>
      next_stops_;  // [phase * stops + stop]
  std::vector<std::vector<Place>> places_;
  std::vector<std::vector<Jump>> jumps_;
  std::vector<bool> reachable_;
  std::vector<std::optional<std::vector<std::size_t>>> ends_;
  std::vector<Room> rooms_;
  std::vector<Port> ports_;
  PerTensor<std::vector<double>> least_paid_;  // per stop
  PerTensor<TensorMoves> tensor_moves_;
};

}  // namespace mapsim::exact
