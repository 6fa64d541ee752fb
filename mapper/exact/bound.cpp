// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/bound.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <type_traits>

#include "mapper/exact/prices.hpp"

namespace mapsim::exact {

std::optional<Node> cross(const Skeleton& skeleton, const Unrolled& unrolled, const Node& node) {
  const auto pointers = skeleton.after_event(node.phase, node.pointers);
  if (!pointers) {
    return std::nullopt;
  }
  const auto fanout = skeleton.event_after(node.phase).fanout;
  return Node{node.phase + 1, *pointers,
              fanout ? unrolled.crossings[*fanout][node.tile] : node.tile};
}

NodeIndex::NodeIndex(const Skeleton& skeleton, const Unrolled& unrolled)
    : pointers_{skeleton.pointers()}, rows_(skeleton.phases() * skeleton.pointers(), 0) {
  for (std::size_t phase = 0; phase < skeleton.phases(); ++phase) {
    for (std::size_t pointers = 0; pointers < pointers_; ++pointers) {
      if (skeleton.reachable(phase, pointers)) {
        rows_[phase * pointers_ + pointers] = size_;
        size_ += unrolled.lattices[skeleton.crossed(phase)].size();
      }
    }
  }
}

namespace {

// The other components follow the first at a distance of so much. A part of fewer nodes is not
// worth a task.
constexpr std::size_t kParts = 6;
constexpr std::size_t kNodesOfPart = 4'000;

// Compiled for each width of vectors; minima and single sums come out alike in all of them.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(NDEBUG)
#define MAPSIM_ANY_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define MAPSIM_ANY_VECTORS
#endif

MAPSIM_ANY_VECTORS
void take_least(double* upper, const double* lower, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    upper[i] = std::min(upper[i], lower[i]);
  }
}

MAPSIM_ANY_VECTORS
void take_least_sum(double* upper, const double* lower, const double* cost, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    upper[i] = std::min(upper[i], cost[i] + lower[i]);
  }
}

double least_of(const double* row, std::size_t size) {
  std::array<double, 64> least{};
  least.fill(kInfinity);
  for (std::size_t i = 0; i < size; i += least.size()) {
    take_least(least.data(), row + i, std::min(least.size(), size - i));
  }
  return *std::min_element(least.begin(), least.end());
}

// A run of the lattice over a dim to a row of other pointers; its costs begin at `entry`.
struct Leg {
  std::size_t from = 0;  // digits
  std::size_t to = 0;
  const double* below = nullptr;  // the row
  std::size_t entry = 0;
};

// Longer sums are added up piece by piece, so that the pieces stay in the cache.
constexpr std::size_t kPiece = 64;

// row[from] = min(.., below[to] + costs) of all tiles and legs. Inlined: once for each number of
// costs.
template <std::size_t count>
[[gnu::always_inline]] inline void relax_legs(double* row, std::size_t size, std::size_t stride,
                                              std::size_t positions, std::span<const Leg> legs,
                                              const double* const* costs) {
  std::size_t rest = 0;
  for (double* base = row; base < row + size; base += stride * positions, rest += stride) {
    for (const Leg& leg : legs) {
      double* __restrict upper = base + leg.from * stride;
      const double* __restrict lower = leg.below + (base - row) + leg.to * stride;
      if constexpr (count == 0) {
        for (std::size_t i = 0; i < stride; ++i) {
          upper[i] = std::min(upper[i], lower[i]);
        }
      } else if constexpr (count == 1) {
        const double* __restrict cost = costs[0] + leg.entry + rest;
        for (std::size_t i = 0; i < stride; ++i) {
          upper[i] = std::min(upper[i], lower[i] + cost[i]);
        }
      } else {
        const double* __restrict one = costs[0] + leg.entry + rest;
        const double* __restrict two = costs[1] + leg.entry + rest;
        for (std::size_t i = 0; i < stride; ++i) {
          upper[i] = std::min(upper[i], lower[i] + one[i] + two[i]);
        }
      }
    }
  }
}

