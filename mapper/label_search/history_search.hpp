// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "mapper/bounds/coarse_to_fine.hpp"
#include "mapper/bounds/completion_bound.hpp"
#include "mapper/bounds/least_costs.hpp"
#include "mapper/graph/tile_count_rules.hpp"
#include "mapper/graph/tile_counts.hpp"
#include "mapper/label_search/capacity_use.hpp"
#include "mapper/label_search/history_labels.hpp"
#include "mapper/label_search/imperfect_search.hpp"

namespace mapsim::imperfect {

// The history of the labels: the loops of a dim that they remember.
enum class History : std::uint8_t {
  // From the least that is remembered to the most
  kNone,                // nothing: edges have their least cost, capacities are shared (decision 33)
  kTileCounts,          // tile counts at the last boundary that was charged (decision 33)
  kLoopChainsAtPoints,  // the loop chain; every loop ends at a point
  kLoopChains,          // the loop chain; a loop may also end at a free tile boundary
};

// The label search of one unrolling with imperfect factors (decisions 8, 18 and 33).
// imperfect_search.cpp has its passes and bounds, expand.cpp the steps from a label.
//
// run() has three passes, each of which may end the search: labels without history, which bound all
// mappings; labels with chains whose loops end at points, which find the best of those mappings;
// and the proof for free tile boundaries (prove()), with tile counts, then with chains.
class HistorySearch {
 public:
  HistorySearch(const exact::StateGraph& graph, const UnrollingClass& unrolling_class,
                const Objective& objective, const exact::LabelQuery& query,
                const Deadline& deadline, std::size_t most = ExtentLattice::kAll,
                std::span<const std::size_t> lattices = kCoarseTiles);
  exact::ObjectiveKey root();
  // A lower bound of all mappings by labels with kNone or kTileCounts, of which it expands at most
  // half of the query's; infinite: no mapping fits. run() uses the same labels.
  exact::ObjectiveKey bound_without_chains(History history);
  HistoryResult run();

  // The interface that exact::LabelSetting requires.
  bool is_of_use(const exact::ObjectiveKey& key) const { return !is_pruned(key); }
  bool is_last(const exact::ObjectiveKey& key) const {
    return !known_.is_front() && exact::exceeds(key, known_.limit());
  }
  bool accepts(const LabelSetting::Queued&) const { return true; }
  void expand(Labels::Id id);

 private:
  Labels& labels() { return setting_->labels; }
  const Labels& labels() const { return setting_->labels; }
  const Workload& workload() const { return graph_.problem().workload(); }
  DimSet dims_of(TensorId t) const { return workload().tensors[t].dims(); }
  bool make_bound();
  exact::ObjectiveKey explore(std::int64_t most, HistoryResult& outcome);
  exact::ObjectiveKey search_relaxed(History history, HistoryResult& outcome);
  void prove(exact::ObjectiveKey relaxed, HistoryResult& outcome);
  void restart(History history, bool to_improve);
  bool is_pruned(const exact::ObjectiveKey& key) const;
  bool is_better(const exact::ObjectiveKey& key) const;
  void finish(Labels::Id id, const exact::ObjectiveKey& key);
  void keep_best(HistoryResult& outcome) const;
  void start();
  double steps_of(const PerDim<LoopChains::Id>& chains, std::size_t fanout);
  exact::ObjectiveKey key_of(const double* components, double steps) const;
  bool has_chains() const {
    return history_ == History::kLoopChainsAtPoints || history_ == History::kLoopChains;
  }
  bool offer();
  exact::ObjectiveKey true_key(Labels::Id id, const Mapping& mapping) const;
  void loop(Labels::Id id, const Label& from, DimId d);
  bool is_ordered(const Label& label) const {
    return graph_.region(label.step.node.stage).is_ordered();
  }
  void note_order(Label& label, const Label& from, DimId last, bool stands) const;
  static Label after(Labels::Id id, const Label& from, exact::Step step);
  void end(Labels::Id id, const Label& from);
  void end_chains_at_point(Label& label);
  void end_chains_at_keep(Label& label, std::size_t edge);
  void drop_history(Label& label);
  void cross(Labels::Id id, const Label& from);
  bool cost(std::size_t edge, std::size_t tile, const PerDim<LoopChains::Id>& chains,
            SlidingLoop slide, BoundaryFlow& flow);
  bool charge(std::size_t edge, std::size_t tile, const PerDim<LoopChains::Id>& chains,
              SlidingLoop slide);
  // Edges that are taken in one step, right below the loop `slide` if there is one.
  struct StepEdges {
    std::span<const std::size_t> edges;
    std::size_t tile = 0;
    SlidingLoop slide;
  };
  void add_after_charging(Label next, const PerDim<LoopChains::Id>& chains,
                          const StepEdges& step_edges);
  bool add_with_counts(Label& next, const StepEdges& step_edges, std::size_t dim);
  bool is_at_point(std::size_t edge, std::size_t stage) const;
  void keep(Labels::Id id, const Label& from);
  void sliding_edge(Labels::Id id, const Label& from);

  const exact::StateGraph& graph_;
  const UnrollingClass& unrolling_class_;
  const Objective& objective_;
  const exact::LabelQuery& query_;
  const Deadline& deadline_;
  std::span<const std::size_t> lattices_;  // of the coarse lattices (surviving_tiles)
  HeldMemory held_;
  ExtentLattice tiles_;
  TileCountRules tile_count_rules_;
  LoopChains chains_;
  ExactFlows flows_;
  TileCounts counts_;
  std::size_t components_;
  exact::CarriedCapacities capacities_;
  exact::PathObjective path_objective_;
  std::vector<BoundaryCoefficients> coefficients_;
  LeastCosts costs_;
  std::optional<exact::CompletionBound> bound_;
  bool is_ruled_out_ = false;  // every node is ruled out by coarse lattices: there is no bound_
  bool is_out_of_memory_ = false;
  std::vector<DimSet> relevant_;  // dims_that_matter()
  std::map<std::vector<std::size_t>, std::size_t> deferred_costs_;
  std::vector<double> scratch_;
  std::optional<LabelSetting> setting_;
  // Heads of the lists of labels, by hash_of()
  std::unordered_map<std::uint64_t, Labels::Id> heads_;
  std::int64_t most_labels_ = 0;
  History history_ = History::kLoopChainsAtPoints;
  bool to_improve_ = false;  // only mappings better than the limit are of interest
  std::optional<Mapping> best_;
  exact::ObjectiveKey best_key_;
  exact::Incumbent known_;                    // of a front, tags are indices of points_
  std::vector<HistoryResult::Point> points_;  // all mappings that have joined the front
};

}  // namespace mapsim::imperfect
