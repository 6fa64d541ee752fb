// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace mapsim {
namespace {

struct NamedMapper {
  std::string_view name;
  Mapper search;
};
constexpr std::array kMappers{
    NamedMapper{"exact", search_exact},
    NamedMapper{"exhaustive", search_exhaustive},
    NamedMapper{"sample", search_sample},
};

// What breaks ties of the objective.
double second_figure(Objective objective, const Cost& cost) {
  switch (objective) {
    case Objective::kEnergy:
      return static_cast<double>(cost.latency.steady.count());
    case Objective::kLatency:
    case Objective::kEdp:
      return cost.energy.total.count();
  }
  return 0;
}

struct Need {
  std::string reason;
  std::int64_t amount = 0;
};

Need need_of(const Problem& problem, const CapacityExceeded& reason) {
  const Storage& level = problem.arch().levels[reason.level];
  const std::int64_t bits_per_bit = level.double_buffered ? 2 : 1;  // half of it is for tiles
  return {reason.partition
              ? fmt::format("{}: capacity for {}", level.name, to_string(*reason.partition))
              : fmt::format("{}: capacity", level.name),
          bits_per_bit * reason.need.count()};
}

Need need_of(const Problem& problem, const FanoutExceeded& reason) {
  return {fmt::format("{}: instances along {}", problem.arch().fanouts[reason.fanout].name,
                      to_string(reason.axis)),
          reason.need};
}

void note_need(InfeasibleReport& report, const std::string& reason, std::int64_t amount) {
  const auto [entry, is_new] = report.smallest_need.emplace(reason, amount);
  if (!is_new) {
    entry->second = std::min(entry->second, amount);
  }
}

}  // namespace

double objective_value(Objective objective, const Cost& cost) {
  switch (objective) {
    case Objective::kEnergy:
      return cost.energy.total.count();
    case Objective::kLatency:
      return static_cast<double>(cost.latency.steady.count());
    case Objective::kEdp:
      return cost.edp();
  }
  return 0;
}

bool better(Objective objective, const Cost& a, const Cost& b) {
  return std::pair{objective_value(objective, a), second_figure(objective, a)} <
         std::pair{objective_value(objective, b), second_figure(objective, b)};
}

void add(InfeasibleReport& report, const Problem& problem, const Infeasible& reason) {
  const Need need = std::visit([&](const auto& why) { return need_of(problem, why); }, reason);
  ++report.reasons[need.reason];
  note_need(report, need.reason, need.amount);
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
