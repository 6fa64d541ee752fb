// SPDX-License-Identifier: Apache-2.0
#include "check/tolls.hpp"

#include <algorithm>
#include <cmath>

#include "costmodel/nest.hpp"

namespace mapsim::check {

// A sliding-window rank of a volume: points per tile of the rank, and those gained along each dim.
struct Tolls::Window {
  const Rank* rank = nullptr;
  const std::uint32_t* index = nullptr;            // per tile
  const std::vector<double>* united = nullptr;     // per tile of the rank
  std::vector<const std::vector<double>*> gained;  // per dim of the rank; none where nothing slides
};

// V of docs/model.md: constant * prod_{d not in t} E_d/T_d * prod over windows.
struct Tolls::Volume {
  double constant = 1;
  std::vector<Window> windows;
};

struct Tolls::Terms {
  bool output = false;
  bool has_child = false;  // not the compute units, not a latch
  bool slides = false;
  bool final_above = false;  // the outer stand's sums are to arrive finished
  bool widths = false;
  double bits = 0;
  double partial_bits = 0;
  double distinct = 0;  // elements of the output
  Volume outer, inner, busy_outer, busy_inner;
  Volume met_outer, met_inner, met_busy_outer, met_busy_inner;  // outputs
  std::vector<std::pair<double, Volume>> reductions;  // pJ per addition, what leaves the fanout
  StorageEnergy outer_energy, inner_energy;
  std::optional<std::size_t> outer_reads, outer_writes, inner_reads, inner_writes;  // ports
  std::optional<BitsPerCycle> edge_rate;  // of the first fill or last drain
  const std::vector<double>* tile_bits = nullptr;
  double tile_width = 1;  // as its room has it
};

Tolls::Tolls(const Graph& graph, const Case& at, const Tiles& tiles, Tracked tracked)
    : graph_{graph},
      at_{at},
      tiles_{tiles},
      tracked_{tracked},
      components_{1 + (tracked.ports ? graph.ports().size() : 0) + (tracked.edges ? 1 : 0)},
      terms_(graph.placings().size()),
      plain_(graph.placings().size()),
      bits_(graph.placings().size()),
      trips_(graph.problem().workload().tensors.size()) {}
Tolls::~Tolls() = default;

const std::vector<std::uint32_t>& Tolls::rank_index(TensorId t, std::size_t rank) {
  std::vector<std::uint32_t>& index = rank_index_[{index_of(t), rank}];
  if (index.empty()) {
    index = index_tiles(tiles_, graph_.problem().workload().tensors[t].ranks[rank]);
  }
  return index;
}

// `what`: -2 the union, -1 what is met, else what is gained along that dim of the rank.
const std::vector<double>& Tolls::table(TensorId t, std::size_t rank, int what,
                                        const Sharing& sharing) {
  std::vector<double>& table = tables_[{index_of(t), rank, what, sharing}];
  if (table.empty()) {
    const Rank& of = graph_.problem().workload().tensors[t].ranks[rank];
    table = what == -2   ? united_points(at_, tiles_, of, sharing)
            : what == -1 ? met_points(at_, tiles_, of, sharing.crossed, sharing.above)
                         : gained_points(at_, tiles_, of, sharing, static_cast<std::size_t>(what));
  }
  return table;
}

// One entry of `uses` per used fanout above the child.
Tolls::Volume Tolls::make_volume(TensorId t, std::size_t crossed, const std::vector<Use>& uses,
                                 bool together) {
  const Workload& workload = graph_.problem().workload();
  const Tensor& tensor = workload.tensors[t];
  const DimSet relevant = tensor.dims();
  Sharing sharing{std::min(crossed, uses.size()), uses.size(), 0, together};
  Volume made;
  PerDim<double> summed(workload.dims.size(), 1);
  PerDim<double> first(workload.dims.size(), 1);
  for (std::size_t f = 0; f < uses.size(); ++f) {
    sharing.merged |= uses[f] == Use::kMerge ? 1U << f : 0U;
    for (const DimId d : workload.dims.ids()) {
      const auto factor = static_cast<double>(at_.factors[f][d]);
      summed[d] *= uses[f] == Use::kSum ? factor : 1;
      first[d] *= uses[f] == Use::kFirst ? factor : 1;
    }
  }
  sharing.together = together || sharing.merged == 0;
  for (const DimId d : workload.dims.ids()) {
    made.constant *= relevant.contains(d) ? 1 : summed[d];
  }
  for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
    const Rank& rank = tensor.ranks[r];
    if (rank.terms.size() == 1) {
      const DimId d = rank.terms.front().dim;
      made.constant *= static_cast<double>(workload.dims[d].bound) / first[d];
    } else if (!rank.terms.empty()) {
      Window window{&rank, rank_index(t, r).data(), &table(t, r, -2, sharing), {}};
      for (std::size_t i = 0; i < rank.terms.size(); ++i) {
        made.constant *= summed[rank.terms[i].dim];
        window.gained.push_back(&table(t, r, static_cast<int>(i), sharing));
      }
      made.windows.push_back(window);
    }
  }
  return made;
}

