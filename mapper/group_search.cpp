// SPDX-License-Identifier: Apache-2.0
#include "mapper/group_search.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "core/caught.hpp"
#include "mapper/balanced/search.hpp"
#include "mapper/branch/group_source.hpp"
#include "mapper/exact/groups.hpp"
#include "mapper/exact/labels.hpp"
#include "mapper/group_record.hpp"
#include "mapper/mapper.hpp"
#include "mapper/padded.hpp"
#include "mapper/shared_bounds.hpp"
#include "mapper/turns.hpp"

namespace mapsim {

namespace {

using exact::Key;

constexpr double kWeakPatterns = 1.02;         // bounds of whole classes are as much better
constexpr std::int64_t kPaddedLabels = 3'000;  // of the search of a padded problem
constexpr std::size_t kMostInVain = 30;        // padded problems that lead to nothing better

// One search: groups take turns (Turns), what is known of them is in a record.
class ExactSearch {
 public:
  ExactSearch(const Mapspace& space, const SearchOptions& options, const Patience& patience,
              const GroupSearch& more)
      : space_{space},
        options_{options},
        patience_{patience},
        shared_{more.shared},
        most_labels_{more.labels},
        trial_labels_{more.trial_labels},
        find_incumbents_{!more.best},
        record_{space.problem(), options, space.class_count()},
        source_{space, options.objective, patience, more.ruled_out, record_} {}

  GroupRecord& record() { return record_; }
  // Of the budget, so much is spent.
  void charge(std::int64_t labels) { charged_ += labels; }

  // The search is over when the team of threads that calls this is.
  void start() {
    if (is_balanced() && find_incumbents_) {
      find_incumbents();
    }
    for (const std::size_t most : balanced::kCoarseTiles) {
      if (is_balanced() && !patience_.over()) {
        bound_coarsely(source_.order(), most);
      }
    }
    turns_.emplace(source_.count(), record_.start(),
                   Turns::Labels{most_labels_, options_.budget.labels - charged_});
    take_turns(find_waiting());
  }
  SearchResult result() {
    caught_.rethrow();
    return source_.result();
  }

 private:
  // What the search of a group tells those that come later.
  struct Turned {
    Key found;  // of the best, if it is within the limit
    Turns::Labels taken;
    bool is_hard = false;  // it took many labels
  };

  const exact::Groups& groups() const { return source_.groups(); }
  bool is_balanced() const { return space_.constraints().factors.balanced; }

  // Good answers before proofs: padded problems of the classes with the best bounds, until none of
  // many has led to anything better. All of a batch know the same, so that the result does not
  // depend on the number of threads.
  void find_incumbents() {
    std::size_t in_vain = 0;
    exact::Groups::for_batches(source_.order(), [&](std::span<const std::size_t> batch) {
      std::vector<std::size_t> open;
      for (const std::size_t group : batch) {
        if (!groups().is_idle(group) &&
            record_.bound(group).first < record_.start().first * (1 - kRounding)) {
          open.push_back(group);
        }
      }
      const std::int64_t left = (options_.budget.labels - charged_) / 2;
      const std::int64_t labels = std::min(
          kPaddedLabels, left / static_cast<std::int64_t>(std::max<std::size_t>(1, open.size())));
      if (open.empty() || labels < 1) {
        return false;
      }
      std::vector<PaddedSearch> found(open.size());
#pragma omp taskloop grainsize(1) shared(open, found)
      for (std::size_t i = 0; i < open.size(); ++i) {
        caught_.run([&] {
          if (!patience_.over()) {
            found[i] =
                search_padded(space_, groups().unrolling(open[i]), options_, labels, patience_);
          }
        });
      }
      in_vain += found.size();
      for (const PaddedSearch& one : found) {
        charge(one.labels);
        record_.count_evaluations(one.evaluations);
        if (one.best && one.best->key < record_.start()) {
          record_.start_from(one.best->mapping, one.best->cost, one.best->key);
          in_vain = 0;
        }
      }
      return in_vain < kMostInVain && !patience_.over();
    });
  }

