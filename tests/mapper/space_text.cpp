// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shrink_space.hpp"

namespace mapsim {
namespace {

std::string roles_text(RoleSet roles) {
  std::string text;
  for (const Role role : {Role::kInput, Role::kWeight, Role::kOutput}) {
    if (roles.contains(role)) {
      text += (text.empty() ? "" : ", ") + std::string(to_string(role));
    }
  }
  return "[" + text + "]";
}

std::string capacity_text(const Capacity& capacity) {
  if (capacity.shared) {
    return fmt::format("{} b", capacity.shared->count());
  }
  std::string text;
  for (const auto& [role, bits] : capacity.per_role) {
    text += fmt::format("{}{}: {} b", text.empty() ? "" : ", ", to_string(role), bits.count());
  }
  return text.empty() ? "unlimited" : "{" + text + "}";
}

std::string bandwidth_text(const Bandwidth& bandwidth) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<BitsPerCycle>& rate) {
    if (rate) {
      text += fmt::format("{}{}: {} b/cycle", text.empty() ? "" : ", ", name, rate->count());
    }
  };
  add("read", bandwidth.read);
  add("write", bandwidth.write);
  add("shared", bandwidth.shared);
  add("link", bandwidth.link);
  return "{" + text + "}";
}

std::string storage_text(const Storage& storage) {
  return fmt::format(
      "  - {{storage: {}, capacity: {}, bandwidth: {}, energy: [{}, {}, {}] pJ/b, "
      "double_buffered: {}, streamed: {}, sliding: {}, keep: {}, bypass: {}}}\n",
      storage.name, capacity_text(storage.capacity), bandwidth_text(storage.bandwidth),
      storage.energy.read.count(), storage.energy.write.count(), storage.energy.update.count(),
      storage.double_buffered, storage.streamed, storage.sliding, roles_text(storage.keep),
      roles_text(storage.bypass));
}

std::string axis_text(std::int64_t size, const AxisConstraint& constraint) {
  std::string dims;
  for (const GemmAxis axis : constraint.gemm_axes) {
    dims += std::string(dims.empty() ? "" : ", ") + to_string(axis);
  }
  for (const std::string& dim : constraint.dims) {
    dims += (dims.empty() ? "" : ", ") + dim;
  }
  return dims.empty() ? fmt::format("{}", size) : fmt::format("{} of [{}]", size, dims);
}

std::string fanout_text(const Fanout& fanout) {
  return fmt::format(
      "  - {{fanout: {}, x: {}, y: {}, multicast: {}, spatial_reduction: {}, forwarding: {}, "
      "reduction_energy: {} pJ, energy_per_hop: {} pJ/b}}\n",
      fanout.name, axis_text(fanout.x, fanout.x_dims), axis_text(fanout.y, fanout.y_dims),
      roles_text(fanout.multicast), fanout.spatial_reduction, fanout.forwarding,
      fanout.reduction_energy.count(), fanout.energy_per_hop.value_or(PicojoulesPerBit{0}).count());
}

std::string machine_text(const Arch& arch) {
  std::string text;
  for (std::size_t l = 0; l <= arch.levels.size(); ++l) {
    for (const FanoutId f : arch.fanouts.ids()) {
      text += arch.levels_above[f] == l ? fanout_text(arch.fanouts[f]) : "";
    }
    if (l < arch.levels.size()) {
      text += storage_text(arch.levels[static_cast<LevelId>(l)]);
    }
  }
  return text + fmt::format(
                    "  - {{compute: {}, energy: {} pJ, issue_interval: {}, "
                    "register_reuse: {}}}\n",
                    arch.compute.name, arch.compute.energy.count(), arch.compute.issue_interval,
                    roles_text(arch.compute.register_reuse));
}

std::string workload_text(const Workload& workload) {
  std::string text = workload.equation() + "\n";
  for (const Dim& dim : workload.dims) {
    text += fmt::format("  {}: {}", dim.name, dim.bound);
  }
  text += "\n";
  for (const Tensor& tensor : workload.tensors) {
    text += fmt::format("  {}: {} b, {} b in part, density {}", tensor.name, tensor.bits.count(),
                        tensor.partial_bits.count(), tensor.density);
  }
  return text + "\n";
}

std::string constraints_text(const Problem& problem, const Constraints& constraints) {
  std::string text = constraints.even ? "even\n" : "uneven\n";
  text += constraints.one_loop_per_dim ? "one loop per dim\n" : "";
  if (constraints.factors.imperfect) {
    text += "imperfect:";
    const PerDim<ExtentDomain> all = domains(problem.workload(), constraints.factors);
    for (const DimId d : all.ids()) {
      text += fmt::format(" {} of {}", problem.workload().dims[d].name, fmt::join(all[d], ","));
    }
    text += "\n";
  }
  if (constraints.spatial) {
    text += "given:";
    for (const Unroll& unroll : *constraints.spatial) {
      text += fmt::format(" {} in {} over {} of {};", problem.workload().dims[unroll.dim].name,
                          unroll.factor, to_string(unroll.axis),
                          problem.arch().fanouts[unroll.fanout].name);
    }
    text += "\n";
  }
  for (const LevelId l : constraints.keeps.ids()) {
    for (const TensorId t : problem.workload().tensors.ids()) {
      const KeepRule rule = constraints.keeps[l][t];
      if (rule != KeepRule::kFree) {
        text += fmt::format("{} {} at {}\n", rule == KeepRule::kKeep ? "keep" : "bypass",
                            problem.workload().tensors[t].name, problem.arch().levels[l].name);
      }
    }
  }
  return text;
}

}  // namespace

std::string describe(const SearchCase& random) {
  return machine_text(random.problem.arch()) + workload_text(random.problem.workload()) +
         constraints_text(random.problem, random.constraints);
}

}  // namespace mapsim
