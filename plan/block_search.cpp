// SPDX-License-Identifier: Apache-2.0
#include "plan/block_search.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "plan/block_bound.hpp"
#include "plan/block_state.hpp"

namespace mapsim {

namespace {

using State = BlockState;
using Set = BlockState::Set;

constexpr std::size_t kNoStep = std::numeric_limits<std::size_t>::max();

// A task, and the step in front of it.
struct Step {
  Task task;
  std::size_t before = kNoStep;
};

struct SearchNode {
  State state;
  std::vector<double> bounds;  // by place of the end
  Task task;                   // the last one
  std::size_t step = kNoStep;  // of the task
};

class BlockSearch {
 public:
  BlockSearch(const PlanProblem& problem, const std::vector<Server>& servers,
              const PlanBlock& block, std::size_t most_nodes, PlanSearches::Clock::time_point end)
      : problem_{problem},
        servers_{servers},
        block_{block},
        parts_{problem, block},
        bound_{problem, servers, block, parts_, [this] { return is_late(); }},
        most_nodes_{most_nodes},
        end_{end} {
    for (const Server& server : servers) {
      clocks_ = std::max(clocks_, server.clock + 1);
    }
    set_places();
    set_waits();
  }

  BlockAnswer run(std::size_t in, const std::vector<double>& limits) {
    answer_.ends.resize(problem_.places);
    limits_ = limits;
    for (std::size_t place = 0; place < problem_.places; ++place) {
      limits_[place] = can_end(place) ? limits[place] : -kNever;
      has_schedule_ = has_schedule_ || limits[place] < kNever;
    }
    State root;
    root.free.assign(clocks_, 0);
    root.available.assign(parts_.tensors.size() * servers_.size(), kNever);
    if (block_.in) {
      arrive(root, parts_.local[*block_.in], in, 0);
    }
    left_.assign(problem_.places, kNever);
    const std::vector<double> bounds = bound_.of(root, limits_);
    if (parts_.is_small()) {
      search({std::move(root), bounds, {}});
    } else {
      leave_open(bounds);
    }
    for (std::size_t place = 0; place < problem_.places; ++place) {
      BlockEnd& end = answer_.ends[place];
      end.bound = can_end(place) ? std::min({end.value, left_[place], limits[place]}) : kNever;
    }
    if (problem_.searches) {
      ++problem_.searches->count;
      problem_.searches->ended_early += is_short_ ? 1 : 0;
      problem_.searches->take(peak_);
    }
    return std::move(answer_);
  }

 private:
  std::size_t size() const { return block_.end - block_.begin; }
  double& at(State& node, std::size_t tensor, std::size_t server) const {
    return node.available[tensor * servers_.size() + server];
  }
  double at(const State& node, std::size_t tensor, std::size_t server) const {
    return node.available[tensor * servers_.size() + server];
  }
  static Set bit(std::size_t i) { return Set{1} << i; }
  bool has_run(const State& node, std::size_t operation) const {
    return (node.covered >> (operation - block_.begin) & 1) != 0;
  }

  // By operation and place: whether a group with it runs there.
  void set_places() {
    may_run_.assign(size(), std::vector<bool>(problem_.places, false));
    for (std::size_t i = 0; i < size(); ++i) {
      for (const std::size_t g : parts_.containing[i]) {
        for (std::size_t place = 0; place < problem_.places; ++place) {
          may_run_[i][place] = may_run_[i][place] || group(g).on[place].has_value();
        }
      }
    }
  }
  // By tensor, and the servers from and to: the least time until it can be read, without a
  // conversion.
  void set_waits() {
    const std::size_t n = servers_.size();
    for (const std::size_t tensor : parts_.tensors) {
      const std::size_t first = waits_.size();
      for (std::size_t from = 0; from < n; ++from) {
        for (std::size_t to = 0; to < n; ++to) {
          const Load* move = move_between(problem_, tensor, servers_[from], servers_[to]);
          waits_.push_back(from == to                         ? 0
                           : move != nullptr && !move->engine ? move->latency
                                                              : kNever);
        }
      }
      close_ways(&waits_[first], n);
    }
  }
  // A tensor comes to a server, and to those that need no conversion.
  void arrive(State& state, std::size_t tensor, std::size_t server, double time) const {
    const std::size_t n = servers_.size();
    const double* waits = &waits_[(tensor * n + server) * n];
    for (std::size_t to = 0; to < n; ++to) {
      double& there = at(state, tensor, to);
      there = std::min(there, time + waits[to]);
    }
  }
  const PlanProblem::Choice& group(std::size_t g) const {
    return problem_.choices[parts_.choices[g]];
  }

