// SPDX-License-Identifier: Apache-2.0
#include "brute_space.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "membership.hpp"

namespace mapsim {
namespace {

struct KeyWriter {
  std::string key;
  void write(std::size_t number) { key += std::to_string(number) + ' '; }
  void operator()(const Keep& keep) {
    key += 'k';
    write(index_of(keep.level));
    write(keep.tensors.bits());
  }
  void operator()(const Temporal& loop) {
    key += 'f';
    write(index_of(loop.dim));
    write(static_cast<std::size_t>(loop.extent));
  }
  void operator()(const Parallel& loop) {
    key += loop.axis == Axis::kX ? 'x' : 'y';
    write(index_of(loop.fanout));
    write(index_of(loop.dim));
    write(static_cast<std::size_t>(loop.extent));
  }
};

class BruteForce {
 public:
  explicit BruteForce(const Mapspace& space) : space_{space} {}

  std::set<std::string> run() {
    unroll(0, 0, 0);
    return std::move(found_);
  }

 private:
  const Arch& arch() const { return space_.problem().arch(); }
  const Workload& workload() const { return space_.problem().workload(); }

  // Any factor for each fanout, axis and dim.
  void unroll(std::size_t fanout, std::size_t axis, std::size_t dim) {
    if (fanout == arch().fanouts.size()) {
      if (unrolling_fits()) {
        begin();
      }
    } else if (axis == 2) {
      unroll(fanout + 1, 0, 0);
    } else if (dim == workload().dims.size()) {
      unroll(fanout, axis + 1, 0);
    } else {
      const auto d = static_cast<DimId>(dim);
      const auto f = static_cast<FanoutId>(fanout);
      const auto a = static_cast<Axis>(axis);
      unroll(fanout, axis, dim + 1);
      const std::int64_t most = std::min(workload().dims[d].bound, arch().fanouts[f].size(a));
      for (std::int64_t factor = 2; factor <= most; ++factor) {
        unrolling_.push_back({d, f, a, factor});
        unroll(fanout, axis, dim + 1);
        unrolling_.pop_back();
      }
    }
  }

  bool unrolling_fits() const {
    PerDim<std::int64_t> used(workload().dims.size(), 1);
    for (const FanoutId f : arch().fanouts.ids()) {
      std::int64_t along[2] = {1, 1};
      for (const Unroll& u : unrolling_) {
        if (u.fanout == f) {
          along[static_cast<int>(u.axis)] *= u.factor;
          used[u.dim] *= u.factor;
          const AxisConstraint& rule = arch().fanouts[f].dims(u.axis);
          const auto& axes = rule.gemm_axes;
          const auto& names = rule.dims;
          if (!rule.unconstrained() &&
              std::count(axes.begin(), axes.end(), workload().gemm_axis(u.dim)) == 0 &&
              std::count(names.begin(), names.end(), workload().dims[u.dim].name) == 0) {
            return false;
          }
        }
      }
      if (along[0] > arch().fanouts[f].x || along[1] > arch().fanouts[f].y) {
        return false;
      }
    }
    for (const DimId d : used.ids()) {
      if (!space_.constraints().factors.imperfect && workload().dims[d].bound % used[d] != 0) {
        return false;
      }
    }
    return matches_given();
  }

  // By trying every number of pieces.
  bool is_candidate(DimId dim, std::int64_t extent) const {
    const Factors& factors = space_.constraints().factors;
    const std::int64_t bound = workload().dims[dim].bound;
    bool found = false;
    for (std::int64_t n = 1; n <= bound; ++n) {
      const bool listed = factors.pieces == 0 || n <= factors.pieces || bound % n == 0;
      found = found || (listed && (bound + n - 1) / n == extent);
    }
    return found || (!factors.tiles.empty() &&
                     std::count(factors.tiles[dim].begin(), factors.tiles[dim].end(), extent) > 0);
  }

  // Fanouts that the constraints name have exactly the factors that they give.
  bool matches_given() const {
    if (!space_.constraints().spatial) {
      return true;
    }
    const Unrolling& given = *space_.constraints().spatial;
    const auto gives = [&](const Unroll& u) {
      return std::count(given.begin(), given.end(), u) == 1;
    };
    for (const FanoutId f : arch().fanouts.ids()) {
      const auto is_here = [f](const Unroll& u) { return u.fanout == f; };
      const auto wanted = std::count_if(given.begin(), given.end(), is_here);
      const auto got = std::count_if(unrolling_.begin(), unrolling_.end(), is_here);
      const bool all_given = std::all_of(unrolling_.begin(), unrolling_.end(),
                                         [&](const Unroll& u) { return !is_here(u) || gives(u); });
      if (wanted > 0 && (wanted != got || !all_given)) {
        return false;
      }
    }
    return true;
  }

