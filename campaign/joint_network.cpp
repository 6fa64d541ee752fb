// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "campaign/joint.hpp"
#include "campaign/layer.hpp"
#include "campaign/network.hpp"
#include "core/arithmetic.hpp"
#include "mapper/shared_budget.hpp"

namespace mapsim {

namespace {

LayerFigures figures_of(const SearchResult& found, const ObjectiveFunction& function,
                        LatencyMode mode) {
  LayerFigures figures;
  if (found.cost) {
    // Of a frame, and not rounded up to whole cycles: searches compare batches so.
    const auto frames = static_cast<double>(frame_count(found));
    figures.energy = found.cost->energy.total.count() / frames;
    figures.cycles = static_cast<double>(latency_of(mode, found.cost->latency).count()) / frames;
    figures.value = function.value(figures.energy, figures.cycles);
  }
  // Of a batch that is not proven the bound is not of a frame.
  figures.lower = found.certificate.status == Proof::kOptimal ? figures.value
                  : found.form == Form{}                      ? found.certificate.lower_bound
                                                              : 0;
  return figures;
}

// The layers of a network that differ in more than their names, and all that was found of each.
class JointSearch {
 public:
  JointSearch(const Arch& arch, const Network& network, const NetworkOptions& options,
              NetworkResult& result)
      : arch_{arch}, network_{network}, options_{options}, result_{result} {}

  void run() {
    JointEdp joint{layers()};
    for (std::size_t l = 0; l < firsts_.size(); ++l) {
      joint.learn({l, std::nullopt},
                  figures_of(result_.layers[firsts_[l]], options_.search.objective.function,
                             options_.search.objective.mode));
    }
    JointChoice choice;
    choice.by_layer = joint.value();
    while (!result_.interrupted) {
      const auto next = joint.ask(options_.search.budget.gap);
      if (!next) {
        break;
      }
      ask(*next, joint);
      ++choice.searches;
    }
    choice.edp = joint.value();
    choice.lower_bound = std::min(joint.lower(), joint.value());  // but for rounding
    take(joint.choice());
    result_.joint = choice;
  }

 private:
  std::vector<JointLayer> layers() {
    std::vector<JointLayer> layers;
    for (std::size_t i = 0; i < network_.layers.size(); ++i) {
      const std::size_t first = first_like(network_, i);
      const auto count = static_cast<double>(network_.layers[i].count);
      if (first < i) {
        place_.push_back(place_[first]);
        layers[place_[first]].count += count;
        continue;
      }
      place_.push_back(layers.size());
      found_.push_back({result_.layers[i]});
      firsts_.push_back(i);
      layers.push_back(unsearched_layer(count, {arch_, network_.layers[i].workload}));
    }
    if (!network_.streams.empty()) {
      const StreamCost cost =
          totals(arch_, network_, result_, options_.search.objective.mode).streams;
      layers.push_back(
          priced_layer(cost.energy.count(), static_cast<double>(cost.latency.count())));
    }
    return layers;
  }

  void ask(const JointQuestion& question, JointEdp& joint) {
    const std::size_t i = firsts_[question.layer];
    options_.progress(i);
    LayerSearch search{options_.strategy, options_.search, options_.frames};
    if (options_.sharing) {
      search.options = budget_.share(real(1 + *options_.sharing));
    }
    search.options.objective.function = question.function();
    search.options.budget.gap = 0;  // shares of layers would add up
    const Problem problem{arch_, network_.layers[i].workload};
    SearchResult found =
        search_layer(problem, network_.layers[i].workbook, options_.constraints(problem), search)
            .result;
    result_.interrupted = options_.search.stop != nullptr && *options_.search.stop;
    joint.learn(question, figures_of(found, search.options.objective.function,
                                     options_.search.objective.mode));
    if (found.cost) {
      found_[question.layer].push_back(std::move(found));
    }
  }

  // The points of a layer are in the order of what was found.
  void take(const std::vector<std::size_t>& choice) {
    for (std::size_t i = 0; i < network_.layers.size(); ++i) {
      const std::vector<SearchResult>& found = found_[place_[i]];
      result_.layers[i] = found[choice[place_[i]]];
      double seconds = 0;
      for (const SearchResult& one : found) {
        seconds += one.statistics.seconds;
      }
      result_.layers[i].statistics.seconds = firsts_[place_[i]] == i ? seconds : 0;
    }
  }

  const Arch& arch_;
  const Network& network_;
  const NetworkOptions& options_;
  const SharedBudget budget_{options_.search};
  NetworkResult& result_;
  std::vector<std::size_t> place_;   // of each layer of the network among those that differ
  std::vector<std::size_t> firsts_;  // of each of these, in the network
  std::vector<std::vector<SearchResult>> found_;
};

}  // namespace

void choose_jointly(const Arch& arch, const Network& network, const NetworkOptions& options,
                    NetworkResult& result) {
  JointSearch{arch, network, options, result}.run();
}

}  // namespace mapsim