MAPSIM_ANY_VECTORS
void relax_free(double* row, std::size_t size, std::size_t stride, std::size_t positions,
                std::span<const Leg> legs) {
  relax_legs<0>(row, size, stride, positions, legs, nullptr);
}

MAPSIM_ANY_VECTORS
void relax_paid(double* row, std::size_t size, std::size_t stride, std::size_t positions,
                std::span<const Leg> legs, const double* const* costs) {
  relax_legs<1>(row, size, stride, positions, legs, costs);
}

MAPSIM_ANY_VECTORS
void relax_twice_paid(double* row, std::size_t size, std::size_t stride, std::size_t positions,
                      std::span<const Leg> legs, const double* const* costs) {
  relax_legs<2>(row, size, stride, positions, legs, costs);
}

// Three costs and more.
MAPSIM_ANY_VECTORS
void relax_often_paid(double* row, std::size_t size, std::size_t stride, std::size_t positions,
                      std::span<const Leg> legs, std::span<const double* const> costs) {
  std::array<double, kPiece> sum;
  std::size_t rest = 0;
  for (double* base = row; base < row + size; base += stride * positions, rest += stride) {
    for (const Leg& leg : legs) {
      for (std::size_t first = 0; first < stride; first += kPiece) {
        const std::size_t piece = std::min(kPiece, stride - first);
        double* __restrict upper = base + leg.from * stride + first;
        const double* __restrict lower = leg.below + (base - row) + leg.to * stride + first;
        for (std::size_t i = 0; i < piece; ++i) {
          sum[i] = lower[i] + costs[0][leg.entry + rest + first + i];
        }
        for (std::size_t c = 1; c < costs.size(); ++c) {
          const double* __restrict cost = costs[c] + leg.entry + rest + first;
          for (std::size_t i = 0; i < piece; ++i) {
            sum[i] += cost[i];
          }
        }
        for (std::size_t i = 0; i < piece; ++i) {
          upper[i] = std::min(upper[i], sum[i]);
        }
      }
    }
  }
}

void relax(const Lattice& lattice, DimId dim, std::span<const Leg> legs,
           std::span<const double* const> costs, double* row) {
  const std::size_t stride = lattice.stride(dim);
  const std::size_t positions = lattice.positions(dim).size();
  switch (costs.size()) {
    case 0:
      return relax_free(row, lattice.size(), stride, positions, legs);
    case 1:
      return relax_paid(row, lattice.size(), stride, positions, legs, costs.data());
    case 2:
      return relax_twice_paid(row, lattice.size(), stride, positions, legs, costs.data());
    default:
      return relax_often_paid(row, lattice.size(), stride, positions, legs, costs);
  }
}

// One function for all runs: those of the dims that vary fastest are short.
MAPSIM_ANY_VECTORS
void relax_runs(double* row, std::size_t size, std::size_t stride, std::size_t positions,
                const Lattice::Run* first, const Lattice::Run* last) {
  for (double* base = row; base < row + size; base += stride * positions) {
    for (const Lattice::Run* run = first; run != last; ++run) {
      double* __restrict upper = base + run->from * stride;
      const double* __restrict lower = base + run->to * stride;
      for (std::size_t i = 0; i < stride; ++i) {
        upper[i] = std::min(upper[i], lower[i]);
      }
    }
  }
}

// A loop costs nothing: the value of a tile is the least over the tiles that loops lead to.
void relax_neutral(const Lattice& lattice, DimId dim, double* row) {
  const std::size_t stride = lattice.stride(dim);
  const std::size_t positions = lattice.positions(dim).size();
  const auto& runs = lattice.primes(dim);
  if (stride > 1) {
    relax_runs(row, lattice.size(), stride, positions, runs.data(), runs.data() + runs.size());
    return;
  }
  for (double* first = row; first < row + lattice.size(); first += positions) {  // no vectors
    for (const Lattice::Run& run : runs) {
      first[run.from] = std::min(first[run.from], first[run.to]);
    }
  }
}

}  // namespace

