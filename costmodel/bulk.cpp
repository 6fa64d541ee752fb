// SPDX-License-Identifier: Apache-2.0
#include "costmodel/bulk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "costmodel/bulk_count.hpp"

namespace mapsim {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

DimId& dim_of(MappingNode& node) {
  auto* temporal = std::get_if<Temporal>(&node);
  return temporal != nullptr ? temporal->dim : std::get<Parallel>(node).dim;
}

std::int64_t& extent_of(MappingNode& node) {
  auto* temporal = std::get_if<Temporal>(&node);
  return temporal != nullptr ? temporal->extent : std::get<Parallel>(node).extent;
}

// ceil() of what is not negative and below 2^52, without a branch and without the instruction that
// the oldest vector units lack: adding 2^52 rounds to a whole number.
double round_up(double x) {
  const double rounded = (x + 0x1p52) - 0x1p52;
  return rounded + (rounded < x ? 1.0 : 0.0);
}

// transfer_time() of latency.cpp. Multiplying with the inverse of a power of two is exact, too, and
// much faster.
Lanes transfer_time(const Lanes& bits, BitsPerCycle bandwidth) {
  int exponent = 0;
  const double per_cycle = bandwidth.count();
  if (std::frexp(per_cycle, &exponent) == 0.5) {
    return map([inverse = 1 / per_cycle](double b) { return round_up(b * inverse); }, bits);
  }
  return map([per_cycle](double b) { return round_up(b / per_cycle); }, bits);
}

bool has_ports(const Bandwidth& bandwidth) {
  return bandwidth.read || bandwidth.write || bandwidth.shared || bandwidth.link;
}

// Are all counts, bits and cycles below 2^52, so that doubles hold them and round_up() works?
bool is_exact(const Problem& problem) {
  double bits = 0;
  for (const Tensor& tensor : problem.workload().tensors) {
    bits += static_cast<double>(std::max(tensor.bits, tensor.partial_bits).count());
  }
  double slowest = 1;
  for (const Storage& level : problem.arch().levels) {
    for (const PortKind kind : kPorts) {
      const auto& port = rate_of(level.bandwidth, kind);
      slowest = port ? std::min(slowest, port->count()) : slowest;
    }
  }
  constexpr double kWays = 4;  // of a tensor at a level: up and down, there and back
  return kWays * bits * static_cast<double>(problem.macs()) < 0x1p52 * slowest;
}

}  // namespace

// kLanes mappings of one structure. The steps are those of Evaluator, and so is the order of every
// sum.
class BulkBlock {
 public:
  BulkBlock(const Problem& problem, const Mapping& structure)
      : problem_{problem},
        arch_{problem.arch()},
        workload_{problem.workload()},
        nest_{make_nest(problem.workload(), structure)},
        bulk_{problem, nest_, {}, {}},
        counts_(workload_.tensors.size()) {
    bulk_.bounds.resize(nest_.loops.size());
    bulk_.extents.resize(nest_.loops.size());
    reductions_.resize(arch_.fanouts.size());
    for (auto& levels : counts_) {
      levels.resize(arch_.levels.size());
    }
    down_bits_ = up_bits_ = std::vector<Lanes>(arch_.levels.size());
    for (const LevelId l : arch_.levels.ids()) {
      if (has_ports(arch_.levels[l].bandwidth)) {
        busiest_.insert(l);
      }
    }
  }

