// SPDX-License-Identifier: Apache-2.0
#include "costmodel/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "costmodel/boundary_cost.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/nvdla/engine.hpp"
#include "costmodel/nvdla/sheet_layer.hpp"
#include "costmodel/sparse/model.hpp"
#include "costmodel/technology.hpp"
#include "costmodel/window.hpp"
#include "workloads/form.hpp"

namespace mapsim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kBitsPerByte = 8;

struct PortLoad {
  LevelId level{};
  PortKind kind{};
  double bits = 0;
  double bits_per_cycle = 0;
  double cycles = 0;
};

// Distinct points that the einsum touches.
std::int64_t touched_points(const Workload& workload, const Tensor& tensor) {
  std::int64_t points = 1;
  for (const Rank& rank : tensor.ranks) {
    std::vector<Block> blocks;
    for (const Term& term : rank.terms) {
      blocks.push_back(Block{0, workload.dims[term.dim].bound});
    }
    std::vector<StridedBlocks> dims;
    for (std::size_t i = 0; i < rank.terms.size(); ++i) {
      dims.push_back(StridedBlocks{rank.terms[i].coefficient, {&blocks[i], 1}});
    }
    points *= union_points(dims);
  }
  return points;
}

std::int64_t volume(const Workload& workload, DimSet dims) {
  std::int64_t product = 1;
  for (const DimId dim : workload.dims.ids()) {
    product *= dims.contains(dim) ? workload.dims[dim].bound : 1;
  }
  return product;
}

// One value per output channel: per index that the first weight and the output share.
std::int64_t bias_values(const Workload& workload, TensorId weight) {
  const DimSet output_dims = workload.tensors[workload.output()].dims();
  return volume(workload, workload.tensors[weight].dims() & output_dims);
}

std::optional<TensorId> first_weight(const Workload& workload) {
  for (const TensorId id : workload.tensors.ids()) {
    if (workload.tensors[id].role == Role::kWeight) {
      return id;
    }
  }
  return std::nullopt;
}

// The busiest port, if these bits of each tensor move once. At the outermost level operands are
// read and sums written. A level that must keep a tensor for the whole machine takes each of its
// points in and hands it on, at least once; of levels with several instances nothing is assumed,
// and the workbook's timing knows the outermost ports only.
PortLoad busiest_port(const Arch& arch, const Workload& workload, const PerTensor<double>& bits) {
  const bool outermost_only = is_by_workbook(arch);
  PortLoad busiest;
  for (const LevelId l : arch.levels.ids()) {
    if (l != LevelId{0} && (outermost_only || arch.instances(l) > 1)) {
      break;
    }
    for (const PortKind port : kPorts) {
      const auto& rate = rate_of(arch.levels[l].bandwidth, port);
      double moved = 0;
      for (const TensorId t : bits.ids()) {
        const bool output = t == workload.output();
        const bool kept = arch.levels[l].keep.contains(workload.tensors[t].role);
        const bool served = l == LevelId{0} || kept;  // it is the parent of a boundary, ...
        const bool comes = l != LevelId{0} && kept;   // ... and the child of one
        moved += served && passes(crossing_access(true, output), port) ? bits[t] : 0;
        moved += comes && passes(crossing_access(false, output), port) ? bits[t] : 0;
      }
      if (rate && moved / rate->count() > busiest.cycles) {
        busiest = {l, port, moved, rate->count(), moved / rate->count()};
      }
    }
  }
  return busiest;
}

double transfer_cycles(const Arch& arch, const Workload& workload, const PerTensor<double>& bits) {
  return busiest_port(arch, workload, bits).cycles;
}

PerTensor<TensorTraffic> traffic(const Arch& arch, const Workload& workload) {
  const std::optional<TensorId> biased = workload.bias ? first_weight(workload) : std::nullopt;
  PerTensor<TensorTraffic> result(workload.tensors.size());
  for (const TensorId id : result.ids()) {
    const Tensor& tensor = workload.tensors[id];
    TensorTraffic& entry = result[id];
    // Padding is touched but not stored; what a stride jumps over is stored but not touched.
    const std::int64_t touched = touched_points(workload, tensor);
    entry.elements = std::min(tensor.stored_elements.value_or(touched), touched);
    entry.elements += biased == id ? bias_values(workload, id) : 0;
    PerTensor<double> bits;
    bits.resize(result.size());
    bits[id] = static_cast<double>(entry.elements) * static_cast<double>(tensor.bits.count()) *
               tensor.density;
    entry.bytes = bits[id] / kBitsPerByte;
    entry.transfer = Seconds{transfer_cycles(arch, workload, bits) / arch.clock.count()};
  }
  return result;
}

// Bytes per second that this mix of tensors can reach; infinite without a limit.
double reachable_bandwidth(const Arch& arch, const Workload& workload,
                           const PerTensor<TensorTraffic>& tensors) {
  double bytes = 0;
  PerTensor<double> bits;
  bits.resize(tensors.size());
  for (const TensorId id : tensors.ids()) {
    bytes += tensors[id].bytes;
    bits[id] = tensors[id].bytes * kBitsPerByte;
  }
  const double cycles = transfer_cycles(arch, workload, bits);
  return cycles > 0 ? bytes / cycles * arch.clock.count() : kInfinity;
}