template <class CostTables>
Bound::Bound(const Skeleton& skeleton, const Unrolled& unrolled, CostTables& costs,
             const Hopeless& hopeless, const Bound* within)
    : nodes_(skeleton, unrolled),
      live_(within != nullptr ? within->live_
                              : std::vector<char>(skeleton.phases() * skeleton.pointers(), 1)),
      offsets_(skeleton.phases() * skeleton.pointers(), 0),
      to_go_(costs.components()) {
  for (const Lattice& lattice : unrolled.lattices) {
    longest_ = std::max(longest_, lattice.size());
  }
  filled_ = longest_;
  make_room(0, longest_ + nodes_.size());
  const std::vector<Row> all = rows(skeleton);
  if constexpr (std::is_same_v<CostTables, Costs>) {
    if (omp_get_num_threads() > 1 && nodes_.size() >= 2 * kNodesOfPart) {
      fill_together(skeleton, unrolled, costs, hopeless, all);
      return;
    }
  }
  fill(skeleton, unrolled, costs, 0, hopeless, all);
  // The others have the rows, and need the costs, of the first.
  for (std::size_t component = 1; component < to_go_.size(); ++component) {
    make_room(component, filled_);
    fill(skeleton, unrolled, costs, component, {}, all);
  }
}

// With threads to share the work with: the other components follow the first, part by part. Where
// there is a limit, tables of costs are made before each part.
void Bound::fill_together(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
                          const Hopeless& hopeless, std::span<const Row> rows) {
  for (std::size_t component = 1; component < to_go_.size(); ++component) {
    make_room(component, longest_ + nodes_.size());
  }
  const auto split = parts(skeleton, unrolled, rows);
  // What tasks wait for: parts of the first component; a component's part before.
  std::vector<char> marks(split.size() + to_go_.size());
  [[maybe_unused]] char* mark = marks.data();
#pragma omp taskgroup
  for (std::size_t part = 0; part < split.size(); ++part) {
    [[maybe_unused]] const std::size_t first = split.size();
#pragma omp task depend(inout : mark[first]) depend(out : mark[part]) \
    shared(skeleton, unrolled, costs, hopeless, split)
    {
      if (hopeless) {
        prepare(skeleton, unrolled, costs, split[part]);
      }
      fill(skeleton, unrolled, costs, 0, hopeless, split[part]);
    }
    for (std::size_t component = 1; component < to_go_.size(); ++component) {
#pragma omp task depend(inout : mark[first + component]) depend(in : mark[part]) \
    shared(skeleton, unrolled, costs, split)
      fill(skeleton, unrolled, costs, component, {}, split[part]);
    }
  }
}

// Tables that rows may need, as far as is known before the first of them.
void Bound::prepare(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
                    std::span<const Row> rows) const {
  std::set<Costs::TableId> tables;
  for (const auto& [phase, pointers] : rows) {
    for (const Skeleton::Place& place : skeleton.places(phase, pointers)) {
      if (is_live(phase, place.target)) {
        tables.emplace(place.placing, std::nullopt);
      }
    }
    const Lattice& lattice = unrolled.lattices[skeleton.crossed(phase)];
    for (const Skeleton::Jump& jump : skeleton.jumps(phase, pointers)) {
      const auto& runs = lattice.runs(jump.dim);
      const bool leads_on = std::any_of(runs.begin(), runs.end(), [&](const Lattice::Run& run) {
        const auto target =
            skeleton.after_loop(phase, jump.target, jump.dim, lattice.factor(jump.dim, run));
        return target && is_live(phase, *target);
      });
      for (std::size_t i = 0; leads_on && i < jump.placings.size(); ++i) {
        tables.emplace(jump.placings[i], jump.dim);
      }
    }
  }
  costs.prepare(tables);
}

