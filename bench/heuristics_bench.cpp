// SPDX-License-Identifier: Apache-2.0
// What the heuristics find for how much work, against the proven optimum: ten layers of ResNet-50
// on two machines, one thread, one seed. Prints the tables of docs/mapper.md.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cases.hpp"
#include "mapper/mapper.hpp"

namespace {

using mapsim::Objective;

constexpr const char* kMachines[]{"eyeriss", "nvdla_like_1024"};
constexpr const char* kLayers[]{"conv1",           "conv2_1x1a", "conv2_1x1b", "conv2_3x3",
                                "conv3_3x3_first", "conv3_3x3",  "conv4_1x1a", "conv4_3x3",
                                "conv5_3x3",       "fc"};
constexpr const char* kStrategies[]{"random", "annealing", "genetic"};
constexpr std::int64_t kEvaluations[]{100, 1'000, 10'000, 100'000};

// Of one strategy and number of evaluations, a layer each.
struct Outcome {
  std::vector<double> ratios;  // found / optimum; infinite: nothing that fits
  std::vector<double> seconds;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
}

mapsim::SearchResult search(const mapsim::Mapspace& space, const char* strategy,
                            std::int64_t evaluations) {
  mapsim::SearchOptions options;
  options.evaluations = evaluations;
  return (*mapsim::find_mapper(strategy))(space, options);
}

void print(std::string_view machine, std::string_view strategy, std::int64_t evaluations,
           const Outcome& outcome) {
  const auto within = std::count_if(outcome.ratios.begin(), outcome.ratios.end(),
                                    [](double ratio) { return ratio <= 1.01; });
  fmt::print("| {} | {} | {} | {:.3f} | {:.3f} | {} of {} | {:.2g} s |\n", machine, strategy,
             evaluations, median(outcome.ratios),
             *std::max_element(outcome.ratios.begin(), outcome.ratios.end()), within,
             outcome.ratios.size(), median(outcome.seconds));
}

void compare(const char* machine) {
  std::vector<mapsim::Problem> problems;
  std::vector<double> optima;
  Outcome exact;
  for (const char* layer : kLayers) {
    problems.push_back(mapsim::bench::shipped_problem(machine, std::string{"resnet50/"} + layer));
    const mapsim::SearchResult best = search(mapsim::Mapspace{problems.back(), {}}, "exact", 0);
    optima.push_back(objective_value(Objective::kEnergy, *best.cost));
    exact.ratios.push_back(1);
    exact.seconds.push_back(best.statistics.seconds);
  }
  print(machine, "exact", 0, exact);
  for (const char* strategy : kStrategies) {
    for (const std::int64_t evaluations : kEvaluations) {
      Outcome outcome;
      for (std::size_t i = 0; i < problems.size(); ++i) {
        const mapsim::Mapspace space{problems[i], {}};
        const mapsim::SearchResult found = search(space, strategy, evaluations);
        outcome.ratios.push_back(found.cost
                                     ? objective_value(Objective::kEnergy, *found.cost) / optima[i]
                                     : std::numeric_limits<double>::infinity());
        outcome.seconds.push_back(found.statistics.seconds);
      }
      print(machine, strategy, evaluations, outcome);
    }
  }
}

}  // namespace

int main() {
  fmt::print(
      "| machine | strategy | evaluations | median | worst | within 1 % | median time |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const char* machine : kMachines) {
    compare(machine);
  }
}
