// SPDX-License-Identifier: Apache-2.0
#include "design/lemmas.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "arch/print.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim {

namespace {

// A number of a node that designs may differ in, and the lemma that covers it. Absent numbers are
// structure: an absent bandwidth is infinite, an unlimited memory off the chip.
template <class Node>
struct Number {
  const char* name;
  Lemma lemma;
  std::optional<double> (*get)(const Node&);
  void (*set)(Node&, double);
};

template <class Unit>
std::optional<double> count_of(const std::optional<Unit>& quantity) {
  return quantity ? std::optional{static_cast<double>(quantity->count())} : std::nullopt;
}
template <class Unit>
void put(Unit& quantity, double value) {
  quantity = Unit{static_cast<typename Unit::rep>(value)};
}
template <class Unit>
void put(std::optional<Unit>& quantity, double value) {
  quantity = Unit{static_cast<typename Unit::rep>(value)};
}

template <Role role>
constexpr Number<Storage> partition(const char* name) {
  return {name, Lemma::kResources,
          [](const Storage& level) {
            const auto at = level.capacity.per_role.find(role);
            return at == level.capacity.per_role.end() ? std::nullopt
                                                       : count_of(std::optional{at->second});
          },
          [](Storage& level, double value) { put(level.capacity.per_role.at(role), value); }};
}
template <std::optional<BitsPerCycle> Bandwidth::* port>
constexpr Number<Storage> rate(const char* name) {
  return {name, Lemma::kResources,
          [](const Storage& level) { return count_of(level.bandwidth.*port); },
          [](Storage& level, double value) { put(level.bandwidth.*port, value); }};
}
template <PicojoulesPerBit StorageEnergy::* action>
constexpr Number<Storage> access_energy(const char* name) {
  return {name, Lemma::kEnergies,
          [](const Storage& level) { return std::optional{(level.energy.*action).count()}; },
          [](Storage& level, double value) { put(level.energy.*action, value); }};
}
template <class Node>
constexpr Number<Node> leakage() {
  return {"leakage", Lemma::kLeakage,
          [](const Node& node) { return count_of(node.physical.leakage); },
          [](Node& node, double value) { put(node.physical.leakage, value); }};
}
template <class Node>
constexpr Number<Node> area() {
  return {"area", Lemma::kAreas, [](const Node& node) { return count_of(node.physical.area); },
          [](Node& node, double value) { put(node.physical.area, value); }};
}
template <std::int64_t Fanout::* axis>
constexpr Number<Fanout> array_size(const char* name) {
  return {name, Lemma::kResources,
          [](const Fanout& fanout) { return std::optional{static_cast<double>(fanout.*axis)}; },
          [](Fanout& fanout, double value) { fanout.*axis = static_cast<std::int64_t>(value); }};
}

constexpr std::array kStorageNumbers{
    Number<Storage>{"capacity", Lemma::kResources,
                    [](const Storage& level) { return count_of(level.capacity.shared); },
                    [](Storage& level, double value) { put(level.capacity.shared, value); }},
    partition<Role::kInput>("capacity.input"),
    partition<Role::kWeight>("capacity.weight"),
    partition<Role::kOutput>("capacity.output"),
    rate<&Bandwidth::read>("bandwidth.read"),
    rate<&Bandwidth::write>("bandwidth.write"),
    rate<&Bandwidth::shared>("bandwidth.shared"),
    rate<&Bandwidth::link>("bandwidth.link"),
    access_energy<&StorageEnergy::read>("energy.read"),
    access_energy<&StorageEnergy::write>("energy.write"),
    access_energy<&StorageEnergy::update>("energy.update"),
    leakage<Storage>(),
    area<Storage>()};
constexpr std::array kFanoutNumbers{
    array_size<&Fanout::x>("x"), array_size<&Fanout::y>("y"),
    Number<Fanout>{
        "reduction_energy", Lemma::kEnergies,
        [](const Fanout& fanout) { return std::optional{fanout.reduction_energy.count()}; },
        [](Fanout& fanout, double value) { put(fanout.reduction_energy, value); }},
    Number<Fanout>{"energy_per_hop", Lemma::kEnergies,
                   [](const Fanout& fanout) { return count_of(fanout.energy_per_hop); },
                   [](Fanout& fanout, double value) { put(fanout.energy_per_hop, value); }}};
constexpr std::array kComputeNumbers{
    Number<Compute>{"energy", Lemma::kEnergies,
                    [](const Compute& compute) { return std::optional{compute.energy.count()}; },
                    [](Compute& compute, double value) { put(compute.energy, value); }},
    leakage<Compute>(), area<Compute>()};

constexpr const auto& table_of(const Storage&) { return kStorageNumbers; }
constexpr const auto& table_of(const Fanout&) { return kFanoutNumbers; }
constexpr const auto& table_of(const Compute&) { return kComputeNumbers; }

// Where numbers come from is no part of a machine.
void forget_sources(Storage& level) {
  level.sources = {};
  level.physical.leakage_source.clear();
  level.physical.area_source.clear();
}
void forget_sources(Fanout& fanout) {
  fanout.reduction_source.clear();
  fanout.hop_source.clear();
}
void forget_sources(Compute& compute) {
  compute.source.clear();
  compute.physical.leakage_source.clear();
  compute.physical.area_source.clear();
}

// The node with its numbers made equal to those of every other, but for those `kept`.
template <class Node, class Kept>
Node without_numbers(Node node, const Kept& kept) {
  forget_sources(node);
  for (const auto& number : table_of(node)) {
    if (number.get(node) && !kept(number)) {
      number.set(node, 1);
    }
  }
  return node;
}

template <class Node>
Node structure(const Node& node) {
  return without_numbers(node, [](const auto&) { return false; });
}

template <class Node>
bool is_alike(const Node& a, const Node& b) {
  return structure(a) == structure(b);
}

// Calls `visit` with the node of each machine that stands at the same place.
template <class Visit>
void for_each_pair(const Arch& a, const Arch& b, const Visit& visit) {
  for (const LevelId l : a.levels.ids()) {
    visit(a.levels[l], b.levels[l]);
  }
  for (const FanoutId f : a.fanouts.ids()) {
    visit(a.fanouts[f], b.fanouts[f]);
  }
  visit(a.compute, b.compute);
}

}  // namespace

