// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/rng.hpp"
#include "mapper/counting/extents.hpp"
#include "mapper/counting/loop_words.hpp"
#include "mapper/counting/ruled.hpp"
#include "mapper/counting/ruled_extents.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/placement.hpp"

namespace mapsim {

// Draws mappings of a mapspace, each with the same probability (up to the rounding of the weights
// to double), feasible or not. All tables are built once; sample() may be called from many threads.
class Sampler {
 public:
  // `space` outlives the sampler. With imperfect factors and rules the tables can take long: when
  // `stop` says so, draws go to those classes of unrollings alone whose tables are done by then.
  explicit Sampler(const Mapspace& space, const std::function<bool()>& stop = [] { return false; });

  bool is_partial() const { return partial_; }
  bool empty() const { return cumulative_.empty() || cumulative_.back() == 0; }
  Mapping sample(Rng& rng) const;  // not if empty()

 private:
  // Ways to arrange keeps and fanouts, for one set of used fanouts.
  struct Arrangements {
    nests::Placements placements;
    std::vector<double> counts;  // by the number of occupied points
    // From each cursor on: ways to finish with k more occupied points, by k.
    std::unordered_map<std::uint64_t, std::vector<double>> ways;
  };
  // The shape of a nest: how many points are occupied, and whether the first and the last one are.
  struct Shape {
    std::size_t points = 0;
    bool first = false;
    bool last = false;
  };
  struct Member {
    std::size_t arrangements = 0;  // index of the tables
    std::size_t words = 0;
  };

  void add_free();  // members_ and their tables, where no rule ties loops and keeps together
  // Weighs all classes, or some from all over the list until `stop` says so or `weigh` gives up.
  void weigh_classes(
      const std::function<bool()>& stop,
      const std::function<std::optional<double>(std::size_t unrolling_class)>& weigh);
  void add_ruled(const std::function<bool()>& stop);      // ruled_, where one does
  void add_imperfect(const std::function<bool()>& stop);  // extent_nests_
  void add_ruled_imperfect(const std::function<bool()>& stop);
  const std::vector<double>& fill_ways(Arrangements& table, const nests::Cursor& cursor);
  Shape draw_shape(const Member& member, Rng& rng) const;
  std::vector<nests::Point> draw_points(const Arrangements& table, std::size_t count,
                                        Rng& rng) const;

  const Mapspace* space_;
  nests::LoopWords loop_words_;
  std::vector<Arrangements> arrangements_;
  std::vector<std::vector<double>> words_;  // by the number of interior barriers
  std::vector<Member> members_;             // per class of unrollings
  std::vector<std::unique_ptr<nests::ExtentNests>> extent_nests_;  // per class, imperfect factors
  std::vector<std::shared_ptr<nests::RuledTable>> ruled_;  // per class of unrollings, under rules
  std::vector<std::shared_ptr<nests::RuledExtents>> ruled_extents_;  // both
  std::vector<double> cumulative_;  // weights of the classes, summed
  bool partial_ = false;
};

}  // namespace mapsim