  bool can_end(std::size_t place) const {
    if (!block_.out) {
      return place == 0;
    }
    return std::any_of(parts_.choices.begin(), parts_.choices.end(), [&](std::size_t c) {
      const PlanProblem::Choice& choice = problem_.choices[c];
      return choice.on[place] && std::find(choice.writes.begin(), choice.writes.end(),
                                           *block_.out) != choice.writes.end();
    });
  }

  // Whether a schedule may be better than what is known, at some end.
  bool is_promising(const std::vector<double>& bounds) const {
    return !std::equal(bounds.begin(), bounds.end(), limits_.begin(), std::greater_equal{});
  }

  void leave_open(const std::vector<double>& bounds) {
    for (std::size_t place = 0; place < problem_.places; ++place) {
      if (bounds[place] < limits_[place]) {
        left_[place] = std::min(left_[place], bounds[place]);
      }
    }
  }

  // How much later than the limit a node ends at least: the most promising ones have least.
  double lateness(const SearchNode& node) const {
    double least = kNever;
    for (std::size_t place = 0; place < problem_.places; ++place) {
      const double limit = limits_[place];
      const double late = limit < kNever ? node.bounds[place] - limit : node.bounds[place];
      least = limit > -kNever ? std::min(least, late) : least;
    }
    return least;
  }

  // The most promising node first; from there straight on to an end, so that schedules are found.
  void search(SearchNode&& root) {
    keep_open(std::move(root));
    while (!open_.empty() && !is_over()) {
      SearchNode node = std::move(open_.begin()->second);
      open_.erase(open_.begin());
      bytes_ -= bytes_of(node);
      for (std::optional<SearchNode> next{std::move(node)}; next;) {
        next = expand(*next);
      }
    }
    for (const auto& [late, node] : open_) {
      leave_open(node.bounds);
    }
  }

  // Keeps what may follow a node open, but for the most promising, which is returned.
  std::optional<SearchNode> expand(const SearchNode& node) {
    if (!is_promising(node.bounds)) {
      return std::nullopt;
    }
    if (node.state.covered == parts_.all()) {
      end(node);
      return std::nullopt;
    }
    if (is_over()) {
      leave_open(node.bounds);
      return std::nullopt;
    }
    ++answer_.nodes;
    std::vector<SearchNode> next = candidates(node);
    std::erase_if(next, [this](const SearchNode& each) { return !is_new(each.state); });
    const auto best = std::min_element(
        next.begin(), next.end(), [this](const SearchNode& a, const SearchNode& b) {
          return std::pair{lateness(a), a.task.finish} < std::pair{lateness(b), b.task.finish};
        });
    std::optional<SearchNode> found;
    for (auto each = next.begin(); each != next.end(); ++each) {
      steps_.push_back({each->task, node.step});
      each->step = steps_.size() - 1;
      if (each == best) {
        found = std::move(*each);
      } else {
        keep_open(std::move(*each));
      }
    }
    return found;
  }

  static std::size_t bytes_of(const SearchNode& node) {
    constexpr std::size_t kOfTree = 48;  // a node of the map
    return kOfTree + sizeof(SearchNode) + sizeof(Step) +
           sizeof(double) *
               (node.bounds.size() + node.state.free.size() + node.state.available.size());
  }
  void keep_open(SearchNode&& node) {
    take(bytes_of(node));
    const double late = lateness(node);
    open_.emplace(late, std::move(node));
  }

  bool is_late() const { return problem_.searches && PlanSearches::Clock::now() >= end_; }