// Inside out: later phases first, and within one the pointers that moves lead to.
std::vector<Bound::Row> Bound::rows(const Skeleton& skeleton) const {
  std::vector<Row> found;
  for (std::size_t phase = skeleton.phases(); phase-- > 0;) {
    for (std::size_t pointers = skeleton.pointers(); pointers-- > 0;) {
      if (skeleton.reachable(phase, pointers) && is_live(phase, pointers)) {
        found.push_back({phase, pointers});
      }
    }
  }
  return found;
}

// About as many nodes each.
std::vector<std::span<const Bound::Row>> Bound::parts(const Skeleton& skeleton,
                                                      const Unrolled& unrolled,
                                                      std::span<const Row> rows) const {
  const std::size_t count = std::min(nodes_.size() / kNodesOfPart, kParts);
  std::vector<std::span<const Row>> split;
  std::size_t nodes = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    nodes += unrolled.lattices[skeleton.crossed(rows[i].phase)].size();
    if (i + 1 == rows.size() || nodes * count >= (split.size() + 1) * nodes_.size()) {
      split.push_back(rows.subspan(first, i + 1 - first));
      first = i + 1;
    }
  }
  return split;
}

// Not initialised: what is left out need not even be touched.
void Bound::make_room(std::size_t component, std::size_t size) {
  to_go_[component].reset(new double[size]);
  std::fill_n(to_go_[component].get(), longest_, kInfinity);
}

// The first component settles which rows there are.
template <class CostTables>
void Bound::fill(const Skeleton& skeleton, const Unrolled& unrolled, CostTables& costs,
                 std::size_t component, const Hopeless& hopeless, std::span<const Row> rows) {
  for (const auto& [phase, pointers] : rows) {
    if (!is_live(phase, pointers)) {
      continue;
    }
    const std::size_t tiles = unrolled.lattices[skeleton.crossed(phase)].size();
    std::size_t& start = offsets_[phase * nodes_.pointers() + pointers];
    if (component == 0) {
      start = filled_;
    }
    double* row = to_go_[component].get() + start;
    std::fill_n(row, tiles, kInfinity);
    const bool leads_on = fill_row(skeleton, unrolled, costs, component, phase, pointers);
    if (component > 0) {
      continue;
    }
    if (!leads_on || (hopeless && hopeless(skeleton.least_paid(pointers) + least_of(row, tiles)))) {
      start = 0;
      live_[phase * nodes_.pointers() + pointers] = 0;
    } else {
      filled_ += tiles;
    }
  }
}

// What the nodes behind the event that ends the phase have to go. False: there are none, or none
// worth looking at.
bool Bound::copy_behind(const Skeleton& skeleton, const Unrolled& unrolled, std::size_t component,
                        std::size_t phase, std::size_t pointers) {
  const auto behind = skeleton.after_event(phase, pointers);
  if (!behind || !is_live(phase + 1, *behind)) {
    return false;
  }
  double* row = to_go_[component].get() + offset(phase, pointers);
  const double* next = to_go_[component].get() + offset(phase + 1, *behind);
  if (const auto fanout = skeleton.event_after(phase).fanout) {
    const std::vector<std::size_t>& crossing = unrolled.crossings[*fanout];
    std::transform(crossing.begin(), crossing.end(), row,
                   [next](std::size_t tile) { return next[tile]; });
  } else {
    std::copy_n(next, unrolled.lattices[skeleton.crossed(phase)].size(), row);
  }
  return true;
}

