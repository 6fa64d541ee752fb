// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "campaign/joint.hpp"
#include "design/layers.hpp"

namespace mapsim {

// What a design is judged by, over all layers of the work, each as often as it occurs.
struct DesignObjective {
  // Summed over the layers, each mapped for the least of it [pJ, s].
  ObjectiveFunction function = ObjectiveFunction::product(1, 0);
  // The value is the EDP of all layers together, total energy * total latency, and the mappings are
  // chosen jointly to minimise it. Then `function` is energy * latency.
  bool is_joint = false;
  friend bool operator==(const DesignObjective&, const DesignObjective&) = default;
};
// "energy", "latency", "edp", "sum-edp", or a formula of a layer's energy and latency. The error
// says what would be right.
Parsed<DesignObjective> parse_design_objective(std::string_view text);
std::string to_string(const DesignObjective& objective);
// What an objective of layers means for all of them: EDP is chosen jointly.
DesignObjective network_objective(const ObjectiveFunction& function);
// That of the file of a space; nullopt: it has several.
std::optional<DesignObjective> space_objective(const Campaign& space);

// What is known of all layers on a machine [pJ, s].
struct Assessment {
  double lower = 0;           // no choice of mappings is better
  double value = kNoMapping;  // of the best known
  std::vector<LayerFigures> layers;
  double energy = 0, seconds = 0;  // of the best known, all layers
  bool is_exact() const;
};

// What a search of a machine's layers is for. It ends once the answer is known to be `enough`.
struct Aim {
  std::function<bool(const Assessment&)> enough;
  // Machines with no less are of no interest: searches of layers leave out what cannot decide that.
  double worth = kNoMapping;
  bool is_rough = false;  // of a joint choice: from the layers' own EDPs alone
};

// Judges machines. Asks for the layers that can still decide most first.
class WorkValue {
 public:
  WorkValue(LayerOptima& optima, const DesignObjective& objective)
      : optima_{optima}, objective_{objective} {}
  // From earlier answers alone.
  Assessment known(const DesignMachine& machine);
  // By searches, `seconds()` left for each; nullopt: interrupted.
  std::optional<Assessment> find(const DesignMachine& machine, const Aim& aim,
                                 const std::function<double()>& seconds);

  // The totals of all layers, if the objective is a sum over layers.
  void add_up(const DesignMachine& machine, Assessment& all) const;

 private:
  JointEdp joint(const DesignMachine& machine);
  Assessment assess(const DesignMachine& machine, const JointEdp& joint) const;
  std::optional<Assessment> find_joint(const DesignMachine& machine, const Aim& aim,
                                       const std::function<double()>& seconds);
  std::optional<std::pair<std::size_t, double>> next_of_sum(const Assessment& all, const Aim& aim,
                                                            const std::vector<double>& gaps) const;

  LayerOptima& optima_;
  DesignObjective objective_;
};

}  // namespace mapsim
