// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "arch/buffering.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim {
namespace {

struct NamedMapper {
  std::string_view name;
  Mapper search;
};
constexpr std::array kMappers{
    NamedMapper{"exact", search_exact},     NamedMapper{"exhaustive", search_exhaustive},
    NamedMapper{"random", search_random},   NamedMapper{"annealing", search_annealing},
    NamedMapper{"genetic", search_genetic},
};

struct Need {
  std::string reason;
  std::int64_t amount = 0;
};

Need need_of(const Problem& problem, const CapacityExceeded& reason) {
  const Storage& level = problem.arch().levels[reason.level];
  return {reason.partition
              ? fmt::format("{}: capacity for {}", level.name, to_string(*reason.partition))
              : fmt::format("{}: capacity", level.name),
          copies_of(level) * reason.need.count()};
}

Need need_of(const Problem& problem, const FanoutExceeded& reason) {
  return {fmt::format("{}: instances along {}", problem.arch().fanouts[reason.fanout].name,
                      to_string(reason.axis)),
          reason.need};
}

Need need_of(const Problem& problem, const NotRunnable& reason) {
  return {fmt::format("{}: nothing that a {} can run", problem.arch().fanouts[reason.array].name,
                      timing_model(problem.arch()).machine),
          1};
}

void note_need(InfeasibleReport& report, const std::string& reason, std::int64_t amount) {
  const auto [entry, is_new] = report.smallest_need.emplace(reason, amount);
  if (!is_new) {
    entry->second = std::min(entry->second, amount);
  }
}

}  // namespace

void add(InfeasibleReport& report, const Problem& problem, const Infeasible& reason,
         std::int64_t count) {
  const Need need = std::visit([&](const auto& why) { return need_of(problem, why); }, reason);
  report.reasons[need.reason] += count;
  note_need(report, need.reason, need.amount);
}

void add_beyond_limits(InfeasibleReport& report, const Objective& objective, const Cost& cost) {
  if (objective.max_energy && cost.energy.total > *objective.max_energy) {
    ++report.reasons["energy limit"];
    note_need(report, "energy limit",
              static_cast<std::int64_t>(std::ceil(cost.energy.total.count())));
  }
  const Cycles latency = latency_of(objective.mode, cost.latency);
  if (objective.max_latency && latency > *objective.max_latency) {
    ++report.reasons["latency limit"];
    note_need(report, "latency limit", latency.count());
  }
}

void add(InfeasibleReport& report, const InfeasibleReport& other) {
  for (const auto& [reason, count] : other.reasons) {
    report.reasons[reason] += count;
  }
  for (const auto& [reason, amount] : other.smallest_need) {
    note_need(report, reason, amount);
  }
}

std::optional<Mapper> find_mapper(const std::string& name) {
  for (const NamedMapper& mapper : kMappers) {
    if (mapper.name == name) {
      return mapper.search;
    }
  }
  return std::nullopt;
}

}  // namespace mapsim