  const Nest& nest() const { return nest_; }
  // Figures of the mappings whose bounds these are; misses: those that it cannot tell. False: it
  // can tell of none.
  bool evaluate(Lanes& energy, Lanes& steady, Lanes& ramped, Lanes& misses) {
    make_extents();
    std::fill(reductions_.begin(), reductions_.end(), Lanes(0));
    misses = Lanes(0);
    for (const TensorId t : workload_.tensors.ids()) {
      for (const Placement& placement : nest_.placements[t]) {
        at(placement.level, t).footprint = bulk_footprint(bulk_, t, placement.position);
      }
    }
    if (!count(workload_.output(), misses)) {
      return false;
    }
    assign_widths();
    Lanes fits = check();
    bool any = false;
    for (std::size_t k = 0; k < kLanes; ++k) {
      any = any || fits.at[k] == 1 || misses.at[k] == 1;
    }
    energy = steady = ramped = Lanes(kInfinity);
    if (!any) {
      return true;
    }
    for (const TensorId t : workload_.tensors.ids()) {
      if (t != workload_.output() && !count(t, misses)) {
        return false;
      }
    }
    const Lanes unfit = map([](double fit) { return fit == 1 ? 0 : kInfinity; }, fits);
    add_latency(steady, ramped);
    energy = sum_energy(steady);
    for (Lanes* figure : {&energy, &steady, &ramped}) {
      *figure = max(*figure, unfit);
    }
    return true;
  }
  Lanes& bounds(std::size_t loop) { return bulk_.bounds[loop]; }

 private:
  BulkTensorCounts& at(LevelId l, TensorId t) { return counts_[index_of(t)][index_of(l)]; }
  double bits_of(TensorId t) const {
    return static_cast<double>(workload_.tensors[t].bits.count());
  }
  bool is_output(TensorId t) const { return t == workload_.output(); }
  Lanes down_bits(LevelId l, TensorId t) const {
    return is_output(t) ? down_bits_[index_of(l)] : Lanes(bits_of(t));
  }
  Lanes up_bits(LevelId l, TensorId t) const {
    return is_output(t) ? up_bits_[index_of(l)] : Lanes(bits_of(t));
  }
  // Calls visit(t) for the tensors that a level keeps.
  template <class Visit>
  void for_each_kept(LevelId l, const Visit& visit) const {
    for (const TensorId t : workload_.tensors.ids()) {
      for (const Placement& placement : nest_.placements[t]) {
        if (placement.level == l) {
          visit(t);
        }
      }
    }
  }

  void make_extents() {
    PerDim<Lanes> extents(workload_.dims.size(), Lanes(1));
    for (std::size_t i = nest_.loops.size(); i-- > 0;) {
      Lanes& extent = extents[nest_.loops[i].dim];
      bulk_.extents[i] = extent;
      extent *= bulk_.bounds[i];
    }
  }

  bool count(TensorId t, Lanes& misses) {
    return bulk_count(bulk_, t, busiest_, counts_[index_of(t)], reductions_, misses);
  }

  // assign_widths() of widths.cpp, for the output.
  void assign_widths() {
    const TensorId t = workload_.output();
    const Tensor& tensor = workload_.tensors[t];
    const Lanes& distinct = at(LevelId{0}, t).footprint;
    const auto width = [&](const Lanes& moved) {
      return map([narrow = static_cast<double>(tensor.bits.count()),
                  wide = static_cast<double>(tensor.partial_bits.count())](
                     double n, double once) { return n == once ? narrow : wide; },
                 moved, distinct);
    };
    for (const Placement& placement : nest_.placements[t]) {
      const std::size_t l = index_of(placement.level);
      down_bits_[l] = width(at(placement.level, t).total.updates);
      up_bits_[l] = l == 0 ? down_bits_[l] : width(at(placement.level, t).total.drains);
    }
  }

  // 1: fits.
  Lanes check() {
    Lanes fits(1);
    const auto limit = [&fits](const Lanes& want, double have) {
      fits = map([have](double fit, double need) { return need > have ? 0.0 : fit; }, fits, want);
    };
    for (const FanoutId f : arch_.fanouts.ids()) {
      for (const Axis axis : {Axis::kX, Axis::kY}) {
        Lanes used(1);
        for (std::size_t i = 0; i < nest_.loops.size(); ++i) {
          if (nest_.loops[i].fanout == f && nest_.loops[i].axis == axis) {
            used *= bulk_.bounds[i];
          }
        }
        limit(used, static_cast<double>(arch_.fanouts[f].size(axis)));
      }
    }
    for (const LevelId l : arch_.levels.ids()) {
      const Capacity& capacity = arch_.levels[l].capacity;
      const auto look = [&](std::optional<Role> role) {
        Lanes want(0);
        for_each_kept(l, [&](TensorId t) {
          if (!role || workload_.tensors[t].role == *role) {
            want += at(l, t).footprint * down_bits(l, t);
          }
        });
        limit(want, static_cast<double>(problem_.room(l, role.value_or(Role::kInput))->count()));
      };
      if (capacity.shared) {
        look(std::nullopt);
      }
      for (const auto& partition : capacity.per_role) {
        look(partition.first);
      }
    }
    return fits;
  }