// Distinct elements met by the instances below `above` used fanouts: summed, or the first one's.
Tolls::Volume Tolls::make_met(TensorId t, std::size_t crossed, const std::vector<Use>& uses,
                              std::size_t above) {
  const Workload& workload = graph_.problem().workload();
  const Tensor& tensor = workload.tensors[t];
  const DimSet relevant = tensor.dims();
  Volume made;
  PerDim<double> summed(workload.dims.size(), 1);
  PerDim<double> first(workload.dims.size(), 1);
  for (std::size_t f = 0; f < above; ++f) {
    for (const DimId d : workload.dims.ids()) {
      (uses[f] == Use::kSum ? summed : first)[d] *= static_cast<double>(at_.factors[f][d]);
    }
  }
  for (const DimId d : workload.dims.ids()) {
    made.constant *= relevant.contains(d) ? 1 : summed[d];
  }
  for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
    const Rank& rank = tensor.ranks[r];
    if (rank.terms.size() == 1) {
      const DimId d = rank.terms.front().dim;
      made.constant *= static_cast<double>(workload.dims[d].bound) / first[d];
    } else if (!rank.terms.empty()) {
      const Sharing sharing{std::min(crossed, above), above, 0, true};
      made.windows.push_back({&rank, rank_index(t, r).data(), &table(t, r, -1, sharing), {}});
      for (const Term& term : rank.terms) {
        made.constant *= summed[term.dim];
      }
    }
  }
  return made;
}

// At the slower of the two ports that the tile passes, from the parent or, finished sums, to it.
void Tolls::add_edge(std::size_t index, Terms& made) {
  const Placing& placing = graph_.placings()[index];
  const Arch& arch = graph_.problem().arch();
  const Stand& inner = graph_.stands(placing.tensor)[placing.inner];
  const Bandwidth& parent =
      arch.levels[graph_.stands(placing.tensor)[placing.outer].level].bandwidth;
  const Bandwidth& child = arch.levels[inner.level].bandwidth;
  const Bandwidth& from = made.output ? child : parent;
  const Bandwidth& to = made.output ? parent : child;
  for (const auto& rate : {from.read, from.shared, to.write, to.shared}) {
    made.edge_rate = rate && (!made.edge_rate || *rate < *made.edge_rate) ? rate : made.edge_rate;
  }
  made.tile_bits = &bits(index);
  made.tile_width = inner.final ? made.bits : made.partial_bits;
}

