// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "check/design_certificate.hpp"

namespace mapsim::check {

// Bounds of boxes of designs from the bounds of layers that a certificate names. A bound that is
// proven for a machine with at least these resources holds here, scaled by the least energy ratio.
class DesignBounds {
 public:
  explicit DesignBounds(DesignCertificate& certificate);

  // The data of a box for bounds and areas.
  struct Machines {
    Range range;
    Comparable numbers;
    std::vector<double> leakage;  // by layer
    double clock = 1;
  };
  // nullopt: no bound covers the differences of the box's machines. Throws ConfigError.
  std::optional<Machines> machines(std::size_t space, const Box& box);

  // Lower bounds of the objective over all layers [pJ, s], and of their total energy or latency.
  // Uses layer bounds that were needed before if they reach `enough`, else the best ones, which are
  // needed from then on. Infinite: a layer has no mapping.
  double value(const Machines& machines, double enough);
  double energy(const Machines& machines, double enough);
  double seconds(const Machines& machines, double enough);
  std::optional<double> area(const Arch& arch) const;

  const std::vector<bool>& needed() const { return needed_; }  // by proof

 private:
  enum class Figure : std::uint8_t { kObjective, kEnergy, kLatency };
  double bound(const Machines& machines, Figure figure, double enough);
  double bound_by(const Machines& machines, Figure figure, bool needed_alone,
                  std::vector<std::size_t>& used) const;
  double sum(const Machines& machines, const ObjectiveFunction& function, bool needed_alone,
             std::vector<std::size_t>& used) const;
  double product(const Machines& machines, bool needed_alone, std::vector<std::size_t>& used) const;
  // The least energy ratio of these machines to those of a proof; negative: the proof says nothing
  // about these.
  double share(const Machines& machines, std::size_t proof) const;

  DesignCertificate& certificate_;
  std::vector<Machines> proven_;              // machines of the proofs, each once
  std::vector<std::size_t> machine_of_;       // by proof
  std::vector<std::vector<std::size_t>> of_;  // proofs, by layer
  std::vector<const Workload*> workloads_;    // of layers that have one
  std::vector<bool> needed_;
};

}  // namespace mapsim::check
