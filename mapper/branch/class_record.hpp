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

// What a search knows: the best so far, and of each class of unrollings a bound and why. Shared by
// threads; which of equal mappings is the best does not depend on who comes first.
class ClassRecord {
 public:
  // Of so many classes (nullopt: not counted), of which it knows none yet. All arguments outlive
  // the record.
  // `front`: what is found is added to it in the order of classes, by front_result().
  ClassRecord(const Problem& problem, const SearchOptions& options,
              std::optional<std::int64_t> total, FrontTarget* front = nullptr);
  // No fewer than there are.
  std::size_t most() const {
    return static_cast<std::size_t>(total_.value_or(std::numeric_limits<std::int64_t>::max()));
  }
  // The next class. Nothing of it is better than its bound.
  void add(const exact::Key& bound);
  // Nothing of any class that is still to be added is better.
  void bound_others(const exact::Key& bound);
  // No class will be added: the others are worse than what has been found.
  void finish_others(const Deadline& deadline);

  // The best so far is known from elsewhere.
  void start_from(const Mapping& mapping, const Cost& cost, const exact::Key& key);
  const exact::Key& start() const { return start_; }  // its key
  exact::Incumbent known_at_start() const;            // the same, or the points of the front
  // So many mappings were evaluated, or states bounded, elsewhere.
  void count_evaluations(std::int64_t evaluations);
  void count_states(std::size_t states);
  // Nothing of the class is of interest.
  void rule_out(std::size_t unrolling_class) { bounds_[unrolling_class] = exact::Key{}; }

  // Nothing of the class is better.
  exact::Key bound(std::size_t unrolling_class);
  bool has_best();

  // A relaxation of so many states bounds the class.
  void relax(std::size_t unrolling_class, const exact::Key& bound, std::size_t states);
  // A search of the class goes on, and has expanded so many labels since it told last.
  void tick(std::size_t unrolling_class, const exact::Key& bound, std::int64_t labels,
            const Deadline& deadline);
  void searched(std::size_t unrolling_class, const exact::LabelResult& found);
  void finish(std::size_t unrolling_class, const Deadline& deadline);
  // Classes that are like another one wait for what is found out of that.
  void skip_symmetric(const std::vector<std::size_t>& first_alike);
  void repeat_for_symmetric(const std::vector<std::size_t>& first_alike);
  // Not all mappings with an extent at which nothing stands were looked at.
  void leave_bare(const exact::Key& bound);
  // Something was not looked at.
  void leave_open();
  // A class needed more memory than there was, if not more time.
  void count_out_of_memory(const Deadline& deadline);
  // A mapping of a task, which found it with that key: the best so far, if it is, or a point of the
  // front. Of equal ones the first task's is.
  void offer(const Mapping& mapping, const exact::Key& key, std::size_t task);

  // What all of it says together, when no class is searched any more.
  SearchResult result();
  // The same of a front, to which all points are added.
  SearchResult front_result();

 private:
  struct Offer {
    std::size_t task;
    exact::Key key;
    FrontPoint point;
  };
  // Might one of those not looked at be as fast as the best, and need less energy?
  bool leaves_ties_open(double value) const;
  // The same of classes that a budget has kept from being searched to their end.
  bool has_open_ties(double value) const;
  double least_bound() const;
  void report(const Deadline& deadline) const;

  const Problem& problem_;
  const SearchOptions& options_;
  std::optional<std::int64_t> total_;
  std::mutex mutex_;
  std::vector<exact::Key> bounds_;   // per class: nothing of it is better
  std::vector<Argument> arguments_;  // per class: why
  std::vector<bool> done_;
  exact::Key others_;  // of classes that are still to be added
  bool others_done_ = false;
  bool incomplete_ = false;
  std::optional<exact::Key> bare_;
  std::optional<Mapping> best_;
  std::optional<Cost> best_cost_;
  std::size_t task_ = 0;
  FrontTarget* front_;
  std::vector<Offer> offers_;  // of a front
  exact::Key start_;           // of the best known from elsewhere
  std::int64_t ticked_ = 0;    // labels, as far as searches have told
  Statistics statistics_;
};

}  // namespace mapsim