Tolls::Terms Tolls::make_terms(std::size_t index) {
  const Placing& placing = graph_.placings()[index];
  const Problem& problem = graph_.problem();
  const Arch& arch = problem.arch();
  const TensorId t = placing.tensor;
  const Tensor& tensor = problem.workload().tensors[t];
  const Stand& outer = graph_.stands(t)[placing.outer];
  const bool mac = placing.inner == Placing::kMac;
  const Stand inner = mac ? Stand{} : graph_.stands(t)[placing.inner];
  const std::size_t above = mac ? at_.used.size() : inner.above;

  Terms made;
  made.output = t == problem.workload().output();
  made.has_child = !mac && !inner.latch;
  made.slides = inner.latch || (made.has_child && arch.levels[inner.level].sliding);
  made.final_above = outer.final;
  made.bits = problem.moved_bits(t, tensor.bits);
  made.partial_bits = problem.moved_bits(t, tensor.partial_bits);
  made.widths = tensor.bits != tensor.partial_bits;

  std::vector<Use> uses(above, Use::kSum);
  const auto volume = [&](std::size_t firsts, const std::vector<Use>& of, bool together) {
    std::vector<Use> with_first = of;
    std::fill_n(with_first.begin(), firsts, Use::kFirst);
    return make_volume(t, placing.crossed, with_first, together);
  };
  made.inner = volume(0, uses, true);
  made.busy_inner = volume(above, uses, true);
  bool together = true;
  for (std::size_t f = outer.above; f < above; ++f) {
    together =
        together && (!problem.is_merged(at_.used[f], t) || arch.fanouts[at_.used[f]].forwarding);
  }
  // From the innermost fanout outwards: what each that merges leaves.
  for (std::size_t f = above; f-- > outer.above;) {
    if (problem.is_merged(at_.used[f], t)) {
      uses[f] = Use::kMerge;
      if (made.output) {
        made.reductions.emplace_back(problem.addition_energy(at_.used[f]).count(),
                                     volume(0, uses, together));
      }
    }
  }
  made.outer = volume(0, uses, together);
  made.busy_outer = volume(outer.above, uses, together);
  if (made.output) {
    const std::vector<Use> sums(above, Use::kSum);
    const std::vector<Use> firsts(above, Use::kFirst);
    made.met_outer = make_met(t, placing.crossed, sums, outer.above);
    made.met_inner = make_met(t, placing.crossed, sums, above);
    made.met_busy_outer = make_met(t, placing.crossed, firsts, outer.above);
    made.met_busy_inner = make_met(t, placing.crossed, firsts, above);
    made.distinct = 1;
    for (const Rank& rank : tensor.ranks) {
      made.distinct *= static_cast<double>(count_coordinates(rank, bounds_of(problem.workload())));
    }
  }
  made.outer_energy = arch.levels[outer.level].energy;
  made.outer_reads = graph_.port(outer.level, true);
  made.outer_writes = graph_.port(outer.level, false);
  if (made.has_child) {
    made.inner_energy = arch.levels[inner.level].energy;
    made.inner_reads = graph_.port(inner.level, true);
    made.inner_writes = graph_.port(inner.level, false);
    if (tracked_.edges) {
      add_edge(index, made);
    }
  }
  return made;
}

const Tolls::Terms& Tolls::terms(std::size_t placing) {
  if (!terms_[placing]) {
    terms_[placing] = std::make_unique<Terms>(make_terms(placing));
  }
  return *terms_[placing];
}

// Times that the tile is exchanged for dims that do not index the tensor.
const std::vector<double>& Tolls::trips(TensorId t) {
  std::vector<double>& trips = trips_[t];
  if (trips.empty()) {
    const DimSet relevant = graph_.problem().workload().tensors[t].dims();
    trips.assign(tiles_.size(), 1.0);
    for (const DimId d : graph_.problem().workload().dims.ids()) {
      for (std::size_t tile = 0; tile < tiles_.size() && !relevant.contains(d); ++tile) {
        trips[tile] *= static_cast<double>(tiles_.bound(d) / tiles_.extent(d, tile));
      }
    }
  }
  return trips;
}

// A rank whose dim w slides in a loop from E' to T: of the E/T tiles along w the first of each run
// is fetched whole, the others gain what the step before did not have.
double Tolls::volume(const Volume& of, double trips, std::size_t tile, const Step& step) const {
  double product = of.constant * trips;
  for (const Window& window : of.windows) {
    const std::uint32_t index = window.index[tile];
    double points = (*window.united)[index];
    for (std::size_t i = 0; i < window.gained.size(); ++i) {
      const DimId d = window.rank->terms[i].dim;
      const std::int64_t extent = tiles_.extent(d, tile);
      if (index_of(d) == step.dim) {
        const auto steps = static_cast<double>(step.from / extent);
        points = (*window.united)[index] + (steps - 1) * (*window.gained[i])[index];
        product *= static_cast<double>(tiles_.bound(d) / step.from);
      } else {
        product *= static_cast<double>(tiles_.bound(d) / extent);
      }
    }
    product *= points;
  }
  return product;
}

