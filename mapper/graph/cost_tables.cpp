// SPDX-License-Identifier: Apache-2.0
// Tables of EdgeCosts over all tiles of a lattice. edge_costs.cpp computes the cost at one tile.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/caught.hpp"
#include "costmodel/nest.hpp"
#include "mapper/graph/edge_costs.hpp"
#include "mapper/graph/sweeps.hpp"

namespace mapsim::exact {

namespace {

constexpr std::uint64_t kMix = 0x9E37'79B9'7F4A'7C15;  // 2^64 / golden ratio: spreads all bits

}  // namespace

const std::vector<double>& EdgeCosts::footprints(TensorId t, std::size_t crossed,
                                                 std::size_t fanouts_above) {
  std::vector<double>& points = footprints_[t][{crossed, fanouts_above}];
  if (points.empty()) {
    const DivisorLattice& lattice = unrolled_.lattices[crossed];
    const Tensor& tensor = graph_.problem().workload().tensors[t];
    held_.fill(points, lattice.size(), 1.0);
    for (const Rank& rank : tensor.ranks) {
      multiply_rank(lattice, rank, fanouts_above, points);
    }
  }
  return points;
}

// points[tile] *= distinct coordinates of the rank in the tile, with the extents that it has above
// the fanouts that are not crossed yet.
void EdgeCosts::multiply_rank(const DivisorLattice& lattice, const Rank& rank,
                              std::size_t fanouts_above, std::vector<double>& points) const {
  const auto real = [&](DimId d, std::size_t digit) {
    return real_extent(lattice, d, digit, fanouts_above);
  };
  const std::vector<DimId> dims = moving_dims(graph_.problem().workload(), rank);
  if (dims.size() == 1) {
    lattice.sweep(dims.front(), [&](std::size_t digit, std::size_t first, std::size_t last) {
      const auto extent = static_cast<double>(real(dims.front(), digit));
      for (std::size_t tile = first; tile < last; ++tile) {
        points[tile] *= extent;
      }
    });
    return;
  }
  Tensor alone;
  alone.ranks.push_back(rank);
  PerDim<std::int64_t> extents(lattice.dims(), 1);
  std::size_t combinations = 1;
  for (const DimId d : dims) {
    combinations *= lattice.positions(d).size();
  }
  std::vector<double> known(combinations, 0.0);
  const std::size_t row = row_size(lattice);
  for (std::size_t first = 0; first < lattice.size() && !dims.empty(); first += row) {
    std::size_t combination = 0;
    for (const DimId d : dims) {
      const std::size_t digit = lattice.digit(d, first);
      extents[d] = real(d, digit);
      combination = combination * lattice.positions(d).size() + digit;
    }
    double& coordinates = known[combination];
    if (coordinates == 0) {
      coordinates = static_cast<double>(footprint(alone, extents));
    }
    for (std::size_t tile = first; tile < first + row; ++tile) {
      points[tile] *= coordinates;
    }
  }
}

// prod_{d not in t} E_d/T_d
const std::vector<double>& EdgeCosts::visits(TensorId t, std::size_t crossed) {
  std::vector<double>& visits = visits_[t][crossed];
  if (!visits.empty()) {
    return visits;
  }
  const DivisorLattice& lattice = unrolled_.lattices[crossed];
  const DimSet relevant = graph_.problem().workload().tensors[t].dims();
  held_.fill(visits, lattice.size(), 1.0);
  for (const DimId d : graph_.problem().workload().dims.ids()) {
    if (relevant.contains(d)) {
      continue;
    }
    lattice.sweep(d, [&](std::size_t digit, std::size_t first, std::size_t last) {
      const double count = unrolled_.tiles_along(d, lattice.positions(d)[digit].extent);
      for (std::size_t tile = first; tile < last; ++tile) {
        visits[tile] *= count;
      }
    });
  }
  return visits;
}

const std::vector<double>& EdgeCosts::elements(std::size_t index) {
  const BoundaryEdge& edge = graph_.edges()[index];
  return footprints(edge.tensor, edge.crossed, graph_.residences(edge.tensor)[edge.to].fanouts);
}

const std::vector<double>& EdgeCosts::bits(std::size_t index) {
  std::vector<double>& bits = bits_[index];
  if (bits.empty()) {
    const BoundaryEdge& edge = graph_.edges()[index];
    const Residence& residence = graph_.residences(edge.tensor)[edge.to];
    const Tensor& tensor = graph_.problem().workload().tensors[edge.tensor];
    const auto width =
        static_cast<double>((residence.narrow ? tensor.bits : tensor.partial_bits).count());
    if (graph_.problem().sparse() != nullptr) {
      const Bits each = residence.narrow ? tensor.bits : tensor.partial_bits;
      std::vector<double> stored = stored_bits(graph_, unrolled_, edge, each, held_);
      held_.take(stored.size() * sizeof(double));
      bits = std::move(stored);
      forbid(edge, bits);
      return bits;
    }
    const std::vector<double>& points = footprints(edge.tensor, edge.crossed, residence.fanouts);
    held_.fill(bits, points.size(), width);
    lattice_of(index).in_pieces([&](std::size_t first, std::size_t last) {
      for (std::size_t tile = first; tile < last; ++tile) {
        bits[tile] *= points[tile];
      }
    });
    forbid(edge, bits);
  }
  return bits;
}

// A tile of an extent that a rule forbids takes infinitely many bits.
void EdgeCosts::forbid(const BoundaryEdge& edge, std::vector<double>& bits) const {
  const Residence& residence = graph_.residences(edge.tensor)[edge.to];
  const DivisorLattice& lattice = unrolled_.lattices[edge.crossed];
  for (const ExtentRule& rule : graph_.space().constraints().extents) {
    if (residence.latch || rule.level != residence.level || rule.tensor != edge.tensor) {
      continue;
    }
    lattice.sweep(rule.dim, [&](std::size_t digit, std::size_t first, std::size_t last) {
      const bool done = lattice.positions(rule.dim)[digit].extent == 1;
      const bool allowed =
          rule.extents.contains(real_extent(lattice, rule.dim, digit, residence.fanouts)) &&
          (done || !rule.done);
      for (std::size_t tile = first; tile < last && !allowed; ++tile) {
        bits[tile] = kInfinity;
      }
    });
  }
}

// The extent of a tile above the fanouts that are not crossed yet.
std::int64_t EdgeCosts::real_extent(const DivisorLattice& lattice, DimId d, std::size_t digit,
                                    std::size_t fanouts_above) const {
  std::int64_t extent = lattice.positions(d)[digit].extent;
  for (std::size_t f = fanouts_above; f < unrolled_.used.size(); ++f) {
    extent *= unrolled_.factors[f][d];
  }
  return extent;
}

// Bits that a tile may take: a register holds one element, a level its capacity.
double EdgeCosts::limit(std::size_t index) const {
  const BoundaryEdge& edge = graph_.edges()[index];
  const Residence& residence = graph_.residences(edge.tensor)[edge.to];
  if (residence.latch) {
    const Tensor& tensor = graph_.problem().workload().tensors[edge.tensor];
    return static_cast<double>(tensor.partial_bits.count());
  }
  const auto capacity = graph_.capacity_of(edge);
  return capacity ? graph_.capacities()[*capacity].bits : std::numeric_limits<double>::max();
}

// The length of runs of tiles that differ only in dims along which nothing slides.
std::size_t EdgeCosts::row_size(const DivisorLattice& lattice) const {
  std::size_t size = 1;
  for (const DimId d : graph_.problem().workload().dims.ids()) {
    size *= unrolled_.windows.contains(d) ? 1 : lattice.positions(d).size();
  }
  return size;
}

const EdgeCosts::Table& EdgeCosts::table(std::size_t index) {
  if (!tables_[index]) {
    tables_[index].emplace(
        Table{coefficients(index), *coefficients(index).visits, bits(index), limit(index)});
  }
  return *tables_[index];
}

// The tiles of a row, or a part of one, differ only in how often they are visited, and in cycles of
// first fills and last drains. So the cost per visit is evaluated once, and otherwise once per
// number of visits.
void EdgeCosts::evaluate_row(const Table& table, std::size_t first, std::size_t size,
                             SlidingLoop slide, double* out, std::size_t step) const {
  const double* visits_of = &table.visits[first];
  const double* bits_of = &table.bits[first];
  if (components_ == 1 && !table.coefficients.output && table.coefficients.nonzeros.empty()) {
    const double* fits =
        std::find_if(bits_of, bits_of + size, [&](double bits) { return bits <= table.most; });
    double each = 0;  // per visit
    if (fits != bits_of + size) {
      evaluate(table.coefficients, 1, first + static_cast<std::size_t>(fits - bits_of), slide,
               &each, 1);
    }
    multiply_fitting(out, visits_of, each, bits_of, table.most, size);
    return;
  }
  std::array<std::size_t, 64> known;  // by number of visits: a tile that has been evaluated
  known.fill(size);
  for (std::size_t i = 0; i < size; ++i) {
    if (!(bits_of[i] <= table.most)) {
      for (std::size_t k = 0; k < components_; ++k) {
        out[k * step + i] = kInfinity;
      }
      continue;
    }
    std::size_t& like = known[std::bit_cast<std::uint64_t>(visits_of[i]) * kMix >> 58U];
    const bool is_like = like < size && visits_of[like] == visits_of[i] && !tracked_.edges &&
                         table.coefficients.nonzeros.empty();
    if (!is_like) {
      for (std::size_t k = 0; k < components_; ++k) {
        out[k * step + i] = 0;
      }
      evaluate(table.coefficients, visits_of[i], first + i, slide, out + i, step);
    }
    for (std::size_t k = 0; k < components_ && is_like; ++k) {
      out[k * step + i] = out[k * step + like];
    }
    like = i;
  }
}

double EdgeCosts::bytes() const {
  double numbers = 0;
  for (std::size_t i = 0; i < plain_.size(); ++i) {
    numbers += is_left_out(i) ? 0 : static_cast<double>((components_ + 1) * lattice_of(i).size());
  }
  return numbers * sizeof(double);
}

void EdgeCosts::leave_out(std::vector<bool> edges) {
  left_out_ = std::move(edges);
  std::size_t longest = 0;
  for (const DivisorLattice& lattice : unrolled_.lattices) {
    longest = std::max(longest, lattice.size());
    for (const DimId d : lattice.ids()) {
      if (unrolled_.windows.contains(d)) {
        longest = std::max(
            longest, lattice.loops(d).size() * (lattice.size() / lattice.positions(d).size()));
      }
    }
  }
  held_.fill(infinite_, components_ * longest, kInfinity);
}

void EdgeCosts::prepare() {
  Caught caught;
#pragma omp taskloop grainsize(1) shared(caught)
  for (std::size_t t = 0; t < visits_.size(); ++t) {
    caught.run([&] { prepare(static_cast<TensorId>(t)); });
  }
  caught.rethrow();
}

void EdgeCosts::prepare(TensorId t) {
  const TensorMoves& moves = graph_.moves(t);
  std::set<std::size_t> distinct;
  for (const auto& edges : moves.edges) {
    for (const TensorMoves::Edge& edge : edges) {
      distinct.insert(edge.edge);
    }
  }
  std::vector<std::pair<std::size_t, std::optional<DimId>>> tables;
  for (const std::size_t edge : distinct) {
    if (is_left_out(edge)) {
      continue;
    }
    table(edge);
    tables.emplace_back(edge, std::nullopt);
    for (const DimId dim : moves.slides) {
      tables.emplace_back(edge, dim);
    }
  }
  Caught caught;
#pragma omp taskloop grainsize(1) shared(tables, caught)
  for (std::size_t i = 0; i < tables.size(); ++i) {
    caught.run([&] {
      const auto& [edge, dim] = tables[i];
      if (dim) {
        sliding(edge, *dim);
      } else {
        plain(edge);
      }
    });
  }
  caught.rethrow();
}

const std::vector<double>& EdgeCosts::plain(std::size_t index) {
  if (is_left_out(index)) {
    return infinite_;
  }
  std::vector<double>& costs = plain_[index];
  if (costs.empty()) {
    const DivisorLattice& lattice = lattice_of(index);
    const Table& of = table(index);
    const bool windows = !graph_.moves(graph_.edges()[index].tensor).slides.empty();
    const std::size_t row = windows ? row_size(lattice) : DivisorLattice::kTilesToCheck;
    held_.fill(costs, components_ * lattice.size(), 0.0);
    for (std::size_t tile = 0; tile < lattice.size(); tile += row) {
      lattice.check();
      evaluate_row(of, tile, std::min(row, lattice.size() - tile), SlidingLoop{}, &costs[tile],
                   lattice.size());
    }
  }
  return costs;
}

const std::vector<double>& EdgeCosts::sliding(std::size_t index, DimId dim) {
  if (is_left_out(index)) {
    return infinite_;
  }
  std::vector<double>& costs = sliding_[index][dim];
  if (costs.empty()) {
    const DivisorLattice& lattice = lattice_of(index);
    const auto& loops = lattice.loops(dim);
    const std::size_t row = row_size(lattice);
    const std::size_t stride = lattice.stride(dim);
    const std::size_t block = stride * lattice.positions(dim).size();
    const std::size_t step = loops.size() * (lattice.size() / lattice.positions(dim).size());
    held_.fill(costs, components_ * step, 0.0);
    const Table& of = table(index);
    std::size_t entry = 0;
    for (const DivisorLattice::Loop& loop : loops) {
      held_.check();
      const SlidingLoop slide{index_of(dim), loop.from};
      for (std::size_t base = loop.to * stride; base < lattice.size(); base += block) {
        for (std::size_t i = 0; i < stride; i += row, entry += row) {
          evaluate_row(of, base + i, row, slide, &costs[entry], step);
        }
      }
    }
  }
  return costs;
}

}  // namespace mapsim::exact
