// SPDX-License-Identifier: Apache-2.0
#include "check/perfect_coefficients.hpp"

#include <algorithm>
#include <utility>

#include "check/route.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim::check {

const std::vector<std::uint32_t>& PerfectCosts::rank_index(TensorId t, std::size_t rank) {
  std::vector<std::uint32_t>& index = rank_index_[{index_of(t), rank}];
  if (index.empty()) {
    index = index_tiles(lattice(), graph().problem().workload().tensors[t].ranks[rank]);
  }
  return index;
}

const std::vector<double>& PerfectCosts::table(TensorId t, std::size_t rank, int what,
                                               const Sharing& sharing) {
  std::vector<double>& table = tables_[{index_of(t), rank, what, sharing}];
  if (table.empty()) {
    const Rank& of = graph().problem().workload().tensors[t].ranks[rank];
    table = what == kUnited       ? united_points(at_, lattice(), of, sharing)
            : what == kMeanUnited ? mean_united_points(at_, lattice(), of, sharing, graph().entry())
            : what == kMet
                ? met_points(at_, lattice(), of, sharing.crossed, sharing.above)
                : gained_points(at_, lattice(), of, sharing, static_cast<std::size_t>(what));
  }
  return table;
}

namespace {

// Instances per dim below some used fanouts, by how they count.
struct InstancesByUse {
  PerDim<double> summed;
  PerDim<double> first;
};

InstancesByUse instances_by_use(const std::vector<PerDim<std::int64_t>>& factors, std::size_t dims,
                                const std::vector<Use>& uses, std::size_t above) {
  InstancesByUse instances{PerDim<double>(dims, 1), PerDim<double>(dims, 1)};
  for (std::size_t f = 0; f < above; ++f) {
    for (const DimId d : instances.summed.ids()) {
      const auto factor = static_cast<double>(factors[f][d]);
      instances.summed[d] *= uses[f] == Use::kSum ? factor : 1;
      instances.first[d] *= uses[f] == Use::kFirst ? factor : 1;
    }
  }
  return instances;
}

// Elements of a tensor, over all instances, without the factors of its windows.
double elements_but_for_windows(const Workload& workload, const Tensor& tensor,
                                const InstancesByUse& instances, const BranchEntry& entry) {
  const DimSet relevant = tensor.dims();
  double elements = 1;
  for (const DimId d : workload.dims.ids()) {
    elements *= relevant.contains(d) ? 1 : instances.summed[d];
  }
  for (const Rank& rank : tensor.ranks) {
    if (rank.terms.size() == 1) {
      const DimId d = rank.terms.front().dim;
      elements *= entry.mean_size(d, workload.dims[d].bound) / instances.first[d];
      continue;
    }
    for (const Term& term : rank.terms) {
      elements *= instances.summed[term.dim];
    }
  }
  return elements;
}

}  // namespace

// `what`: the table of each window. Of all elements that cross there are tables of what each loop
// over a dim of the window adds, too.
PerfectCosts::Volume PerfectCosts::volume_of(TensorId t, const std::vector<Use>& uses,
                                             const Sharing& sharing, int what) {
  const Workload& workload = graph().problem().workload();
  const Tensor& tensor = workload.tensors[t];
  Volume made;
  made.constant = elements_but_for_windows(
      workload, tensor, instances_by_use(at_.factors, workload.dims.size(), uses, sharing.above),
      graph().entry());
  for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
    const Rank& rank = tensor.ranks[r];
    if (rank.terms.size() > 1) {
      Window window{&rank, rank_index(t, r).data(), &table(t, r, what, sharing), {}};
      for (std::size_t i = 0; what == kMeanUnited && i < rank.terms.size(); ++i) {
        window.gained.push_back(&table(t, r, static_cast<int>(i), sharing));
      }
      made.windows.push_back(window);
    }
  }
  return made;
}

// `uses`: one per used fanout above the inner end.
PerfectCosts::Volume PerfectCosts::make_volume(TensorId t, std::size_t crossed,
                                               const std::vector<Use>& uses, bool together) {
  Sharing sharing{std::min(crossed, uses.size()), uses.size(), 0, together};
  for (std::size_t f = 0; f < uses.size(); ++f) {
    sharing.merged |= uses[f] == Use::kMerge ? 1U << f : 0U;
  }
  sharing.together = together || sharing.merged == 0;
  return volume_of(t, uses, sharing, kMeanUnited);
}

// Distinct elements that the instances below `above` used fanouts meet: summed, or of the first
// one.
PerfectCosts::Volume PerfectCosts::make_met(TensorId t, std::size_t crossed,
                                            const std::vector<Use>& uses, std::size_t above) {
  return volume_of(t, uses, {std::min(crossed, above), above, 0, true}, kMet);
}