void Tolls::pay_edge(const Terms& of, double width, std::size_t tile, double* out,
                     std::size_t stride) const {
  if (of.edge_rate) {
    const double elements = (*of.tile_bits)[tile] / of.tile_width;
    out[(components_ - 1) * stride] += std::ceil(elements * width / of.edge_rate->count());
  }
}

void Tolls::pay(const Terms& of, double trips, std::size_t tile, Step step, double* out,
                std::size_t stride) const {
  step = of.slides ? step : Step{};
  if (of.output) {
    pay_output(of, trips, tile, step, out, stride);
    return;
  }
  out[0] = volume(of.outer, trips, tile, step) * of.bits * of.outer_energy.read.count();
  if (of.has_child) {
    out[0] += volume(of.inner, trips, tile, step) * of.bits * of.inner_energy.write.count();
    pay_edge(of, of.bits, tile, out, stride);
  }
  if (tracked_.ports && of.outer_reads) {
    out[(1 + *of.outer_reads) * stride] += of.bits * volume(of.busy_outer, trips, tile, step);
  }
  if (tracked_.ports && of.inner_writes) {
    out[(1 + *of.inner_writes) * stride] += of.bits * volume(of.busy_inner, trips, tile, step);
  }
}

// A sum that crosses an end once is finished. Updates go up, and come back but for the first time
// that an instance meets the element; drains leave the child, fills come back.
void Tolls::pay_output(const Terms& of, double trips, std::size_t tile, const Step& step,
                       double* out, std::size_t stride) const {
  const double updates = volume(of.outer, trips, tile, step);
  const bool final_above = updates == of.distinct;
  if (of.widths && final_above != of.final_above) {
    for (std::size_t k = 0; k < components_; ++k) {
      out[k * stride] = kInfinity;
    }
    return;
  }
  const auto bits = [&](std::optional<std::size_t> port, double moved) {
    if (tracked_.ports && port) {
      out[(1 + *port) * stride] += moved;
    }
  };
  const double width = final_above ? of.bits : of.partial_bits;
  const double readbacks = updates - volume(of.met_outer, 1, tile, Step{});
  out[0] =
      width * (updates * of.outer_energy.update.count() + readbacks * of.outer_energy.read.count());
  if (tracked_.ports) {
    const double busy = volume(of.busy_outer, trips, tile, step);
    bits(of.outer_writes, width * busy);
    bits(of.outer_reads, width * (busy - volume(of.met_busy_outer, 1, tile, Step{})));
  }
  const double drains = volume(of.inner, trips, tile, step);
  double entering = drains;
  for (const auto& [energy, leaves] : of.reductions) {
    const double leaving = volume(leaves, trips, tile, step);
    out[0] += energy * (entering - leaving);
    entering = leaving;
  }
  if (of.has_child) {
    const double child_width = drains == of.distinct ? of.bits : of.partial_bits;
    const double fills = drains - volume(of.met_inner, 1, tile, Step{});
    out[0] += child_width *
              (drains * of.inner_energy.read.count() + fills * of.inner_energy.write.count());
    pay_edge(of, child_width, tile, out, stride);
    if (tracked_.ports) {
      const double busy = volume(of.busy_inner, trips, tile, step);
      bits(of.inner_reads, child_width * busy);
      bits(of.inner_writes, child_width * (busy - volume(of.met_busy_inner, 1, tile, Step{})));
    }
  }
}

bool Tolls::allows(TensorId t, const Stand& stand, std::size_t tile) const {
  if (graph_.rules().extents.empty()) {
    return true;
  }
  PerDim<std::int64_t> extents(tiles_.dims());
  for (const DimId d : extents.ids()) {
    extents[d] = tiles_.extent(d, tile) * at_.split(stand.above, d);
  }
  return allows_extents(graph_.rules(), stand.level, t, extents);
}

