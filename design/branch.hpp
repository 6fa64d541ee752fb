// SPDX-License-Identifier: Apache-2.0
// The search of search.hpp: for search.cpp, within.cpp, evaluate.cpp and steps.cpp alone.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "design/descent.hpp"
#include "design/open_box.hpp"
#include "design/search.hpp"

namespace mapsim {

// Branch and bound over boxes of designs, least bound first.
class DesignSearch {
 public:
  DesignSearch(const Campaign& campaign, const DesignOptions& options)
      : campaign_{campaign},
        options_{options},
        optima_{campaign, campaign.questions.front(), layer_options(options), options.answers},
        value_{optima_, options.objective},
        energy_{optima_, {ObjectiveFunction::product(1, 0)}},
        latency_{optima_, {ObjectiveFunction::product(0, 1)}},
        archive_{options.wanted, options.top} {
    for (const Machine& machine : campaign.machines) {
      spaces_.emplace_back(machine, !campaign.questions.front().constraints_file.empty());
    }
    settled_.resize(spaces_.size());
    tried_.resize(spaces_.size());
  }

  DesignAnswer run();

 private:
  static SearchOptions layer_options(const DesignOptions& options) {
    SearchOptions layers;
    layers.threads = options.threads;
    layers.stop = options.stop;
    layers.partial_folds = true;
    layers.budget.bytes = options.bytes;
    return layers;
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double seconds_left() const;
  bool is_short_of_memory() const { return held_ > options_.bytes; }
  void hold(std::size_t bytes);
  bool over() const;
  void report(double bound) const;
  void push(OpenBox box);

  bool closes(double bound, double area) const;
  double least_area(const Enclosure& enclosure);
  double rest_of(const OpenBox& box) const;
  void settle(std::size_t space, const Values& values, Leaf::Why why, double& counts);
  void leave(const OpenBox& box, Leaf::Why why);
  void close(const OpenBox& box, double bound, Leaf::Why why = Leaf::Why::kBound);
  bool is_too_large(const Enclosure& enclosure);
  DesignMachine machine(std::size_t space, const DesignBox& box, const Enclosure& enclosure) const;
  bool shrink(OpenBox& box, const Enclosure& enclosure);
  bool take_round(std::vector<RoundBox>& round);
  void look_ahead(const std::vector<RoundBox>& round);
  bool step(OpenBox& box, std::optional<Enclosure>& to_bound);
  Aim decides(const OpenBox& box);
  bool bound(OpenBox& box, const Enclosure& enclosure);
  std::optional<double> bound_within(const OpenBox& box, const DesignMachine& composite,
                                     const Assessment& found);
  bool add_lines(const DesignMachine& composite, const OpenBox& box, const WithinLimits& within,
                 std::vector<SupportLine>& lines);
  Assessment assess(const DesignMachine& design, const WithinLimits& within,
                    const std::vector<CountedFront>& layers, const LimitedChoice& choice) const;
  std::optional<Assessment> best_within(const DesignMachine& design, const Assessment& found,
                                        double worth);
  Assessment known_within(const DesignMachine& design, const Assessment& found);
  std::optional<Assessment> roughly_within(const DesignMachine& design, const Assessment& found);
  bool divide(OpenBox& box, const Enclosure& enclosure);
  void split(const OpenBox& box, std::size_t axis);
  std::size_t axis_to_branch(const OpenBox& box) const;
  std::size_t axis_to_split(const OpenBox& box, const Enclosure& enclosure,
                            const Assessment& known);
  void take_largest(const OpenBox& box);
  bool take_single(OpenBox& box);
  void check_reading(std::size_t s, const Values& values, const DesignMachine& design);
  std::optional<double> value_design(std::size_t s, const Values& values);
  std::optional<Assessment> with_own_figures(const DesignMachine& design, Assessment found);
  std::size_t number_of(std::size_t s, const Values& values) const;
  void write_down(const DesignMachine& design, std::size_t number);
  void keep(std::size_t s, const Values& values, const Arch& arch, const Assessment& found,
            std::optional<double> area);
  BestDesign designed(std::size_t s, const Values& values, const Arch& arch,
                      const Assessment& found, std::optional<double> area) const;

  bool seed(const OpenBox& box);
  bool seed_below(const OpenBox& box, double limit);
  std::optional<Assessment> look_at(std::size_t space, const Values& values, double worth);
  double area_of(std::size_t space, const Values& values);
  double area_allowed() const;
  Descent descent(const OpenBox& box, double limit);
  void keep_hastily();
  bool keep_hastily(std::size_t s, const Values& values);
  void bound_hastily();
  void finish();
  void complete(BestDesign& best);
  void find_edges();
  void find_steps();
  AxisStep step_to(const BestDesign& best, const Values& values, std::size_t axis);

  using Clock = std::chrono::steady_clock;
  const Campaign& campaign_;
  const DesignOptions& options_;
  Clock::time_point start_ = Clock::now();
  LayerOptima optima_;
  WorkValue value_, energy_, latency_;
  Archive archive_;
  std::vector<DesignSpace> spaces_;
  std::priority_queue<OpenBox, std::vector<OpenBox>, Later> open_;
  std::int64_t pushed_ = 0;
  std::int64_t searches_ahead_ = 0;  // by parts of optima_ that have not been joined yet
  std::vector<std::map<Values, Leaf::Why>> settled_;  // designs of each space
  std::vector<std::set<Values>> tried_;
  std::set<std::string> seeded_;  // structures
  // The best design that was bounded but not valued, or else the first one
  std::optional<std::pair<std::size_t, Values>> looked_at_;
  std::size_t held_ = 0, most_held_ = 0;  // bytes of boxes and of designs, about
  double closed_ = kNoMapping;            // the least bound of what was closed by one
  bool is_exact_ = true;                  // every design that was kept is
  DesignAnswer result_;
};

}  // namespace mapsim
