// SPDX-License-Identifier: Apache-2.0
#include "check/toll_terms.hpp"

#include <algorithm>
#include <utility>

#include "check/route.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim::check {

const std::vector<std::uint32_t>& EdgeCosts::rank_index(TensorId t, std::size_t rank) {
  std::vector<std::uint32_t>& index = rank_index_[{index_of(t), rank}];
  if (index.empty()) {
    index = index_tiles(tiles_, graph_.problem().workload().tensors[t].ranks[rank]);
  }
  return index;
}

// `what`: -2 the union, -1 what is met, else what is gained along that dim of the rank.
const std::vector<double>& EdgeCosts::table(TensorId t, std::size_t rank, int what,
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
EdgeCosts::Volume EdgeCosts::make_volume(TensorId t, std::size_t crossed,
                                         const std::vector<Use>& uses, bool together) {
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
EdgeCosts::Volume EdgeCosts::make_met(TensorId t, std::size_t crossed, const std::vector<Use>& uses,
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

// Every fanout between parent and child, used or idle, from the innermost outwards.
void EdgeCosts::add_networks(const BoundaryEdge& edge, bool together, Terms& made) {
  const Problem& problem = graph_.problem();
  const Arch& arch = problem.arch();
  const TensorId t = edge.tensor;
  const LevelId parent = graph_.residences(t)[edge.outer].level;
  std::size_t outside = made.has_child ? graph_.residences(t)[edge.inner].above : at_.used.size();
  const std::vector<Use> sums(outside, Use::kSum);
  std::vector<Use> uses = sums;
  bool costs = false;
  for (std::size_t i = arch.fanouts.size(); i-- > 0;) {
    const auto f = static_cast<FanoutId>(i);
    const bool between =
        arch.is_above(parent, f) &&
        !(made.has_child && arch.is_above(graph_.residences(t)[edge.inner].level, f));
    if (!between) {
      continue;
    }
    const bool used = outside > 0 && at_.used[outside - 1] == f;
    outside -= used ? 1 : 0;
    Network network;
    network.merges = used && problem.is_merged(f, t);
    if (network.merges) {
      uses[outside] = Use::kMerge;
      network.outer.crossing = make_volume(t, edge.crossed, uses, together);
    }
    network.energy = network_energy(problem, f, made.output);
    if (network.energy.hop_pj > 0) {
      const DimSet shared = problem.shared_dims(f, t);
      network.route = mean_route(arch.fanouts[f], at_.axes[f], shared);
      for (const DimId d : problem.workload().dims.ids()) {
        const std::int64_t instances = at_.axes[f][0][d] * at_.axes[f][1][d];
        network.group_size *= shared.contains(d) ? static_cast<double>(instances) : 1.0;
      }
      if (made.output) {
        network.outer.met = make_met(t, edge.crossed, sums, outside);
      }
    }
    costs =
        costs || network.energy.hop_pj > 0 || (network.merges && network.energy.addition_pj > 0);
    made.networks.push_back(std::move(network));
  }
  if (!costs) {
    made.networks.clear();
  }
}

BoundaryCost EdgeCosts::cost_of(const BoundaryEdge& edge, bool has_child) const {
  const Problem& problem = graph_.problem();
  const std::vector<Residence>& residences = graph_.residences(edge.tensor);
  std::int64_t used = 1;  // instances of the array of a timing model
  if (const auto array = array_of(problem.arch())) {
    for (const DimId d : problem.workload().dims.ids()) {
      used *= at_.axes[*array][0][d] * at_.axes[*array][1][d];
    }
  }
  const auto padding = [&](LevelId level) { return padding_at(problem, level, edge.tensor, used); };
  Boundary boundary{edge.tensor, residences[edge.outer].level, std::nullopt,
                    residences[edge.outer].final, 1};
  for (const Rank& rank : problem.workload().tensors[edge.tensor].ranks) {
    boundary.distinct *=
        static_cast<double>(count_coordinates(rank, bounds_of(problem.workload())));
  }
  boundary.parent_padding = padding(boundary.parent);
  if (has_child) {
    boundary.child = residences[edge.inner].level;
    boundary.child_padding = padding(*boundary.child);
  }
  return {problem, boundary, graph_.ports(), tracked_};
}

// `outer`, `inner`: used fanouts above the ends.
void EdgeCosts::add_met(const BoundaryEdge& edge, std::size_t outer, std::size_t inner,
                        Terms& made) {
  const std::vector<Use> sums(inner, Use::kSum);
  const std::vector<Use> firsts(inner, Use::kFirst);
  made.outer.met = make_met(edge.tensor, edge.crossed, sums, outer);
  made.inner.met = make_met(edge.tensor, edge.crossed, sums, inner);
  made.busy_outer.met = make_met(edge.tensor, edge.crossed, firsts, outer);
  made.busy_inner.met = make_met(edge.tensor, edge.crossed, firsts, inner);
}

EdgeCosts::Terms EdgeCosts::make_terms(std::size_t index) {
  const BoundaryEdge& edge = graph_.edges()[index];
  const Problem& problem = graph_.problem();
  const Arch& arch = problem.arch();
  const TensorId t = edge.tensor;
  const Tensor& tensor = problem.workload().tensors[t];
  const Residence& outer = graph_.residences(t)[edge.outer];
  const bool mac = edge.inner == BoundaryEdge::kMac;
  const Residence inner = mac ? Residence{} : graph_.residences(t)[edge.inner];
  const std::size_t above = mac ? at_.used.size() : inner.above;

  Terms made;
  made.output = t == problem.workload().output();
  made.has_child = !mac && !inner.latch;
  made.slides = inner.latch || (made.has_child && arch.levels[inner.level].sliding);
  made.cost = cost_of(edge, made.has_child);
  std::vector<Use> uses(above, Use::kSum);
  const auto volume = [&](std::size_t firsts, const std::vector<Use>& of, bool together) {
    std::vector<Use> with_first = of;
    std::fill_n(with_first.begin(), firsts, Use::kFirst);
    return make_volume(t, edge.crossed, with_first, together);
  };
  made.inner.crossing = volume(0, uses, true);
  made.busy_inner.crossing = volume(above, uses, true);
  bool together = true;
  for (std::size_t f = outer.above; f < above; ++f) {
    together =
        together && (!problem.is_merged(at_.used[f], t) || arch.fanouts[at_.used[f]].forwarding);
  }
  add_networks(edge, together, made);
  for (std::size_t f = outer.above; f < above; ++f) {
    uses[f] = problem.is_merged(at_.used[f], t) ? Use::kMerge : Use::kSum;
  }
  made.outer.crossing = volume(0, uses, together);
  made.busy_outer.crossing = volume(outer.above, uses, together);
  if (made.output) {
    add_met(edge, outer.above, above, made);
  }
  if (made.has_child && tracked_.edges) {
    made.tile_bits = &bits(index);
    made.tile_width =
        static_cast<double>((inner.final ? tensor.bits : tensor.partial_bits).count());
  }
  return made;
}

const EdgeCosts::Terms& EdgeCosts::terms(std::size_t edge) {
  if (!terms_[edge]) {
    terms_[edge] = std::make_unique<Terms>(make_terms(edge));
  }
  return *terms_[edge];
}

// Times that the tile is exchanged for dims that do not index the tensor.
const std::vector<double>& EdgeCosts::trips(TensorId t) {
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

}  // namespace mapsim::check