  // Nodes are used up, or, once there is a schedule, memory or time.
  bool is_over() {
    if (problem_.searches) {
      problem_.searches->check_stop();
      is_short_ = is_short_ || (has_schedule_ && (bytes_ > problem_.searches->bytes || is_late()));
    }
    return is_short_ || answer_.nodes > most_nodes_;
  }
  void take(std::size_t bytes) {
    bytes_ += bytes;
    peak_ = std::max(peak_, bytes_);
  }

  void end(const SearchNode& last) {
    const State& node = last.state;
    BlockEnd& end = answer_.ends[node.out];
    if (node.finish >= end.value) {
      return;
    }
    has_schedule_ = true;
    end.value = node.finish;
    end.tasks.clear();
    for (std::size_t step = last.step; step != kNoStep; step = steps_[step].before) {
      end.tasks.push_back(steps_[step].task);
    }
    std::reverse(end.tasks.begin(), end.tasks.end());
    // As good as another end: the last tensor is made elsewhere, and the next block begins with the
    // move, with everything idle (an engine converts no longer than the move takes).
    for (std::size_t to = 0; to < problem_.places; ++to) {
      const Load* move = block_.out ? move_of(problem_, *block_.out, node.out, to) : nullptr;
      const double worth = to == node.out    ? node.finish
                           : move != nullptr ? node.finish + move->latency
                                             : kNever;
      limits_[to] = std::min(limits_[to], worth);
    }
  }

