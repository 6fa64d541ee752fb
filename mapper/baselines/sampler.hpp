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

// Draws mappings of a mapspace with equal probability (up to rounding of the weights to doubles),
// whether they fit or not. Tables are built once; several threads may call sample().
class Sampler {
 public:
  // `space` outlives the sampler. With imperfect factors and rules, tables can take long to build.
  // Once `stop` returns true, only classes of unrollings whose tables are finished are drawn.
  explicit Sampler(const Mapspace& space, const std::function<bool()>& stop = [] { return false; });

  bool is_partial() const { return partial_; }
  bool empty() const { return cumulative_.empty() || cumulative_.back() == 0; }
  Mapping sample(Rng& rng) const;  // not if empty()

 private:
  // The ways to arrange keeps and fanouts, for one set of used fanouts.
  struct Arrangements {
    nests::Placements placements;
    std::vector<double> counts;  // by the number of points that are not empty
    // From each cursor on: the ways to finish with k more such points, by k.
    std::unordered_map<std::uint64_t, std::vector<double>> ways;
  };
  // The shape of a nest: how many points are not empty, and whether the first and the last point
  // are among them.
  struct Shape {
    std::size_t points = 0;
    bool first = false;
    bool last = false;
  };
  struct Member {
    std::size_t arrangements = 0;  // index of the tables
    std::size_t words = 0;
  };

  void add_free();  // fills members_ and their tables; no rule ties loops and keeps together
  // Weighs all classes or, if `stop` returns true or `weigh` gives up, some that are spread over
  // the list.
  void weigh_classes(
      const std::function<bool()>& stop,
      const std::function<std::optional<double>(std::size_t unrolling_class)>& weigh);
  void add_ruled(const std::function<bool()>& stop);      // fills ruled_; some rule does
  void add_imperfect(const std::function<bool()>& stop);  // fills extent_nests_
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
  // Per class, imperfect factors under rules
  std::vector<std::shared_ptr<nests::RuledExtents>> ruled_extents_;
  std::vector<double> cumulative_;  // weights of the classes, summed up
  bool partial_ = false;
};

}  // namespace mapsim