// Loops that lead to other pointers, which have been bounded before; those that do not are
// `neutral`. False: none leads to a node worth looking at.
bool Bound::relax_loops(const Skeleton& skeleton, const Lattice& lattice, std::size_t phase,
                        std::size_t pointers, DimSet& neutral, double* to_go) const {
  bool leads_on = false;
  std::vector<Leg> legs;
  const DimSet frozen = skeleton.frozen(phase, pointers);
  for (std::size_t i = 0; i < lattice.dims(); ++i) {
    const auto d = static_cast<DimId>(i);
    if (frozen.contains(d)) {
      continue;
    }
    if (skeleton.is_neutral(phase, pointers, d)) {
      neutral.insert(d);
      continue;
    }
    legs.clear();
    for (const Lattice::Run& run : lattice.primes(d)) {
      const auto target = skeleton.after_loop(phase, pointers, d, lattice.factor(d, run));
      if (target && is_live(phase, *target)) {
        legs.push_back({run.from, run.to, to_go + offset(phase, *target), 0});
      }
    }
    leads_on = leads_on || !legs.empty();
    relax(lattice, d, legs, {}, to_go + offset(phase, pointers));
  }
  return leads_on;
}

// The runs of a jump. False: none leads to a node worth looking at.
template <class CostTables>
bool Bound::relax_jump(const Skeleton& skeleton, const Lattice& lattice, CostTables& costs,
                       std::size_t component, std::size_t phase, const Skeleton::Jump& jump,
                       double* row) const {
  const auto& runs = lattice.runs(jump.dim);
  const std::size_t rests = lattice.size() / lattice.positions(jump.dim).size();
  std::vector<Leg> legs;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const auto target =
        skeleton.after_loop(phase, jump.target, jump.dim, lattice.factor(jump.dim, runs[run]));
    if (target && is_live(phase, *target)) {
      legs.push_back({runs[run].from, runs[run].to,
                      to_go_[component].get() + offset(phase, *target), run * rests});
    }
  }
  if (legs.empty()) {
    return false;
  }
  std::vector<const double*> paid;
  for (const std::size_t placing : jump.placings) {
    const std::vector<double>& cost = costs.sliding(placing, jump.dim);
    paid.push_back(cost.data() + cost.size() / costs.components() * component);
  }
  relax(lattice, jump.dim, legs, paid, row);
  return true;
}

// False: no move leads to a node worth looking at.
template <class CostTables>
bool Bound::fill_row(const Skeleton& skeleton, const Unrolled& unrolled, CostTables& costs,
                     std::size_t component, std::size_t phase, std::size_t pointers) {
  double* to_go = to_go_[component].get();
  double* row = to_go + offset(phase, pointers);
  const Lattice& lattice = unrolled.lattices[skeleton.crossed(phase)];
  bool leads_on = false;
  if (phase + 1 < skeleton.phases()) {
    leads_on = copy_behind(skeleton, unrolled, component, phase, pointers);
  } else if (skeleton.end(pointers)) {
    leads_on = true;
    for (const std::size_t tile : lattice.ones()) {
      row[tile] = costs.mac(*skeleton.end(pointers), tile)[component];
    }
  }
  for (const Skeleton::Place& place : skeleton.places(phase, pointers)) {
    if (!is_live(phase, place.target)) {
      continue;
    }
    leads_on = true;
    const double* below = to_go + offset(phase, place.target);
    const double* cost = &costs.plain(place.placing)[component * lattice.size()];
    take_least_sum(row, below, cost, lattice.size());
  }
  for (const Skeleton::Jump& jump : skeleton.jumps(phase, pointers)) {
    leads_on = relax_jump(skeleton, lattice, costs, component, phase, jump, row) || leads_on;
  }
  DimSet neutral;
  leads_on = relax_loops(skeleton, lattice, phase, pointers, neutral, to_go) || leads_on;
  for (std::size_t d = 0; leads_on && d < lattice.dims(); ++d) {
    if (neutral.contains(static_cast<DimId>(d))) {
      relax_neutral(lattice, static_cast<DimId>(d), row);
    }
  }
  return leads_on;
}

template Bound::Bound(const Skeleton&, const Unrolled&, Costs&, const Hopeless&, const Bound*);
template Bound::Bound(const Skeleton&, const Unrolled&, PricedCosts&, const Hopeless&,
                      const Bound*);

}  // namespace mapsim::exact