  // Brings balanced groups, of which there are hundreds and each takes seconds, into the order of
  // bounds on coarse lattices, which are cheap. Also narrows the gap of a search that is stopped.
  void bound_coarsely(std::vector<std::size_t>& order, std::size_t most) {
    const std::vector<std::size_t> open = to_bound(order, most);
#pragma omp taskloop grainsize(1) shared(open)
    for (std::size_t i = 0; i < open.size(); ++i) {
      const std::size_t group = open[i];
      caught_.run([&] {
        if (!patience_.over()) {
          record_.relax(group,
                        balanced::coarse_bound(groups().skeleton(group), groups().unrolling(group),
                                               options_.objective, most, patience_),
                        0);
        }
      });
    }
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return record_.bound(a) < record_.bound(b);
    });
  }

  // Those that may hold something better, as far as half of a budget of labels goes.
  std::vector<std::size_t> to_bound(const std::vector<std::size_t>& order, std::size_t most) {
    const bool is_limited = options_.budget.labels < Budget{}.labels;
    std::vector<std::size_t> open;
    for (const std::size_t group : order) {
      if (groups().is_idle(group) || exact::beyond(record_.bound(group), record_.start())) {
        continue;
      }
      const std::int64_t labels =
          is_limited ? balanced::labels_of_bound(groups().skeleton(group), most) : 0;
      if (labels > options_.budget.labels / 2 - charged_) {
        break;
      }
      charge(labels);
      open.push_back(group);
    }
    return open;
  }