  // The same state as an earlier copy of the same engine, at all of its places: trying one of them
  // is enough.
  bool is_symmetric(const State& node, std::size_t s) const {
    for (std::size_t other = 0; other < s; ++other) {
      if (servers_[other].place == servers_[s].place &&
          node.free[servers_[other].clock] == node.free[servers_[s].clock] &&
          has_same(node, servers_[other], servers_[s])) {
        return true;
      }
    }
    return false;
  }
  // Whether two copies of an engine can read the same tensors at the same times.
  bool has_same(const State& node, const Server& one, const Server& other) const {
    for (std::size_t a = 0; a < servers_.size(); ++a) {
      for (std::size_t b = 0; b < servers_.size() && servers_[a].clock == one.clock; ++b) {
        const bool is_twin =
            servers_[b].clock == other.clock && servers_[b].place == servers_[a].place;
        for (std::size_t k = 0; k < parts_.tensors.size() && is_twin; ++k) {
          if (at(node, k, a) != at(node, k, b)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  std::vector<SearchNode> candidates(const SearchNode& last) {
    const State& node = last.state;
    std::vector<SearchNode> found;
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      if (is_symmetric(node, s)) {
        continue;
      }
      for (std::size_t c = 0; c < parts_.choices.size(); ++c) {
        add_group(node, c, s, found);
      }
      for (std::size_t k = 0; k < parts_.tensors.size(); ++k) {
        add_conversions(node, k, s, found);
      }
    }
    return found;
  }

  void keep(SearchNode&& candidate, std::vector<SearchNode>& found) {
    State& node = candidate.state;
    if (candidate.task.start < node.now) {
      return;  // has been appended earlier
    }
    node.now = candidate.task.start;
    for (double& free : node.free) {
      free = std::max(free, node.now);
    }
    // Whether it was free, or a tensor there, before now makes no difference: states are compared.
    for (std::size_t v = 0; v < node.available.size(); ++v) {
      node.available[v] = std::max(node.available[v], node.now);
    }
    candidate.bounds = bound_.of(node, limits_);
    if (is_promising(candidate.bounds)) {
      found.push_back(std::move(candidate));
    }
  }

  void add_group(const State& node, std::size_t c, std::size_t s, std::vector<SearchNode>& found) {
    const PlanProblem::Choice& choice = problem_.choices[parts_.choices[c]];
    const auto& load = choice.on[servers_[s].place];
    if (!load || (node.covered & parts_.sets[c]) != 0) {
      return;
    }
    SearchNode next{node, {}, {parts_.choices[c], s, 0, 0, 0, 0, servers_[s].clock}};
    double start = load->latency == 0 ? 0 : node.free[servers_[s].clock];
    for (const std::size_t tensor : choice.reads) {
      const double time = at(node, parts_.local[tensor], s);
      if (time == kNever) {
        return;
      }
      start = std::max(start, time);
    }
    next.task.start = start;
    next.task.finish = start + load->latency;
    next.state.covered |= parts_.sets[c];
    if (load->latency > 0) {
      next.state.free[servers_[s].clock] = next.task.finish;
    }
    next.state.finish = std::max(node.finish, next.task.finish);
    for (const std::size_t tensor : choice.writes) {
      if (tensor == block_.out) {
        next.state.out = servers_[s].place;
      }
      if (parts_.local[tensor] != BlockParts::kNone) {
        arrive(next.state, parts_.local[tensor], s, next.task.finish);
      }
    }
    forget_dead(next.state);
    keep(std::move(next), found);
  }

  // Whether a tensor at a server may be read there, or goes on to where it may.
  bool is_wanted(const State& node, std::size_t k, std::size_t s) const {
    const auto& readers = problem_.tensors[parts_.tensors[k]].readers;
    return std::any_of(readers.begin(), readers.end(), [&](std::size_t reader) {
      if (reader < block_.begin || reader >= block_.end || has_run(node, reader)) {
        return false;
      }
      for (std::size_t to = 0; to < servers_.size(); ++to) {
        if (may_run_[reader - block_.begin][servers_[to].place] && bound_.way(k, s, to) < kNever) {
          return true;
        }
      }
      return false;
    });
  }

  void add_conversions(const State& node, std::size_t k, std::size_t s,
                       std::vector<SearchNode>& found) {
    if (!is_wanted(node, k, s)) {
      return;
    }
    for (std::size_t from = 0; from < servers_.size(); ++from) {
      const Load* move = move_between(problem_, parts_.tensors[k], servers_[from], servers_[s]);
      if (move == nullptr || !move->engine || at(node, k, from) == kNever) {
        continue;
      }
      for (const std::size_t clock : converting_clocks(servers_, *move->engine, from, s)) {
        SearchNode next{node, {}, {std::nullopt, s, parts_.tensors[k], from, 0, 0, clock}};
        double& free = next.state.free[clock];
        next.task.start = std::max(at(node, k, from), free);
        next.task.finish = next.task.start + move->latency;
        free = next.task.start + move->busy;
        if (next.task.finish < at(node, k, s)) {
          arrive(next.state, k, s, next.task.finish);
          keep(std::move(next), found);
        }
      }
    }
  }

  void forget_dead(State& node) const {
    for (std::size_t k = 0; k < parts_.tensors.size(); ++k) {
      const auto& readers = problem_.tensors[parts_.tensors[k]].readers;
      if (std::all_of(readers.begin(), readers.end(), [&](std::size_t reader) {
            return reader < block_.begin || reader >= block_.end || has_run(node, reader);
          })) {
        for (std::size_t s = 0; s < servers_.size(); ++s) {
          at(node, k, s) = kNever;
        }
      }
    }
  }

  // Whether no node has come that had run the same, with everything there as early.
  bool is_new(const State& node) {
    const std::size_t bytes = earlier_.add(node);
    take(bytes);
    return bytes > 0;
  }

  const PlanProblem& problem_;
  const std::vector<Server>& servers_;
  const PlanBlock& block_;
  BlockParts parts_;
  BlockBound bound_;
  std::size_t most_nodes_;
  PlanSearches::Clock::time_point end_;
  std::size_t clocks_ = 0;
  std::vector<std::vector<bool>> may_run_;  // by operation and place
  std::vector<double> waits_;               // by tensor, and the servers from and to
  std::vector<double> limits_;              // by place: what a block must be faster than
  EarlierStates earlier_;
  std::multimap<double, SearchNode> open_;  // by lateness
  std::vector<Step> steps_;
  std::vector<double> left_;  // by place of the end: the least bound of what was left open
  std::size_t bytes_ = 0, peak_ = 0;
  bool is_short_ = false, has_schedule_ = false;
  BlockAnswer answer_;
};

}  // namespace

BlockAnswer search_block(const PlanProblem& problem, const std::vector<Server>& servers,
                         const PlanBlock& block, std::size_t in, const std::vector<double>& limits,
                         std::size_t most_nodes, PlanSearches::Clock::time_point end) {
  return BlockSearch{problem, servers, block, most_nodes, end}.run(in, limits);
}

}  // namespace mapsim