  void begin() {
    TensorSet all;
    for (const TensorId t : workload().tensors.ids()) {
      all.insert(t);
    }
    mapping_.nodes = {Keep{LevelId{0}, all}};
    extents_ = PerDim<std::int64_t>(workload().dims.size());
    for (const DimId d : workload().dims.ids()) {
      extents_[d] = workload().dims[d].bound;
    }
    kept_ = PerTensor<LevelSet>(workload().tensors.size());
    unrolled_.assign(arch().fanouts.size(), false);
    extend();
  }

  void extend() {
    record();
    for (const DimId d : workload().dims.ids()) {
      const std::int64_t before = extents_[d];
      for (std::int64_t extent = 1; extent < before; ++extent) {
        const bool imperfect = space_.constraints().factors.imperfect;
        if (imperfect ? is_candidate(d, extent) : before % extent == 0) {
          with_node(Temporal{d, extent}, [&] { extents_[d] = extent; });
          extents_[d] = before;
        }
      }
    }
    for (const LevelId l : arch().levels.ids()) {
      for (const TensorId t : workload().tensors.ids()) {
        if (index_of(l) > 0 && (kept_[t].bits() >> index_of(l)) == 0) {
          with_node(Keep{l, {t}}, [&] { kept_[t].insert(l); });
          kept_[t].erase(l);
        }
      }
    }
    for (const FanoutId f : arch().fanouts.ids()) {
      unroll_here(f);
    }
  }

  // Adds a node if the nest may begin like this, and goes on.
  template <class Change>
  void with_node(MappingNode node, Change change) {
    mapping_.nodes.push_back(node);
    change();
    if (has_sound_order()) {
      extend();
    }
    mapping_.nodes.pop_back();
  }

  void unroll_here(FanoutId fanout) {
    const PerDim<std::int64_t> extents = extents_;
    const std::size_t nodes = mapping_.nodes.size();
    for (const Unroll& u : unrolling_) {
      if (u.fanout == fanout && !unrolled_[index_of(fanout)]) {
        const std::int64_t tile = extents_[u.dim];
        const std::int64_t block = (tile + u.factor - 1) / u.factor;
        const bool whole =
            space_.constraints().factors.imperfect
                ? (tile + block - 1) / block == u.factor && is_candidate(u.dim, block)
                : tile % u.factor == 0;
        if (!whole) {
          break;
        }
        extents_[u.dim] = block;
        mapping_.nodes.push_back(Parallel{u.dim, extents_[u.dim], fanout, u.axis});
      }
    }
    const auto here = std::count_if(unrolling_.begin(), unrolling_.end(),
                                    [fanout](const Unroll& u) { return u.fanout == fanout; });
    const bool whole = mapping_.nodes.size() - nodes == static_cast<std::size_t>(here);
    if (here > 0 && whole && !unrolled_[index_of(fanout)] && has_sound_order()) {
      unrolled_[index_of(fanout)] = true;
      extend();
      unrolled_[index_of(fanout)] = false;
    }
    mapping_.nodes.resize(nodes);
    extents_ = extents;
  }

  // Only what is still open may be wrong: extents that do not end at 1, keeps that are missing.
  bool has_sound_order() const {
    for (const StructureProblem& problem : check_structure(arch(), workload(), mapping_)) {
      if (problem.node < mapping_.nodes.size()) {
        return false;
      }
    }
    return true;
  }

  void record() {
    for (const Unroll& u : unrolling_) {
      if (!unrolled_[index_of(u.fanout)]) {
        return;
      }
    }
    const Mapping whole = canonical(workload(), mapping_);
    if (check_structure(arch(), workload(), whole).empty() && keeps_allowed() &&
        (!space_.constraints().even || is_even(whole)) && why_outside(space_, whole).empty()) {
      found_.insert(key_of(whole));
    }
  }

  bool keeps_allowed() const {
    for (const LevelId l : arch().levels.ids()) {
      for (const TensorId t : workload().tensors.ids()) {
        const KeepRule rule = space_.keep_rule(l, t);
        const bool kept = kept_[t].contains(l) || index_of(l) == 0;
        if (rule != KeepRule::kFree && kept != (rule == KeepRule::kKeep)) {
          return false;
        }
      }
    }
    return true;
  }

  // One node a level, levels in order.
  static bool is_even(const Mapping& mapping) {
    std::vector<std::size_t> levels;
    for (const MappingNode& node : mapping.nodes) {
      if (const Keep* keep = std::get_if<Keep>(&node)) {
        levels.push_back(index_of(keep->level));
      }
    }
    return std::adjacent_find(levels.begin(), levels.end(), std::greater_equal<>{}) == levels.end();
  }

  const Mapspace& space_;
  Unrolling unrolling_;
  Mapping mapping_;
  PerDim<std::int64_t> extents_;
  PerTensor<LevelSet> kept_;
  std::vector<bool> unrolled_;
  std::set<std::string> found_;
};

}  // namespace

std::string key_of(const Mapping& mapping) {
  KeyWriter writer;
  for (const MappingNode& node : mapping.nodes) {
    std::visit(writer, node);
  }
  return writer.key;
}

std::set<std::string> brute_force_keys(const Mapspace& space) { return BruteForce{space}.run(); }

}  // namespace mapsim