bool leaves_out_remainders(const Arch& arch, const ObjectiveFunction& function) {
  return !function.uses_latency() && may_leave_remainders(arch);
}

const char* to_string(Lemma lemma) {
  constexpr std::array kNames{"resources", "energies", "leakage", "areas"};
  return kNames[static_cast<std::size_t>(lemma)];
}

template <class Node>
std::optional<NodeRange<Node>> join(const NodeRange<Node>& a, const NodeRange<Node>& b) {
  if (!is_alike(a.most, b.most)) {
    return std::nullopt;
  }
  NodeRange<Node> both = a;
  for (const auto& number : table_of(a.most)) {
    if (!number.get(a.most)) {
      continue;
    }
    const double low = std::min(*number.get(a.least), *number.get(b.least));
    const double high = std::max(*number.get(a.most), *number.get(b.most));
    number.set(both.least, low);
    number.set(both.most, number.lemma == Lemma::kResources ? high : low);
  }
  return both;
}
template std::optional<NodeRange<Storage>> join(const NodeRange<Storage>&,
                                                const NodeRange<Storage>&);
template std::optional<NodeRange<Fanout>> join(const NodeRange<Fanout>&, const NodeRange<Fanout>&);
template std::optional<NodeRange<Compute>> join(const NodeRange<Compute>&,
                                                const NodeRange<Compute>&);

Excepted exceptions(const Arch& arch, bool has_constraints) {
  if (timing_model(arch).is_engine) {
    return {Exception::kEverything,
            "an NVDLA-like engine has schedules that depend on all of its numbers"};
  }
  if (arch.compute.timing.index() != 0) {
    return {Exception::kArraySizes, "a systolic array's time depends on its size"};
  }
  if (std::any_of(arch.fanouts.begin(), arch.fanouts.end(),
                  [](const Fanout& fanout) { return fanout.energy_per_hop.has_value(); })) {
    return {Exception::kArraySizes, "hops depend on the size of the array"};
  }
  if (has_constraints) {
    return {Exception::kArraySizes, "constraints may depend on the size of the array"};
  }
  return {};
}

bool breaks(const Excepted& excepted, const Enclosure& enclosure) {
  bool broken = false;
  for_each_pair(enclosure.most, enclosure.least, [&](const auto& most, const auto& least) {
    for (const auto& number : table_of(most)) {
      const bool size =
          std::is_same_v<decltype(most), const Fanout&> && number.lemma == Lemma::kResources;
      const bool differs = number.get(most) != number.get(least);
      broken = broken || (differs && (excepted.what == Exception::kEverything ||
                                      (size && excepted.what == Exception::kArraySizes)));
    }
  });
  return broken;
}

MachineNumbers numbers_of(const Arch& arch) {
  MachineNumbers numbers;
  for_each_pair(arch, arch, [&numbers](const auto& node, const auto&) {
    for (const auto& number : table_of(node)) {
      if (const auto value = number.get(node)) {
        if (number.lemma == Lemma::kResources) {
          numbers.resources.push_back(*value);
        } else if (number.lemma == Lemma::kEnergies) {
          numbers.energies.push_back(*value);
        }
      }
    }
  });
  return numbers;
}

std::string structure_of(const Arch& arch, const Excepted& excepted) {
  Arch rest = arch;
  rest.name = "structure";
  const bool all = excepted.what == Exception::kEverything;
  const auto kept = [all](const auto&) { return all; };
  for (Storage& level : rest.levels) {
    level = without_numbers(level, kept);
  }
  for (Fanout& fanout : rest.fanouts) {
    fanout = without_numbers(fanout, [&](const auto& number) {
      return all || (excepted.what == Exception::kArraySizes && number.lemma == Lemma::kResources);
    });
  }
  rest.compute = without_numbers(rest.compute, kept);
  return print_arch(rest);
}

std::string uncovered(const Arch& a, const Arch& b) {
  if (a.levels.size() != b.levels.size() || a.fanouts.size() != b.fanouts.size() ||
      a.levels_above != b.levels_above) {
    return "its nodes";
  }
  std::string found;
  for_each_pair(a, b, [&found](const auto& one, const auto& other) {
    if (found.empty() && !is_alike(one, other)) {
      found = one.name;
    }
  });
  Arch same = b;
  same.name = a.name;
  same.levels = a.levels;
  same.fanouts = a.fanouts;
  same.compute = a.compute;
  return found.empty() && !(same == a) ? "the machine as a whole" : found;
}

double rank_of(const Arch& arch) {
  constexpr double kEnergiesLast = 1e-6;
  double rank = 0;
  const MachineNumbers numbers = numbers_of(arch);
  for (const double resource : numbers.resources) {
    rank += std::log(std::max(resource, 1e-9));
  }
  for (const double energy : numbers.energies) {
    rank += kEnergiesLast * energy;
  }
  return rank;
}

}  // namespace mapsim