  // A thread takes one turn after the other. So many have joined those that wait: others may take
  // what it does not.
  void take_turns(std::size_t joined) {
    share(joined);
    while (const std::optional<Turns::Turn> turn = take()) {
      Turned turned;
      caught_.run([&] { turned = search(*turn); });
      share(end(*turn, turned));
    }
  }
  void share(std::size_t joined) {
    for (std::size_t i = 1; i < joined && omp_get_num_threads() > 1; ++i) {
#pragma omp task
      take_turns(0);
    }
  }
  std::optional<Turns::Turn> take() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      return std::nullopt;
    }
    const Turns::Turn turn = waiting_.front();
    waiting_.pop_front();
    return turn;
  }
  // How many may begin now.
  std::size_t end(const Turns::Turn& turn, const Turned& turned) {
    const std::lock_guard lock(mutex_);
    turns_->end(turn, turned.found, turned.taken, turned.is_hard);
    return find_waiting();
  }

  // Those whose turn has come and that are not ruled out by what they know. How many have joined.
  std::size_t find_waiting() {
    std::size_t joined = 0;
    while (const std::optional<Turns::Turn> turn = turns_->next()) {
      const std::optional<std::size_t> group = source_.find(turn->index, turn->limit);
      if (!group) {
        turns_->close();
        break;
      }
      const Key bound = record_.bound(*group);
      const bool is_open = bound.first < exact::kInfinity && !exact::worse(bound, turn->limit);
      if (is_open && !is_stopped(*turn)) {
        waiting_.push_back(*turn);
        ++joined;
        continue;
      }
      if (is_open) {
        record_.leave_open();
      } else {
        record_.finish(*group, patience_);
      }
      turns_->end(*turn, {}, {});
      if (is_open && (turn->is_last || patience_.over())) {
        turns_->close_behind();
      }
    }
    return joined;
  }

  // Nothing is left to search it with. The first one is searched whatever the budget.
  bool is_stopped(const Turns::Turn& turn) {
    return turn.index > 0 ? turn.labels.expanded == 0 || patience_.over()
                          : patience_.over() && record_.has_best();
  }

  Turned search(const Turns::Turn& turn) {
    const std::size_t group = source_[turn.index];
    if (is_stopped(turn)) {
      record_.leave_open();
      return {};
    }
    exact::Quest quest;
    quest.known = turn.limit;
    quest.labels = std::max<std::int64_t>(1, turn.labels.expanded);
    quest.budget = std::max<std::int64_t>(1, turn.labels.budget);
    const Turned turned = search(group, quest, turn.is_hard);
    record_.finish(group, patience_);
    return turned;
  }

  Turned search_balanced(std::size_t group, const exact::Quest& quest) {
    const balanced::Outcome found = balanced::search_group(
        groups().skeleton(group), groups().unrolling(group), options_.objective, quest, patience_);
    if (found.states > 0) {
      record_.relax(group, found.root, static_cast<std::size_t>(found.states));
    }
    if (found.best) {
      record_.offer(*found.best, group);
    }
    if (found.bare) {
      record_.leave_bare(*found.bare);
    }
    if (found.searched) {
      record_.searched(group, {{}, found.bound, found.labels, !found.complete});
    } else if (!found.complete) {
      record_.leave_open();
    }
    const std::int64_t labels = found.searched ? found.labels : 0;
    return {found.best ? found.key : Key{}, {labels, labels + found.spent}};
  }

  // As another design shows.
  bool is_known_beyond(std::size_t group, const Key& limit) const {
    return limit.first < exact::kInfinity &&
           std::any_of(
               shared_.begin(), shared_.end(),
               [&](SharedBounds* shared) {
                 return exact::beyond({shared->bound(groups().unrolling(group), limit.first)},
                                      limit);
               });
  }

  Turned search(std::size_t group, exact::Quest quest, bool is_hard) {
    if (groups().is_idle(group)) {
      record_.relax(group, Key{}, 0);
      return {};
    }
    if (is_balanced()) {
      return search_balanced(group, quest);
    }
    if (is_known_beyond(group, quest.known.limit())) {
      record_.relax(group, quest.known.limit(), 0);
      return {};
    }
    Turned turned;
    exact::LabelResult all;
    if (has_patterns()) {
      return search_patterns(group, quest, is_hard);
    }
    search_at_once(group, quest, quest.labels, turned, all);
    return turned;
  }

  // What labels make of a class of unrollings, or of one of its residency patterns.
  struct Labelled {
    Key root;  // what the bound says before any label
    Key found;
    exact::LabelResult result;
    std::size_t states = 0;
    bool is_open = false;  // labels were needed
  };
  Labelled search_labels(std::size_t group, const exact::Quest& quest,
                         const exact::Pattern* pattern) {
    const auto instance = groups().build(group, quest.known, true, pattern);
    if (!instance->dived.steps.empty()) {  // the best so far, in case that labels are stopped
      record_.offer(groups().mapping(*instance, group, instance->dived.steps), group);
    }
    Labelled labelled;
    labelled.found = instance->dived.key;
    labelled.states = instance->bound.nodes().size();
    const Key root = instance->root();
    const bool is_beyond = quest.known.covers(root);
    labelled.root = is_beyond ? quest.known.limit() : root;
    labelled.result.bound = labelled.root;
    if (is_beyond) {
      return labelled;
    }
    labelled.is_open = true;
    labelled.result = exact::search_labels(*instance, quest, patience_);
    for (const exact::Ending& ending : labelled.result.endings) {
      record_.offer(groups().mapping(*instance, group, ending.steps), group);
      labelled.found = std::min(labelled.found, ending.key);
    }
    return labelled;
  }

  // May the bounds of residency patterns say more than those of whole classes? Only of latency: the
  // least of each port may be that of another mapping (mapper/exact/group_patterns.cpp).
  bool has_patterns() const {
    return options_.objective.function.uses_latency() && !space_.problem().is_timed_by_model();
  }

  // One residency pattern of the class after the other, best bound first; before that the class as
  // a whole, with few labels, if that may be enough.
  Turned search_patterns(std::size_t group, exact::Quest quest, bool is_hard) {
    Turned turned;
    exact::LabelResult all;  // of the whole class
    all.bound = quest.known.limit();
    if (is_hard || trial_labels_ == 0) {
      const std::vector<exact::Pattern> best = groups().patterns(group, quest.known, true);
      if (best.empty()) {
        record_.relax(group, quest.known.limit(), 0);
        return {};
      }
      is_hard = trial_labels_ == 0 ||
                best.front().bound.first > kWeakPatterns * groups().floor(group).first;
    }
    if (!is_hard && search_at_once(group, quest, trial_labels_, turned, all)) {
      return turned;
    }
    turned.is_hard = true;
    const std::vector<exact::Pattern> patterns = groups().patterns(group, quest.known, false);
    for (std::size_t p = 0; p < patterns.size() && !quest.known.covers(patterns[p].bound); ++p) {
      if (quest.labels == 0 || patience_.over()) {
        all.bound = std::min(all.bound, patterns[p].bound);
        all.stopped = true;
        break;
      }
      const Key next = p + 1 < patterns.size() ? patterns[p + 1].bound : quest.known.limit();
      quest.tick = [&](const Key& bound, std::int64_t labels) {
        record_.tick(group, std::min({bound, next, all.bound}), labels, patience_);
      };
      const Labelled one = search_labels(group, quest, &patterns[p]);
      all.bound = std::min(all.bound, one.result.bound);
      all.stopped = all.stopped || one.result.stopped;
      record_.count_states(one.states);
      add(one, quest, turned, all);
    }
    all.bound = std::min(all.bound, quest.known.limit());
    record_.searched(group, all);
    return turned;
  }

  // The class as a whole. False: so many labels were not enough, and there are more.
  bool search_at_once(std::size_t group, exact::Quest& quest, std::int64_t most, Turned& turned,
                      exact::LabelResult& all) {
    exact::Quest trial = quest;
    trial.labels = std::min(quest.labels, most);
    trial.tick = [this, group](const Key& bound, std::int64_t labels) {
      record_.tick(group, bound, labels, patience_);
    };
    const Labelled whole = search_labels(group, trial, nullptr);
    record_.relax(group, whole.root, whole.states);
    add(whole, quest, turned, all);
    if (whole.result.stopped && quest.labels > 0 && !patience_.over()) {
      return false;
    }
    all.bound = whole.result.bound;
    all.stopped = whole.result.stopped;
    if (whole.is_open) {
      record_.searched(group, all);
    }
    return true;
  }
  // Counts what labels took, and goes on with what they found.
  static void add(const Labelled& labelled, exact::Quest& quest, Turned& turned,
                  exact::LabelResult& all) {
    const std::int64_t labels = labelled.result.expanded;
    all.expanded += labels;
    quest.labels -= std::min(quest.labels, labels);
    quest.known.insert(labelled.found);
    turned.found = std::min(turned.found, labelled.found);
    turned.taken = {turned.taken.expanded + labels, turned.taken.budget + labels};
  }

  const Mapspace& space_;
  const SearchOptions& options_;
  const Patience& patience_;
  std::vector<SharedBounds*> shared_;
  std::int64_t most_labels_;
  std::int64_t trial_labels_;
  bool find_incumbents_;
  std::int64_t charged_ = 0;  // to the budget, before any group is searched
  GroupRecord record_;
  branch::GroupSource source_;
  std::mutex mutex_;
  std::optional<Turns> turns_;       // of the groups of the source
  std::deque<Turns::Turn> waiting_;  // for a thread
  Caught caught_;
};

