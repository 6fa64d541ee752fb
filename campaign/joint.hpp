// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mapper/mapper.hpp"

namespace mapsim {

// The value of a layer without a mapping.
inline constexpr double kNoMapping = std::numeric_limits<double>::infinity();

// The optimum of a layer on a machine, as far as it is known [pJ, cycles].
struct LayerFigures {
  double lower = 0;                  // of the objective, proven
  double value = kNoMapping;         // of the best mapping known
  double energy = 0, cycles = 0;     // of that mapping
  std::optional<Mapping> mapping{};  // none of a stream
  bool is_own = false;               // found by a search on this very machine
  bool is_exact() const;             // up to rounding; or nothing fits
};

// No mapping of a layer has less energy + weight * latency than `value` [pJ per cycle, pJ]; an
// infinite weight: no less latency [cycles].
struct SupportLine {
  double weight = 0, value = 0;
};
struct LayerPoint {
  double energy = 0, cycles = 0;
  std::optional<Mapping> mapping{};  // none of a stream
  bool is_own = false;
};
// Bounds on all mappings of a layer on a machine.
struct LayerSupport {
  bool fits = true;  // false: proven that none does
  double root = 0;   // of the least energy * latency [sqrt(pJ cycles)]
  std::vector<SupportLine> lines{};
  std::vector<LayerPoint> points{};
};

// The knowledge about one layer of a network whose mappings are chosen jointly.
struct JointLayer {
  double count = 0;
  LayerSupport support;
  bool has_edp = false;  // searched for its EDP on this very machine
  bool is_given_up = false;
};

// The proof, in words, of an EDP that is at most this share above the least: "no choice has less",
// "no choice has less by more than 1.3 %", "no bound is known" for an infinite one.
std::string least_choice_text(double gap);

// The next search: of a layer, for energy plus `weight` pJ per cycle, or for its EDP.
struct JointQuestion {
  std::size_t layer = 0;
  std::optional<double> weight;  // infinite: its latency; nullopt: its EDP
  ObjectiveFunction function() const;
};

// Mappings of all layers chosen together for the least product of total energy and total latency
// [pJ cycles], streams included.
struct JointChoice {
  double edp = 0;
  double lower_bound = 0;     // of every choice, proven
  double by_layer = 0;        // of the mappings that were found for each layer's own EDP
  std::int64_t searches = 0;  // beyond those
  bool is_proven() const { return edp <= lower_bound * (1 + kRounding); }
};

// Other strategies prove nothing, so no mappings are chosen jointly.
inline bool makes_joint_choices(std::string_view strategy) {
  return strategy == "exact" || strategy == "exhaustive";
}

// Bounds of a layer without a search: every MAC has its energy (none, if zeros save energy), and a
// unit does one per cycle. Not for engines, which may leave MACs out. If folds may leave a
// remainder, a search for the least energy gives no line, since it leaves them out.
std::vector<SupportLine> free_lines(const Problem& problem);
// A layer of which no search is done yet; and an operator that has a given cost and no mappings
// [pJ, cycles].
JointLayer unsearched_layer(double count, const Problem& problem);
JointLayer priced_layer(double energy, double cycles);

// The least product of the total energy and the total latency of a network, over all choices of one
// mapping a layer. Since (E/t + T t)^2 >= 4 E T, and equal for t^2 = E/T, it is the least over all
// weights w of G(w)^2 / (4 w), G(w) being the sum over the layers of the least energy + w * latency
// (docs/design.md). Each proven optimum bounds G from below for all weights, since G is concave.
class JointEdp {
 public:
  explicit JointEdp(std::vector<JointLayer> layers);

  const std::vector<JointLayer>& layers() const { return layers_; }
  bool is_infeasible() const;
  double lower() const { return lower_; }  // proven [pJ cycles]
  double value() const { return value_; }  // of `choice`; infinite: a layer has no mapping yet
  const std::vector<std::size_t>& choice() const { return choice_; }  // points of the layers
  // The search that can raise the bound most; nullopt: none can.
  std::optional<JointQuestion> next() const;
  // The same, but no question twice, because a search that ended early would end early again. Also
  // nullopt if the choice is within this gap of its bound.
  std::optional<JointQuestion> ask(double gap);
  // An answer to such a question.
  void learn(const JointQuestion& question, const LayerFigures& found);
  // Asks nothing more about this layer, since its searches end early. The bound stays.
  void give_up(std::size_t layer);

 private:
  struct Line {
    double weight = 0, energy = 0, cycles = 0;  // from `weight` on: energy + w * cycles
  };
  void prepare(std::size_t layer);
  void prepare_hull(std::size_t layer);
  void update();
  std::vector<double> weights() const;
  void find_bound();
  template <class TakesCurve>
  std::pair<double, double> bound_between(double low, double high,
                                          const std::vector<std::size_t>& at,
                                          const TakesCurve& takes_curve) const;
  void find_choice();
  bool is_settled() const;
  std::size_t widest_gap() const;
  double least_line(std::size_t layer, double weight) const;
  double best_point(std::size_t layer, double weight, std::size_t* which = nullptr) const;
  double gap(std::size_t layer, double weight) const;
  double weight_for(std::size_t layer) const;
  std::optional<JointQuestion> next_edp() const;
  std::optional<JointQuestion> next_end() const;

  std::vector<JointLayer> layers_;
  std::vector<std::vector<Line>> envelopes_;     // concave, by weight
  std::vector<std::vector<std::size_t>> hulls_;  // points on the lower hull, fastest first
  std::vector<std::size_t> choice_;
  std::set<std::pair<std::size_t, std::optional<double>>> asked_;
  std::vector<double> cuts_;  // further weights at which the bound is evaluated
  double lower_ = 0;
  double weakest_ = 1;                      // the weight at which the bound is lowest
  std::pair<double, double> weak_between_;  // the evaluated weights on both sides of it
  double meeting_ = 1;  // energy / cycles of the choice: the weight at which it is best
  double value_ = kNoMapping;
};

}  // namespace mapsim