// values[tile] *= distinct coordinates of the rank in the tile of an instance below `above`
// fanouts.
void Tolls::multiply_points(const Placing& placing, std::size_t r, std::size_t above,
                            std::vector<double>& values) {
  const Rank& rank = graph_.problem().workload().tensors[placing.tensor].ranks[r];
  if (rank.terms.size() > 1) {
    const std::vector<std::uint32_t>& index = rank_index(placing.tensor, r);
    const std::vector<double>& points =
        table(placing.tensor, r, -2, {placing.crossed, above, 0, true});
    for (std::size_t tile = 0; tile < values.size(); ++tile) {
      values[tile] *= points[index[tile]];
    }
  } else if (rank.terms.size() == 1) {
    const DimId d = rank.terms.front().dim;
    const auto split = static_cast<double>(at_.split(above, d));
    for (std::size_t tile = 0; tile < values.size(); ++tile) {
      values[tile] *= split * static_cast<double>(tiles_.extent(d, tile));
    }
  }
}

const std::vector<double>& Tolls::bits(std::size_t index) {
  std::vector<double>& bits = bits_[index];
  if (bits.empty()) {
    const Placing& placing = graph_.placings()[index];
    const Stand& stand = graph_.stands(placing.tensor)[placing.inner];
    const Tensor& tensor = graph_.problem().workload().tensors[placing.tensor];
    const Bits width = stand.final ? tensor.bits : tensor.partial_bits;
    bits.assign(tiles_.size(), static_cast<double>(width.count()));
    for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
      multiply_points(placing, r, stand.above, bits);
    }
    // What does not fit its room alone, or a latch of one element, or the rules, does not exist.
    const auto room = graph_.room_of(placing);
    const double most = stand.latch ? static_cast<double>(width.count())
                        : room      ? graph_.rooms()[*room].bits
                                    : kInfinity;
    for (std::size_t tile = 0; tile < bits.size(); ++tile) {
      const bool is_allowed = stand.latch || allows(placing.tensor, stand, tile);
      bits[tile] = bits[tile] > most || !is_allowed ? kInfinity : bits[tile];
    }
  }
  return bits;
}

const std::vector<double>& Tolls::plain(std::size_t index) {
  std::vector<double>& tolls = plain_[index];
  if (tolls.empty()) {
    const Terms& of = terms(index);
    const std::vector<double>& times = trips(graph_.placings()[index].tensor);
    const std::vector<double>& room = bits(index);
    tolls.assign(components_ * tiles_.size(), 0.0);
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      if (room[tile] < kInfinity) {
        pay(of, times[tile], tile, Step{}, &tolls[tile], tiles_.size());
      } else {
        tolls[tile] = kInfinity;
      }
    }
  }
  return tolls;
}

const std::vector<double>& Tolls::sliding(std::size_t index, DimId dim) {
  std::vector<double>& tolls = sliding_[{index, index_of(dim)}];
  if (tolls.empty()) {
    const Terms& of = terms(index);
    const std::vector<double>& times = trips(graph_.placings()[index].tensor);
    const std::vector<double>& room = bits(index);
    const std::vector<Tiles::Run>& runs = tiles_.runs(dim);
    const std::size_t rests = tiles_.size() / tiles_.divisors(dim).size();
    tolls.assign(components_ * runs.size() * rests, 0.0);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const Step step{index_of(dim), tiles_.divisors(dim)[runs[r].from]};
      for (std::size_t rest = 0; rest < rests; ++rest) {
        const std::size_t tile = tiles_.from_rest(dim, rest, runs[r].to);
        double* out = &tolls[r * rests + rest];
        if (room[tile] < kInfinity) {
          pay(of, times[tile], tile, step, out, runs.size() * rests);
        } else {
          *out = kInfinity;
        }
      }
    }
  }
  return tolls;
}

std::vector<double> Tolls::end(const std::vector<std::size_t>& placings) {
  std::vector<double> sum(components_, 0.0);
  for (const std::size_t index : placings) {
    std::vector<double> one(components_, 0.0);
    pay(terms(index), trips(graph_.placings()[index].tensor)[0], 0, Step{}, one.data(), 1);
    for (std::size_t k = 0; k < components_; ++k) {
      sum[k] += one[k];
    }
  }
  const Problem& problem = graph_.problem();
  sum[0] += problem.mac_energy().count() * static_cast<double>(problem.macs());
  return sum;
}

}  // namespace mapsim::check