  Lanes sum_energy(const Lanes& steady) {
    Lanes total(0);
    for (const LevelId l : arch_.levels.ids()) {
      const StorageEnergy& energy = arch_.levels[l].energy;
      for_each_kept(l, [&](TensorId t) {
        const BulkAccess& n = at(l, t).total;
        if (!is_output(t)) {
          const Lanes read = n.reads * bits_of(t) * energy.read.count();
          total += index_of(l) == 0 ? read : read + n.fills * bits_of(t) * energy.write.count();
          return;
        }
        const Lanes down = down_bits(l, t);
        Lanes read = n.readbacks * down;
        Lanes write(0);
        if (index_of(l) > 0) {
          read += n.drains * up_bits(l, t);
          write = n.fills * up_bits(l, t) * energy.write.count();
        }
        total += read * energy.read.count() + write + n.updates * down * energy.update.count();
      });
    }
    for (const FanoutId f : arch_.fanouts.ids()) {
      total += reductions_[index_of(f)] * arch_.fanouts[f].reduction_energy.count();
    }
    total += Lanes((arch_.compute.energy * static_cast<double>(problem_.macs())).count());
    const double leakage = problem_.leakage(Cycles{1}).count();
    return leakage > 0 ? total + steady * leakage : total;
  }

  // Bits through the ports of a level's busiest instance; `link` is part of the other two.
  void port_bits(LevelId l, Lanes& read, Lanes& write, Lanes& link) {
    read = write = link = Lanes(0);
    for_each_kept(l, [&](TensorId t) {
      const BulkAccess& n = at(l, t).busiest;
      const Lanes down = down_bits(l, t);
      const Lanes up = up_bits(l, t);
      read += (is_output(t) ? n.readbacks : n.reads) * down;
      if (is_output(t)) {
        write += n.updates * down;
      }
      if (index_of(l) > 0) {
        const Lanes fills = n.fills * up;
        write += fills;
        link += fills;
        if (is_output(t)) {
          const Lanes drains = n.drains * up;
          read += drains;
          link += drains;
        }
      }
    });
  }

  void add_latency(Lanes& steady, Lanes& ramped) {
    Lanes steps(static_cast<double>(arch_.compute.issue_interval));
    for (std::size_t i = 0; i < nest_.loops.size(); ++i) {
      if (!nest_.loops[i].fanout) {
        steps *= bulk_.bounds[i];
      }
    }
    steady = ramped = steps;
    for (const TensorId t : workload_.tensors.ids()) {
      add_edges(t, ramped);
    }
    PerLevel<Lanes> shown(arch_.levels.size(), Lanes(0));  // by storey
    for (const LevelId l : arch_.levels.ids()) {
      const Bandwidth& bandwidth = arch_.levels[l].bandwidth;
      if (!has_ports(bandwidth)) {
        continue;
      }
      Lanes read;
      Lanes write;
      Lanes link;
      port_bits(l, read, write, link);
      const Overlap& overlap = problem_.overlap(l);
      const auto pass = [&](const Lanes& bits, PortKind port) {
        if (const auto& rate = rate_of(bandwidth, port)) {
          const Lanes busy = transfer_time(bits, *rate);
          steady = max(steady, busy);
          Lanes& part = overlap.hides(port) ? ramped : shown[static_cast<LevelId>(overlap.storey)];
          part = max(part, busy);
        }
      };
      pass(read, PortKind::kRead);
      pass(write, PortKind::kWrite);
      pass(read + write, PortKind::kShared);
      pass(link, PortKind::kLink);
    }
    for (const Lanes& busy : shown) {
      ramped += busy;
    }
  }

