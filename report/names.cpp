// SPDX-License-Identifier: Apache-2.0
#include "report/names.hpp"

#include <fmt/format.h>

#include "costmodel/timing/model.hpp"
#include "report/figures.hpp"

namespace mapsim {

namespace {

std::string describe(const Arch& arch, const CapacityExceeded& reason) {
  const std::string whose =
      reason.partition ? fmt::format(" for {}", to_string(*reason.partition)) : std::string{};
  return fmt::format("{}: the tiles need {}{}; the capacity is {}", arch.levels[reason.level].name,
                     bytes_text(reason.need), whose, bytes_text(reason.have));
}

std::string describe(const Arch& arch, const FanoutExceeded& reason) {
  return fmt::format("{}: the mapping uses {} instances along {}, there are {}",
                     arch.fanouts[reason.fanout].name, reason.need, to_string(reason.axis),
                     reason.have);
}

std::string describe(const Arch& arch, const NotRunnable& reason) {
  const std::string& array = arch.fanouts[reason.array].name;
  const char* machine = timing_model(arch).machine;
  if (!reason.stays) {
    return fmt::format("{}: nothing stays in it; a {} needs a tensor kept below it, or latched",
                       array, machine);
  }
  const std::string others =
      reason.stuck ? fmt::format("{} is not shared along an axis", to_string(*reason.stuck))
                   : std::string{"the others would have to move along the same axis"};
  return fmt::format(
      "{}: {} stays, but {}; in a {} each other tensor moves along its own axis, and all instances "
      "on that axis use the same elements",
      array, to_string(*reason.stays), others, machine);
}

}  // namespace

const char* to_string(Proof proof) {
  switch (proof) {
    case Proof::kOptimal:
      return "optimal";
    case Proof::kInfeasible:
      return "infeasible";
    case Proof::kBounded:
      return "bounded";
    case Proof::kNone:
      return "none";
  }
  return "";
}

const char* status_of(const Certificate& certificate) {
  return certificate.status == Proof::kOptimal && certificate.bound_but_for_free_boundaries
             ? "ties_open"
             : to_string(certificate.status);
}

std::string port_name(const Arch& arch, LevelId level, PortKind kind) {
  switch (kind) {
    case PortKind::kCompute:
      return arch.compute.name;
    case PortKind::kRead:
      return arch.levels[level].name + " read";
    case PortKind::kWrite:
      return arch.levels[level].name + " write";
    case PortKind::kLink:
      return arch.levels[level].name + " link";
    case PortKind::kShared:
      return arch.levels[level].name;
  }
  return "";
}

std::string resource_name(const Arch& arch, const Resource& resource) {
  return port_name(arch, resource.level, resource.kind);
}

std::string dataflow_name(const Workload& workload, const ComputeTime& time) {
  return time.stationary
             ? fmt::format("{}-stationary", to_string(workload.tensors[*time.stationary].role))
             : "";
}

std::string infeasible_text(const Arch& arch, const Infeasible& reason) {
  return std::visit([&](const auto& known) { return describe(arch, known); }, reason);
}

}  // namespace mapsim