// The best mapping with perfect factors is one of the balanced space too, and known at once.
SearchResult with_perfect_factors(const Mapspace& space, SearchOptions options,
                                  const Patience& patience, std::int64_t labels) {
  Constraints constraints = space.constraints();
  constraints.factors = {};
  const Mapspace perfect{space.problem(), constraints};
  options.progress = nullptr;
  GroupSearch more;
  more.labels = labels;
  return search_groups(perfect, options, patience, more);
}

// As tasks, each of which makes those that come after it: they queue behind what the search makes
// meanwhile. The first step is done alone, then `chains` go on.
void do_beside(const std::function<bool()>& step, int chains, Caught& caught) {
#pragma omp task shared(step, caught) firstprivate(chains)
  caught.run([&] {
    const bool is_done = !step();
    for (int i = 0; i < chains && !is_done; ++i) {
      do_beside(step, 1, caught);
    }
  });
}

}  // namespace

SearchResult search_groups(const Mapspace& space, const SearchOptions& options,
                           const Patience& patience, const GroupSearch& more) {
  exact::refuse_what_is_not_proven(space, options.objective);
  std::optional<GroupSearch::Known> best = more.best;
  SearchResult perfect;
  if (space.constraints().factors.balanced && !best) {
    perfect = with_perfect_factors(space, options, patience, more.labels);
    if (perfect.cost && is_within_limits(options.objective, *perfect.cost)) {
      best = {&*perfect.best, &*perfect.cost,
              balanced::key_of_cost(options.objective, *perfect.cost)};
    }
  }
  std::optional<ExactSearch> search;
  Caught caught;
  // One thread makes tasks, the others of its team take them.
#pragma omp parallel num_threads(options.threads)
#pragma omp single
  {
    caught.run([&] {
      search.emplace(space, options, patience, more);
      search->charge(perfect.statistics.labels);
      if (best) {
        search->record().start_from(*best->mapping, *best->cost, best->key);
      }
    });
    if (more.beside) {
      do_beside(more.beside, options.threads, caught);
    }
    if (search) {
      caught.run([&] { search->start(); });
    }
  }
  caught.rethrow();
  SearchResult result = search->result();
  result.statistics.evaluations += perfect.statistics.evaluations;
  return result;
}

}  // namespace mapsim
