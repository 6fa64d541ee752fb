// SPDX-License-Identifier: Apache-2.0
#include "check/design_machine.hpp"

#include <algorithm>
#include <functional>
#include <type_traits>

#include "arch/physical.hpp"
#include "arch/print.hpp"
#include "costmodel/technology.hpp"

namespace mapsim::check {

namespace {

enum class Kind : std::uint8_t { kResource, kEnergyPerCount, kOther };

// Calls `visit(kind, quantity)` with every number of a node that machines may differ in, always in
// the same order. Leakage and areas are summed over whole machines.
template <class Visit>
void visit_physical(Physical& physical, const Visit& visit) {
  if (physical.leakage) {
    visit(Kind::kOther, *physical.leakage);
  }
  if (physical.area) {
    visit(Kind::kOther, *physical.area);
  }
}
template <class Visit>
void visit_numbers(Storage& level, const Visit& visit) {
  if (level.capacity.shared) {
    visit(Kind::kResource, *level.capacity.shared);
  }
  for (auto& [role, bits] : level.capacity.per_role) {
    visit(Kind::kResource, bits);
  }
  for (auto* port : {&level.bandwidth.read, &level.bandwidth.write, &level.bandwidth.shared,
                     &level.bandwidth.link}) {
    if (*port) {
      visit(Kind::kResource, **port);
    }
  }
  for (auto* energy : {&level.energy.read, &level.energy.write, &level.energy.update}) {
    visit(Kind::kEnergyPerCount, *energy);
  }
  visit_physical(level.physical, visit);
}
template <class Visit>
void visit_numbers(Fanout& fanout, const Visit& visit) {
  visit(Kind::kResource, fanout.x);
  visit(Kind::kResource, fanout.y);
  visit(Kind::kEnergyPerCount, fanout.reduction_energy);
  if (fanout.energy_per_hop) {
    visit(Kind::kEnergyPerCount, *fanout.energy_per_hop);
  }
}
template <class Visit>
void visit_numbers(Compute& compute, const Visit& visit) {
  visit(Kind::kEnergyPerCount, compute.energy);
  visit_physical(compute.physical, visit);
}

double value_of(std::int64_t number) { return static_cast<double>(number); }
template <class Quantity>
double value_of(const Quantity& quantity) {
  return static_cast<double>(quantity.count());
}
void put(std::int64_t& number, double value) { number = static_cast<std::int64_t>(value); }
template <class Quantity>
void put(Quantity& quantity, double value) {
  quantity = Quantity{static_cast<typename Quantity::rep>(value)};
}

template <class Node>
std::vector<double> values_of(Node node) {
  std::vector<double> values;
  visit_numbers(node, [&](Kind, auto& quantity) { values.push_back(value_of(quantity)); });
  return values;
}

void forget_sources(Physical& physical) {
  physical.leakage_source.clear();
  physical.area_source.clear();
}
void forget_sources(Storage& level) {
  level.sources = {};
  forget_sources(level.physical);
}
void forget_sources(Fanout& fanout) {
  fanout.reduction_source.clear();
  fanout.hop_source.clear();
}
void forget_sources(Compute& compute) {
  compute.source.clear();
  forget_sources(compute.physical);
}

// The node without its numbers, but for the sizes of arrays where they are kept.
template <class Node>
Node rest_of(Node node, bool keeps_sizes) {
  forget_sources(node);
  visit_numbers(node, [&](Kind kind, auto& quantity) {
    if (!(keeps_sizes && std::is_same_v<Node, Fanout> && kind == Kind::kResource)) {
      put(quantity, 1);
    }
  });
  return node;
}

template <class Node>
bool widen_node(Node& most, Node& least, const Node& other) {
  if (!(rest_of(most, false) == rest_of(other, false))) {
    return false;
  }
  const std::vector<double> others = values_of(other);
  std::size_t i = 0;
  visit_numbers(most, [&](Kind kind, auto& quantity) {
    const double value = value_of(quantity);
    put(quantity,
        kind == Kind::kResource ? std::max(value, others[i]) : std::min(value, others[i]));
    ++i;
  });
  i = 0;
  visit_numbers(least, [&](Kind, auto& quantity) {
    put(quantity, std::min(value_of(quantity), others[i++]));
  });
  return true;
}

template <class Visit>
void for_each_node(Arch& arch, const Visit& visit) {
  for (Storage& level : arch.levels) {
    visit(level);
  }
  for (Fanout& fanout : arch.fanouts) {
    visit(fanout);
  }
  visit(arch.compute);
}

}  // namespace

bool widen(Storage& most, Storage& least, const Storage& other) {
  return widen_node(most, least, other);
}
bool widen(Fanout& most, Fanout& least, const Fanout& other) {
  return widen_node(most, least, other);
}
bool widen(Compute& most, Compute& least, const Compute& other) {
  return widen_node(most, least, other);
}

bool sizes_matter(const Arch& arch) {
  return arch.compute.timing.index() != 0 ||
         std::any_of(arch.fanouts.begin(), arch.fanouts.end(),
                     [](const Fanout& fanout) { return fanout.energy_per_hop.has_value(); });
}

Comparable comparable(const Range& range) {
  Arch arch = range.most;
  Comparable found;
  for_each_node(arch, [&](auto& node) {
    visit_numbers(node, [&](Kind kind, auto& quantity) {
      if (kind != Kind::kOther) {
        (kind == Kind::kResource ? found.resources : found.energies).push_back(value_of(quantity));
      }
    });
  });
  const bool keeps_sizes = sizes_matter(arch);
  for_each_node(arch, [&](auto& node) {
    node = rest_of(node, keeps_sizes);
    if constexpr (!std::is_same_v<std::decay_t<decltype(node)>, Fanout>) {
      node.physical = {};
    }
  });
  arch.name = "rest";
  found.rest = print_arch(arch);
  return found;
}

double share_of_energies(const Comparable& then, const Comparable& now) {
  const auto& resources = now.resources;
  if (then.resources.size() != resources.size() || then.energies.size() != now.energies.size() ||
      !std::equal(resources.begin(), resources.end(), then.resources.begin(),
                  std::less_equal<>{}) ||
      then.rest != now.rest) {
    return -1;
  }
  double share = 1;
  for (std::size_t i = 0; i < now.energies.size(); ++i) {
    if (then.energies[i] > 0) {
      share = std::min(share, now.energies[i] / then.energies[i]);
    }
  }
  return share;
}

double least_leakage(const Range& range, const Workload* layer) {
  return leakage_per_cycle(layer != nullptr ? bind_widths(range.least, *layer) : range.least)
      .count();
}

// The leakage of the smallest machine, whole, at the compute units: arrays do not multiply it.
Arch best_machine(const Range& range, const Workload* layer) {
  if (range.most == range.least) {
    return range.most;
  }
  const auto leakage =
      total_leakage(layer != nullptr ? bind_widths(range.least, *layer) : range.least).sum;
  Arch arch = range.most;
  for (Storage& level : arch.levels) {
    level.physical.leakage.reset();
  }
  arch.compute.physical.leakage.reset();
  if (leakage) {
    arch.compute.physical.leakage = *leakage * (1.0 / static_cast<double>(arch.mac_units()));
  }
  return arch;
}

std::optional<double> area_of(const Arch& arch, const std::vector<const Workload*>& layers) {
  Arch bound = arch;
  if (!arch.compute.physical.area && arch.technology) {
    for (const Workload* layer : layers) {
      bound.compute.physical.area =
          std::max(bound.compute.physical.area, bind_widths(arch, *layer).compute.physical.area);
    }
  }
  const auto sum = total_area(bound).sum;
  return sum ? std::optional{sum->count()} : std::nullopt;
}

}  // namespace mapsim::check