// Every fanout between the two ends, used or idle, from the innermost outwards.
void PerfectCosts::add_networks(const BoundaryEdge& edge, bool together, Coefficients& made) {
  const Problem& problem = graph().problem();
  const Arch& arch = problem.arch();
  const TensorId t = edge.tensor;
  const LevelId parent = graph().residences(t)[edge.outer].level;
  std::size_t outside =
      made.use.has_child ? graph().residences(t)[edge.inner].above : at_.used.size();
  const std::vector<Use> sums(outside, Use::kSum);
  std::vector<Use> uses = sums;
  bool costs = false;
  for (std::size_t i = arch.fanouts.size(); i-- > 0;) {
    const auto f = static_cast<FanoutId>(i);
    const bool between =
        arch.is_above(parent, f) &&
        !(made.use.has_child && arch.is_above(graph().residences(t)[edge.inner].level, f));
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
    network.energy = network_energy(problem, f, made.use.output);
    if (network.energy.hop_pj > 0) {
      const DimSet shared = problem.shared_dims(f, t);
      network.route = mean_route(arch.fanouts[f], at_.axes[f], shared);
      for (const DimId d : problem.workload().dims.ids()) {
        const std::int64_t instances = at_.axes[f][0][d] * at_.axes[f][1][d];
        network.group_size *= shared.contains(d) ? static_cast<double>(instances) : 1.0;
      }
      if (made.use.output) {
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

void PerfectCosts::add_met(const BoundaryEdge& edge, Coefficients& made) {
  const std::size_t outer = made.use.outer_fanouts;
  const std::size_t inner = made.use.above;
  const std::vector<Use> sums(inner, Use::kSum);
  const std::vector<Use> firsts(inner, Use::kFirst);
  made.outer.met = make_met(edge.tensor, edge.crossed, sums, outer);
  made.inner.met = make_met(edge.tensor, edge.crossed, sums, inner);
  made.busy_outer.met = make_met(edge.tensor, edge.crossed, firsts, outer);
  made.busy_inner.met = make_met(edge.tensor, edge.crossed, firsts, inner);
}

PerfectCosts::Coefficients PerfectCosts::make_coefficients(std::size_t index) {
  const BoundaryEdge& edge = graph().edges()[index];
  const Problem& problem = graph().problem();
  const TensorId t = edge.tensor;
  Coefficients made;
  made.use = boundary_of(graph(), edge, tracked(), &at_.axes);
  bool together = true;
  for (std::size_t f = made.use.outer_fanouts; f < made.use.above; ++f) {
    together = together && (!problem.is_merged(at_.used[f], t) ||
                            problem.arch().fanouts[at_.used[f]].forwarding);
  }
  add_networks(edge, together, made);
  made.inner.crossing = make_volume(t, edge.crossed, made.use.inner, true);
  made.busy_inner.crossing = make_volume(t, edge.crossed, made.use.busy_inner, true);
  made.outer.crossing = make_volume(t, edge.crossed, made.use.outer, together);
  made.busy_outer.crossing = make_volume(t, edge.crossed, made.use.busy_outer, together);
  if (made.use.output) {
    add_met(edge, made);
  }
  if (made.use.has_child && tracked().edges) {
    made.tile_bits = &bits(index);
  }
  return made;
}

const PerfectCosts::Coefficients& PerfectCosts::coefficients(std::size_t edge) {
  if (!coefficients_[edge]) {
    coefficients_[edge] = std::make_unique<Coefficients>(make_coefficients(edge));
  }
  return *coefficients_[edge];
}

// How often the tile is replaced because of loops over dims that the tensor does not have.
const std::vector<double>& PerfectCosts::visits(TensorId t) {
  std::vector<double>& visits = visits_[t];
  if (visits.empty()) {
    const DimSet relevant = graph().problem().workload().tensors[t].dims();
    visits.assign(lattice().size(), 1.0);
    for (const DimId d : graph().problem().workload().dims.ids()) {
      if (relevant.contains(d)) {
        continue;
      }
      lattice().sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
        const double times = lattice().visits(d, lattice().high(d, bin));
        for (std::size_t tile = first; tile < last; ++tile) {
          visits[tile] *= times;
        }
      });
    }
  }
  return visits;
}

const PerfectCosts::Alike& PerfectCosts::alike(TensorId t) {
  Alike& alike = alike_[t];
  if (alike.number.empty()) {
    const Workload& workload = graph().problem().workload();
    DimSet in_windows;
    for (const Rank& rank : workload.tensors[t].ranks) {
      for (std::size_t i = 0; rank.terms.size() > 1 && i < rank.terms.size(); ++i) {
        in_windows.insert(rank.terms[i].dim);
      }
    }
    alike.number.assign(lattice().size(), 0);
    for (const DimId d : workload.dims.ids()) {
      if (workload.tensors[t].dims().contains(d) && !in_windows.contains(d)) {
        continue;
      }
      lattice().sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
        for (std::size_t tile = first; tile < last; ++tile) {
          alike.number[tile] += static_cast<std::uint32_t>(bin * alike.count);
        }
      });
      alike.count *= lattice().count(d);
    }
  }
  return alike;
}

}  // namespace mapsim::check