std::optional<SlowestPort> slowest_port(const Arch& arch, const Workload& workload,
                                        const Roofline& roofline) {
  PerTensor<double> bits;
  for (const TensorTraffic& entry : roofline.tensors) {
    bits.push_back(entry.bytes * kBitsPerByte);
  }
  const PortLoad load = busiest_port(arch, workload, bits);
  if (load.cycles == 0) {
    return std::nullopt;
  }
  const double bytes_per_second = load.bits_per_cycle / kBitsPerByte * arch.clock.count();
  const double bytes = load.bits / kBitsPerByte;
  return SlowestPort{load.level,
                     load.kind,
                     bytes_per_second,
                     bytes,
                     roofline.macs_per_second / bytes_per_second,
                     static_cast<double>(workload.macs()) / bytes};
}

struct Least {
  Cycles cycles{0};
  Picojoules energy{0};
};

// The workbook's times are those of every mapping; it counts Winograd, KB of 1024 bytes, and the
// weights of a batch in its own way.
Cycles least_cycles(const Problem& problem, const PerTensor<double>& moved) {
  if (const std::optional<SheetTimes> sheet = sheet_times(problem)) {
    return sheet->total();
  }
  const Arch& arch = problem.arch();
  const std::int64_t units = arch.mac_units();
  Cycles compute{(problem.macs() + units - 1) / units * arch.compute.issue_interval};
  if (problem.sparse() != nullptr) {
    compute = Cycles{static_cast<std::int64_t>(whole_cycles(
        static_cast<double>(problem.macs()) / static_cast<double>(units) *
        problem.sparse()->least_stepped() * static_cast<double>(arch.compute.issue_interval)))};
  }
  const double transfer = std::ceil(transfer_cycles(arch, problem.workload(), moved));
  return std::max(compute, Cycles{static_cast<std::int64_t>(transfer)});
}

Least least_cost(const Arch& arch, const Workload& workload) {
  const Problem problem{arch, workload};
  const Storage& outermost = arch.levels[LevelId{0}];
  const bool engine = timing_model(arch).is_engine;
  double read_bits = 0;
  double write_bits = 0;
  PerTensor<double> moved;
  moved.resize(workload.tensors.size());
  for (const TensorId id : workload.tensors.ids()) {
    const Tensor& tensor = workload.tensors[id];
    const std::int64_t touched = touched_points(workload, tensor);
    // Engines do not fetch the zeros around a padded input (costmodel/nvdla/features.hpp).
    const std::int64_t elements =
        engine ? std::min(touched, tensor.stored_elements.value_or(touched)) : touched;
    moved[id] = problem.sparse() != nullptr
                    ? static_cast<double>(elements) * problem.moved_bits(id, tensor.bits)
                    : static_cast<double>(elements) * static_cast<double>(tensor.bits.count()) *
                          tensor.density;
    (id == workload.output() ? write_bits : read_bits) += moved[id];
  }
  Least least{least_cycles(problem, moved), {}};
  const bool may_pass = problem.sparse() != nullptr && problem.sparse()->has_conditions();
  const double mac_pj = may_pass ? arch.compute.energy.count() * problem.sparse()->least_operated()
                                 : problem.mac_energy().count();
  least.energy = Picojoules{static_cast<double>(workload.macs()) * mac_pj +
                            read_bits * parent_energy(outermost, false).crossing_pj +
                            write_bits * parent_energy(outermost, true).crossing_pj} +
                 problem.leakage(least.cycles);
  return least;
}

// An engine may compute a layer in the form of Winograd, with 4/9 of the MACs.
Least least_of_forms(const Arch& arch, const Workload& workload) {
  Least least = least_cost(arch, workload);
  if (const auto winograd = may_use_winograd(arch) && workload.form == Form{}
                                ? in_form(workload, {FormKind::kWinograd, 1})
                                : std::nullopt) {
    const Least other = least_cost(arch, *winograd);
    least = {std::min(least.cycles, other.cycles), std::min(least.energy, other.energy)};
  }
  return least;
}

}  // namespace

const char* to_string(Limiter limiter) { return limiter == Limiter::kMath ? "math" : "memory"; }

RooflineBound roofline_bound(double ops, double bytes, Peak peak) {
  RooflineBound bound;
  bound.intensity = ops / bytes;
  bound.ridge = peak.ops_per_second / peak.bytes_per_second;
  bound.compute = Seconds{ops / peak.ops_per_second};
  bound.transfer = Seconds{bytes / peak.bytes_per_second};
  bound.limiter = bound.intensity < bound.ridge ? Limiter::kMemory : Limiter::kMath;
  bound.math_utilization = bound.compute.count() / bound.time().count();
  bound.memory_utilization = bound.transfer.count() / bound.time().count();
  return bound;
}

Roofline roofline(const Arch& machine, const Workload& workload) {
  const Arch arch = bind_widths(machine, workload);
  Roofline result;
  result.tensors = traffic(arch, workload);
  for (const TensorTraffic& entry : result.tensors) {
    result.bytes += entry.bytes;
  }
  // n operands take n - 1 multiplications and an addition; a bias costs what a MAC costs.
  result.ops_per_mac = static_cast<std::int64_t>(workload.tensors.size()) - 1;
  const std::int64_t outputs = volume(workload, workload.tensors[workload.output()].dims());
  result.ops = (workload.macs() + (workload.bias ? outputs : 0)) * result.ops_per_mac;
  result.macs_per_second = static_cast<double>(arch.mac_units()) * arch.clock.count() /
                           static_cast<double>(arch.compute.issue_interval);
  result.peak = {result.macs_per_second * static_cast<double>(result.ops_per_mac),
                 reachable_bandwidth(arch, workload, result.tensors)};
  result.bound = roofline_bound(static_cast<double>(result.ops), result.bytes, result.peak);
  result.slowest = slowest_port(arch, workload, result);
  const Least least = least_of_forms(arch, workload);
  result.least_cycles = least.cycles;
  result.least_energy = least.energy;
  return result;
}

}  // namespace mapsim