  // First fills, or last drains: edge_times() of latency.cpp.
  void add_edges(TensorId t, Lanes& ramped) {
    const auto& placements = nest_.placements[t];
    for (std::size_t i = 1; i < placements.size(); ++i) {
      const LevelId parent = placements[LevelId(i - 1)].level;
      const LevelId child = placements[LevelId(i)].level;
      if (const auto rate = edge_rate(problem_, parent, child, is_output(t))) {
        ramped += transfer_time(at(child, t).footprint * up_bits(child, t), *rate);
      }
    }
  }

  const Problem& problem_;
  const Arch& arch_;
  const Workload& workload_;
  Nest nest_;
  BulkNest bulk_;
  std::vector<std::vector<BulkTensorCounts>> counts_;  // per tensor and level
  std::vector<Lanes> reductions_;                      // per fanout
  std::vector<Lanes> down_bits_, up_bits_;             // of the output, per level
  LevelSet busiest_;                                   // levels with ports
};

BulkEvaluator::BulkEvaluator(const Problem& problem, const Mapping& structure)
    : problem_{problem}, structure_{structure}, evaluator_{problem} {
  for (std::size_t i = 0; i < structure_.nodes.size(); ++i) {
    if (!std::holds_alternative<Keep>(structure_.nodes[i])) {
      nodes_.push_back(i);
    }
  }
  bool simple = is_exact(problem) && !problem.places_matter() &&
                std::holds_alternative<std::monostate>(problem.arch().compute.timing);
  for (const TensorId t : problem.workload().tensors.ids()) {
    simple = simple && problem.shape(t).simple && problem.workload().tensors[t].density == 1;
  }
  if (simple) {
    block_ = std::make_unique<BulkBlock>(problem, structure);
  }
}
BulkEvaluator::~BulkEvaluator() = default;

const BulkFigures& BulkEvaluator::evaluate(std::span<const double> bounds, std::size_t count) {
  for (auto* figure : {&figures_.energy_pj, &figures_.steady, &figures_.ramped}) {
    figure->resize(count);
  }
  Lanes energy;
  Lanes steady;
  Lanes ramped;
  Lanes misses;
  for (std::size_t first = 0; first < count; first += kLanes) {
    const std::size_t lanes = std::min(kLanes, count - first);
    for (std::size_t i = 0; i < nodes_.size() && block_; ++i) {
      const double* from = &bounds[i * count + first];
      Lanes& to = block_->bounds(i);
      for (std::size_t k = 0; k < kLanes; ++k) {
        to.at[k] = from[k < lanes ? k : 0];
      }
    }
    if (block_ && !block_->evaluate(energy, steady, ramped, misses)) {
      block_.reset();
    }
    for (std::size_t k = 0; k < lanes; ++k) {
      if (!block_ || misses.at[k] == 1) {
        evaluate_alone(bounds, count, first + k);
      } else {
        figures_.energy_pj[first + k] = energy.at[k];
        figures_.steady[first + k] = steady.at[k];
        figures_.ramped[first + k] = ramped.at[k];
      }
    }
  }
  return figures_;
}

void BulkEvaluator::evaluate_alone(std::span<const double> bounds, std::size_t count,
                                   std::size_t k) {
  const bool fits = !evaluator_.evaluate(mapping(bounds, count, k));
  const Cost& cost = evaluator_.cost();
  figures_.energy_pj[k] = fits ? cost.energy.total.count() : kInfinity;
  figures_.steady[k] = fits ? static_cast<double>(cost.latency.steady.count()) : kInfinity;
  figures_.ramped[k] = fits ? static_cast<double>(cost.latency.ramped.count()) : kInfinity;
}

Mapping BulkEvaluator::mapping(std::span<const double> bounds, std::size_t count,
                               std::size_t k) const {
  Mapping made = structure_;
  PerDim<std::int64_t> extents(problem_.workload().dims.size(), 1);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    MappingNode& node = made.nodes[nodes_[i]];
    std::int64_t& extent = extents[dim_of(node)];
    extent_of(node) = extent;
    extent *= static_cast<std::int64_t>(bounds[i * count + k]);
  }
  return made;
}

}  // namespace mapsim
