// SPDX-License-Identifier: Apache-2.0
#include "costmodel/problem.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "arch/buffering.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/sparse/model.hpp"
#include "costmodel/technology.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim {

namespace {

TensorShape tensor_shape(const Workload& workload, TensorId t) {
  const Tensor& tensor = workload.tensors[t];
  TensorShape shape;
  shape.dims = tensor.dims();
  for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
    const std::vector<Term>& terms = tensor.ranks[r].terms;
    if (terms.size() == 1) {
      shape.single_dims.insert(terms.front().dim);
      shape.single_points *= workload.dims[terms.front().dim].bound;
    } else if (terms.size() > 1) {
      const std::int64_t g = std::gcd(terms[0].coefficient, terms[1].coefficient);
      shape.windows.push_back({r, terms[0].coefficient / g, terms[1].coefficient / g});
      for (const Term& term : terms) {
        shape.window_dims.insert(term.dim);
      }
      shape.simple = shape.simple && terms.size() == 2 && t != workload.output();
    }
  }
  return shape;
}

}  // namespace

Problem::Problem(Arch arch, Workload workload)
    : arch_{bind_widths(std::move(arch), workload)},
      workload_{std::move(workload)},
      macs_{workload_.macs()} {
  leakage_per_cycle_ = leakage_per_cycle(arch_);
  if (arch_.sparsity) {
    sparse_ = std::make_shared<const SparseModel>(arch_, workload_);
  }
  for (const TensorId t : workload_.tensors.ids()) {
    shapes_.push_back(tensor_shape(workload_, t));
    moved_share_.push_back(sparse_ ? sparse_->least_moved(t) : workload_.tensors[t].density);
  }
  overlaps_ = overlaps_of(*this);
}

Picojoules Problem::leakage(Cycles cycles) const {
  return leakage_per_cycle_ * static_cast<double>(cycles.count());
}

std::optional<Bits> Problem::capacity(LevelId level, Role role) const {
  const Storage& storage = arch_.levels[level];
  std::optional<Bits> capacity = storage.capacity.shared;
  if (!storage.capacity.per_role.empty()) {
    const auto partition = storage.capacity.per_role.find(role);
    capacity = partition == storage.capacity.per_role.end() ? Bits{0} : partition->second;
  }
  return capacity ? std::optional(Bits{capacity->count() / copies_of(storage)}) : std::nullopt;
}

bool Problem::may_keep(LevelId level, TensorId tensor) const {
  const Storage& storage = arch_.levels[level];
  const Role role = workload_.tensors[tensor].role;
  return !storage.bypass.contains(role) &&
         (storage.capacity.per_role.empty() || storage.capacity.per_role.contains(role));
}

bool Problem::must_keep(LevelId level, TensorId tensor) const {
  return level == LevelId{0} || arch_.levels[level].keep.contains(workload_.tensors[tensor].role);
}

bool Problem::is_merged(FanoutId fanout, TensorId tensor) const {
  const Fanout& network = arch_.fanouts[fanout];
  const Role role = workload_.tensors[tensor].role;
  return role == Role::kOutput ? network.spatial_reduction : network.multicast.contains(role);
}

double Problem::mac_density() const {
  double density = 1;
  for (const TensorId t : workload_.tensors.ids()) {
    density *= t == workload_.output() ? 1 : workload_.tensors[t].density;
  }
  return density;
}

Picojoules Problem::mac_energy() const {
  if (!sparse_) {
    return arch_.compute.energy * mac_density();
  }
  const Sparsity& machine = sparse_->machine();
  return arch_.compute.energy * sparse_->operated() +
         machine.gated * (sparse_->stepped() - sparse_->operated()) +
         machine.skipped * (1 - sparse_->stepped());
}

Picojoules Problem::addition_energy(FanoutId fanout) const {
  return arch_.fanouts[fanout].reduction_energy *
         (sparse_ ? 1 : workload_.tensors[workload_.output()].density);
}

double Problem::stepped() const { return sparse_ ? sparse_->stepped() : 1; }

double Problem::least_stored_bits(TensorId tensor, Bits width) const {
  return static_cast<double>(width.count()) * (sparse_ ? sparse_->least_stored(tensor) : 1);
}

void require_no_zeros(const Arch& arch, const std::string& what) {
  if (arch.sparsity) {
    throw ConfigError({{arch.name, 0, 0, "",
                        what + " of a machine with formats or conditions on zeros: not yet; "
                               "mapsim eval, simulate and search know of them",
                        ""}});
  }
}

bool Problem::is_timed_by_model() const {
  return !std::holds_alternative<std::monostate>(arch_.compute.timing);
}

bool Problem::places_matter() const {
  if (const ArrayModel* array = timing_model(arch_).array; array != nullptr && array->axes_matter) {
    return true;
  }
  return std::any_of(arch_.fanouts.begin(), arch_.fanouts.end(), [](const Fanout& fanout) {
    return fanout.energy_per_hop.value_or(PicojoulesPerBit{0}) > PicojoulesPerBit{0};
  });
}

DimSet Problem::shared_dims(FanoutId fanout, TensorId tensor) const {
  DimSet shared;
  for (const DimId d : workload_.dims.ids()) {
    if (is_merged(fanout, tensor) && !shapes_[tensor].dims.contains(d)) {
      shared.insert(d);
    }
  }
  return shared;
}

}  // namespace mapsim
