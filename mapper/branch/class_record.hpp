// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "mapper/branch/front_points.hpp"
#include "mapper/deadline.hpp"
#include "mapper/label_search/label_search.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

// The results of a search so far: the best mapping, and for each class of unrollings a lower bound
// and the argument for it. Threads share it. Which of several equal mappings is the best does not
// depend on the order in which threads finish.
class ClassRecord {
 public:
  // `total`: number of classes; nullopt: not counted. The record begins without classes. `front`:
  // points are added to it by front_result(), in the order of classes. All arguments outlive the
  // record.
  ClassRecord(const Problem& problem, const SearchOptions& options,
              std::optional<std::int64_t> total, FrontTarget* front = nullptr);
  // An upper limit of the number of classes.
  std::size_t most() const {
    return static_cast<std::size_t>(total_.value_or(std::numeric_limits<std::int64_t>::max()));
  }
  // Adds the next class, with a lower bound of its mappings.
  void add(const exact::ObjectiveKey& bound);
  // Sets a lower bound of all classes that have not been added yet.
  void bound_others(const exact::ObjectiveKey& bound);
  // No more classes will be added: all others are worse than what has been found.
  void finish_others(const Deadline& deadline);

  // Sets a mapping that was found elsewhere as the best so far.
  void start_from(const Mapping& mapping, const Cost& cost, const exact::ObjectiveKey& key);
  const exact::ObjectiveKey& start() const { return start_; }  // its key
  exact::Incumbent known_at_start() const;                     // it, or the points of the front
  // Counts evaluations of mappings, or states bounded, that happened elsewhere.
  void count_evaluations(std::int64_t evaluations);
  void count_states(std::size_t states);
  // Sets the bound of the class to infinity: it has no mapping of interest.
  void rule_out(std::size_t unrolling_class) { bounds_[unrolling_class] = exact::ObjectiveKey{}; }

  // A lower bound of the class's mappings.
  exact::ObjectiveKey bound(std::size_t unrolling_class);
  bool has_best();

  // Raises the bound of the class to a completion bound over `states` nodes.
  void relax(std::size_t unrolling_class, const exact::ObjectiveKey& bound, std::size_t states);
  // A search of the class is still running: its bound so far, and the labels that it expanded since
  // the last call.
  void tick(std::size_t unrolling_class, const exact::ObjectiveKey& bound, std::int64_t labels,
            const Deadline& deadline);
  void searched(std::size_t unrolling_class, const exact::LabelResult& found);
  void finish(std::size_t unrolling_class, const Deadline& deadline);
  // Classes that equal an earlier one by symmetry are not searched: skip_symmetric() marks them,
  // repeat_for_symmetric() copies the result of the earlier one.
  void skip_symmetric(const std::vector<std::size_t>& representative);
  void repeat_for_symmetric(const std::vector<std::size_t>& representative);
  // Not all mappings with a free tile boundary were searched: a lower bound of them.
  void leave_free_boundaries_open(const exact::ObjectiveKey& bound);
  // Some class was not searched to its end.
  void leave_open();
  // Counts a class that needed more memory than there was, unless time was over as well.
  void count_out_of_memory(const Deadline& deadline);
  // A mapping that a task found, and its key. It becomes the best so far, or a point of the front.
  // Among equal mappings the one of the first task stays.
  void offer(const Mapping& mapping, const exact::ObjectiveKey& key, std::size_t task);

  // The result, to be called when no class is searched any more.
  SearchResult result();
  // The same for a front: adds all offered points to it, and returns statistics and what is missing
  // in the proof.
  SearchResult front_result();

 private:
  struct Offer {
    std::size_t task;
    exact::ObjectiveKey key;
    FrontPoint point;
  };
  // Could an unsearched mapping with free tile boundaries tie with the best in the objective and
  // need less energy?
  bool leaves_ties_open(double value) const;
  // The same for classes that were not searched to their end.
  bool has_open_ties(double value) const;
  double least_bound() const;
  void report(const Deadline& deadline) const;

  const Problem& problem_;
  const SearchOptions& options_;
  std::optional<std::int64_t> total_;
  std::mutex mutex_;
  std::vector<exact::ObjectiveKey> bounds_;  // per class: a lower bound
  std::vector<Argument> arguments_;          // per class: how the bound was found
  std::vector<bool> done_;
  exact::ObjectiveKey others_;  // a lower bound of the classes that are still to be added
  bool others_done_ = false;
  bool incomplete_ = false;
  std::optional<exact::ObjectiveKey> free_boundaries_bound_;
  std::optional<Mapping> best_;
  std::optional<Cost> best_cost_;
  std::size_t task_ = 0;
  FrontTarget* front_;
  std::vector<Offer> offers_;  // of a front
  exact::ObjectiveKey start_;  // key of a mapping that was found elsewhere
  std::int64_t ticked_ = 0;    // labels, as far as searches have reported them
  Statistics statistics_;
};

}  // namespace mapsim
