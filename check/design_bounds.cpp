// SPDX-License-Identifier: Apache-2.0
#include "check/design_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "check/goal.hpp"
#include "check/least_product.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/stream.hpp"

namespace mapsim::check {

namespace {

constexpr ObjectiveFunction kEdp = ObjectiveFunction::product(1, 1);
constexpr ObjectiveFunction kEnergy = ObjectiveFunction::product(1, 0);
constexpr ObjectiveFunction kLatency = ObjectiveFunction::product(0, 1);

bool is_weighted(const ObjectiveFunction& function) {
  return function.uses_energy() && function.uses_latency() && function.value(1, 0) > 0;
}

// What is left of a bound where energies are `share` of what they were, or more.
double share_of_value(const ObjectiveFunction& function, double share) {
  return !function.uses_energy() ? 1 : is_weighted(function) ? share : function.value(share, 1);
}

// Of a layer by itself: each MAC costs its energy, and a unit does one in a cycle. Where zeros save
// energy, a MAC may cost none.
std::pair<double, double> least_work(const Arch& arch, const Workload& layer) {
  const Problem problem{arch, layer};
  const auto macs = static_cast<double>(problem.macs());
  return {problem.sparse() == nullptr ? macs * problem.mac_energy().count() : 0,
          macs * std::min(problem.mac_density(), 1.0) / static_cast<double>(arch.mac_units())};
}

StreamCost moved(const Range& range, const DesignLayer& layer) {
  return stream_cost(best_machine(range, nullptr), layer.in, layer.out);
}

}  // namespace

DesignBounds::DesignBounds(DesignCertificate& certificate)
    : certificate_{certificate},
      of_(certificate.layers.size()),
      needed_(certificate.proofs.size(), false) {
  for (const DesignLayer& layer : certificate.layers) {
    if (layer.workload) {
      workloads_.push_back(&*layer.workload);
    }
  }
  std::map<std::pair<std::size_t, Box>, std::optional<std::size_t>> known;
  for (std::size_t p = 0; p < certificate.proofs.size(); ++p) {
    const LayerProof& proof = certificate.proofs[p];
    const auto [place, is_new] = known.try_emplace({proof.space, proof.box});
    if (is_new) {
      if (auto found = machines(proof.space, proof.box)) {
        place->second = proven_.size();
        proven_.push_back(std::move(*found));
      }
    }
    machine_of_.push_back(place->second.value_or(0));
    if (place->second) {
      of_[proof.layer].push_back(p);
    }
  }
}

std::optional<DesignBounds::Machines> DesignBounds::machines(std::size_t space, const Box& box) {
  auto range = certificate_.spaces[space].range(box);
  if (!range) {
    return std::nullopt;
  }
  Machines found{std::move(*range), {}, {}, 1};
  found.numbers = comparable(found.range);
  for (const DesignLayer& layer : certificate_.layers) {
    found.leakage.push_back(
        least_leakage(found.range, layer.workload ? &*layer.workload : nullptr));
  }
  found.clock = found.range.most.clock.count();
  return found;
}

std::optional<double> DesignBounds::area(const Arch& arch) const {
  return area_of(arch, workloads_);
}

double DesignBounds::share(const Machines& machines, std::size_t proof) const {
  const Machines& then = proven_[machine_of_[proof]];
  const double share = share_of_energies(then.numbers, machines.numbers);
  const std::size_t layer = certificate_.proofs[proof].layer;
  return then.leakage[layer] > 0 ? std::min(share, machines.leakage[layer] / then.leakage[layer])
                                 : share;
}

double DesignBounds::sum(const Machines& machines, const ObjectiveFunction& function,
                         bool needed_alone, std::vector<std::size_t>& used) const {
  double sum = 0;
  for (std::size_t l = 0; l < certificate_.layers.size(); ++l) {
    const DesignLayer& layer = certificate_.layers[l];
    if (!layer.workload) {
      const StreamCost cost = moved(machines.range, layer);
      sum += layer.count *
             function.value(cost.energy.count(), static_cast<double>(cost.latency.count()));
      continue;
    }
    double best = 0;
    std::size_t by = certificate_.proofs.size();
    for (const std::size_t p : of_[l]) {
      const LayerProof& proof = certificate_.proofs[p];
      const bool fits_nowhere = !(proof.bound < kInfinity);
      if ((needed_alone && !needed_[p]) || !(proof.function == function || fits_nowhere)) {
        continue;
      }
      if (const double left = share(machines, p); left >= 0) {
        const double bound =
            fits_nowhere ? kInfinity : proof.bound * share_of_value(function, left);
        by = bound > best ? p : by;
        best = std::max(best, bound);
      }
    }
    if (by < certificate_.proofs.size()) {
      used.push_back(by);
    }
    sum += layer.count * best;
  }
  return sum < kInfinity ? function.scaled(sum, 1, machines.clock) : kInfinity;
}

double DesignBounds::product(const Machines& machines, bool needed_alone,
                             std::vector<std::size_t>& used) const {
  std::vector<LayerBounds> bounds;
  for (std::size_t l = 0; l < certificate_.layers.size(); ++l) {
    const DesignLayer& layer = certificate_.layers[l];
    LayerBounds& found = bounds.emplace_back();
    found.count = layer.count;
    if (!layer.workload) {
      const StreamCost cost = moved(machines.range, layer);
      found.cycles = static_cast<double>(cost.latency.count());
      found.lines = {{0, cost.energy.count()}};
      found.root = std::sqrt(cost.energy.count() * found.cycles);
      continue;
    }
    const auto [energy, cycles] =
        least_work(best_machine(machines.range, &*layer.workload), *layer.workload);
    found.cycles = cycles;
    found.lines = {{0, energy}};
    std::optional<std::size_t> root;
    std::optional<std::size_t> fastest;
    std::vector<std::size_t> line_of{certificate_.proofs.size()};  // by none
    for (const std::size_t p : of_[l]) {
      const LayerProof& proof = certificate_.proofs[p];
      const double left = needed_alone && !needed_[p] ? -1 : share(machines, p);
      if (left < 0) {
        continue;
      }
      if (!(proof.bound < kInfinity)) {
        used.push_back(p);
        return kInfinity;
      }
      if (proof.function == kEdp) {
        const double sqrt = std::sqrt(proof.bound * left);
        root = sqrt > found.root ? p : root;
        found.root = std::max(found.root, sqrt);
      } else if (proof.function.is_latency()) {
        fastest = proof.bound > found.cycles ? p : fastest;
        found.cycles = std::max(found.cycles, proof.bound);
      } else if (proof.function.is_energy() || is_weighted(proof.function)) {
        const double weight = is_weighted(proof.function) ? proof.function.value(0, 1) : 0;
        found.lines.emplace_back(left * weight, left * proof.bound);
        line_of.push_back(p);
      }
    }
    for (const std::size_t line : useful_lines(found)) {
      line_of[line] < certificate_.proofs.size() ? used.push_back(line_of[line]) : void();
    }
    for (const auto& best : {root, fastest}) {
      best ? used.push_back(*best) : void();
    }
  }
  return least_product(bounds) / machines.clock;
}

double DesignBounds::bound_by(const Machines& machines, Figure figure, bool needed_alone,
                              std::vector<std::size_t>& used) const {
  if (figure == Figure::kObjective && certificate_.is_joint) {
    return product(machines, needed_alone, used);
  }
  return sum(machines,
             figure == Figure::kEnergy    ? kEnergy
             : figure == Figure::kLatency ? kLatency
                                          : certificate_.function,
             needed_alone, used);
}

double DesignBounds::bound(const Machines& machines, Figure figure, double enough) {
  std::vector<std::size_t> used;
  if (const double few = bound_by(machines, figure, true, used); few >= enough) {
    return few;
  }
  used.clear();
  const double all = bound_by(machines, figure, false, used);
  for (const std::size_t proof : used) {
    needed_[proof] = true;
  }
  return all;
}

double DesignBounds::value(const Machines& machines, double enough) {
  return bound(machines, Figure::kObjective, enough);
}
double DesignBounds::energy(const Machines& machines, double enough) {
  return bound(machines, Figure::kEnergy, enough);
}
double DesignBounds::seconds(const Machines& machines, double enough) {
  return bound(machines, Figure::kLatency, enough);
}

}  // namespace mapsim::check
