// SPDX-License-Identifier: Apache-2.0
#include "arch/lookup.hpp"

#include <fmt/format.h>

namespace mapsim {
namespace {

constexpr double kPicojoulesPerMillijoule = 1e9;

std::string source(const std::string& file, const std::string& name, const char* action) {
  return fmt::format("{}: {} {}", file, name, action);
}

void reference_physical(const Lookup& lookup, const std::string& name, Hertz clock,
                        Physical& physical) {
  if (lookup.ert && !physical.leakage) {
    // Accelergy: pJ per cycle.
    if (const auto leak = lookup.ert->find(name, kLeakActions)) {
      physical.leakage = Milliwatts{leak->count() * clock.count() / kPicojoulesPerMillijoule};
      physical.leakage_source = source(lookup.ert->file, name, "leak");
    }
  }
  if (lookup.art && !physical.area) {
    if (const auto entry = lookup.art->components.find(name);
        entry != lookup.art->components.end()) {
      physical.area = entry->second;
      physical.area_source = source(lookup.art->file, name, "area");
    }
  }
}

}  // namespace

bool Lookup::energy(Storage& storage) const {
  if (ert) {
    const auto read = ert->find(storage.name, kReadActions);
    const auto write = ert->find(storage.name, kWriteActions);
    if (read && write) {
      const auto update = ert->find(storage.name, kUpdateActions).value_or(*write);
      const auto per_bit = [&storage](Picojoules energy) {
        return PicojoulesPerBit{energy.count() / static_cast<double>(storage.word.count())};
      };
      storage.energy = {per_bit(*read), per_bit(*write), per_bit(update)};
      const auto from = [&](Actions actions) {
        return source(ert->file, storage.name, ert->action_of(storage.name, actions));
      };
      const bool own = ert->action_of(storage.name, kUpdateActions) != nullptr;
      storage.sources = {from(kReadActions), from(kWriteActions),
                         own ? from(kUpdateActions) : from(kWriteActions)};
      return true;
    }
  }
  if (technology && !(is_on_chip(storage.kind) && storage.capacity.unlimited())) {
    const Figure figure = storage_energy(*technology, storage.kind, storage.capacity.total());
    const PicojoulesPerBit per_bit{figure.value};
    storage.energy = {per_bit, per_bit, per_bit};  // writes cost what reads cost
    storage.sources = {figure.source, figure.source, figure.source};
    return true;
  }
  return false;
}

Picojoules Lookup::idle(const std::string& component, Actions actions) const {
  Picojoules most{0};
  for (const char* const& action : actions) {
    const auto energy = ert ? ert->find(component, Actions{&action, 1}) : std::nullopt;
    most = std::max(most, energy.value_or(Picojoules{0}));
  }
  return most;
}

bool Lookup::energy(Compute& compute) const {
  if (ert) {
    if (const auto mac = ert->find(compute.name, kComputeActions)) {
      compute.energy = *mac;
      compute.source =
          source(ert->file, compute.name, ert->action_of(compute.name, kComputeActions));
      return true;
    }
  }
  compute.energy_by_width = technology.has_value();
  return compute.energy_by_width;
}

void Lookup::physical(Storage& storage, Hertz clock) const {
  Physical& physical = storage.physical;
  reference_physical(*this, storage.name, clock, physical);
  if (!technology || !is_on_chip(storage.kind) || storage.capacity.unlimited()) {
    return;
  }
  if (!physical.leakage) {
    const Figure figure = storage_leakage(*technology, storage.kind, storage.capacity.total());
    physical.leakage = Milliwatts{figure.value};
    physical.leakage_source = figure.source;
  }
  if (!physical.area) {
    const Figure figure = storage_area(*technology, storage.kind, storage.capacity.total());
    physical.area = SquareMillimetres{figure.value};
    physical.area_source = figure.source;
  }
}

void Lookup::physical(Compute& compute, Hertz clock) const {
  reference_physical(*this, compute.name, clock, compute.physical);
}

}  // namespace mapsim
