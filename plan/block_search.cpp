// SPDX-License-Identifier: Apache-2.0
#include "plan/block_search.hpp"

#include <algorithm>
#include <utility>

#include "plan/block_state.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kMostOperations = 64;  // of a block: bits of a word

using State = BlockState;
using Set = BlockState::Set;

struct BlockChoice {
  Task task;
  State node;
  double bound = 0;
};

class BlockSearch {
 public:
  BlockSearch(const PlanProblem& problem, const std::vector<Server>& servers,
              const PlanBlock& block, std::size_t most_nodes)
      : problem_{problem},
        servers_{servers},
        block_{block},
        most_nodes_{most_nodes},
        end_{end_of(problem)} {
    for (const Server& server : servers) {
      clocks_ = std::max(clocks_, server.clock + 1);
    }
    local_.resize(problem.tensors.size(), kNone);
    collect();
    set_tails();
    set_ways();
  }

  BlockAnswer run(std::size_t in) {
    answer_.ends.resize(problem_.places);
    limits_.assign(problem_.places, kNever);
    for (std::size_t place = 0; place < problem_.places; ++place) {
      limits_[place] = can_end(place) ? kNever : -kNever;
    }
    State root;
    root.free.assign(clocks_, 0);
    root.available.assign(tensors_.size() * servers_.size(), kNever);
    if (block_.in) {
      at(root, local_[*block_.in], in) = 0;
    }
    const double bound = bound_of(root);
    open_ = kNever;
    if (size() <= kMostOperations) {
      visit(root);
    } else {
      open_ = bound;
    }
    for (std::size_t place = 0; place < problem_.places; ++place) {
      BlockEnd& end = answer_.ends[place];
      end.bound = can_end(place) ? std::min(end.value, std::max(open_, bound)) : kNever;
    }
    if (problem_.searches) {
      ++problem_.searches->count;
      problem_.searches->ended_early += is_short_ ? 1 : 0;
      problem_.searches->take(peak_);
    }
    return std::move(answer_);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

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

  // The groups and tensors of the block.
  void collect() {
    const auto inside = [&](std::size_t i) { return block_.begin <= i && i < block_.end; };
    reads_.resize(size());
    may_run_.assign(size(), std::vector<bool>(problem_.places, false));
    instant_.resize(size());
    containing_.resize(size());
    for (std::size_t t = 0; t < problem_.tensors.size(); ++t) {
      const auto& readers = problem_.tensors[t].readers;
      if (std::none_of(readers.begin(), readers.end(), inside)) {
        continue;
      }
      local_[t] = tensors_.size();
      tensors_.push_back(t);
      for (const std::size_t reader : readers) {
        if (inside(reader)) {
          reads_[reader - block_.begin].push_back(local_[t]);
        }
      }
    }
    for (std::size_t c = 0; c < problem_.choices.size(); ++c) {
      const PlanProblem::Choice& choice = problem_.choices[c];
      if (!inside(choice.operations.front())) {
        continue;
      }
      Set set = 0;
      for (const std::size_t i : choice.operations) {
        set |= size() <= kMostOperations ? bit(i - block_.begin) : 0;
        containing_[i - block_.begin].push_back(choices_.size());
      }
      choices_.push_back(c);
      sets_.push_back(set);
      for (std::size_t place = 0; place < problem_.places; ++place) {
        for (const std::size_t i : choice.operations) {
          if (choice.on[place]) {
            may_run_[i - block_.begin][place] = true;
            instant_[i - block_.begin] =
                instant_[i - block_.begin] || choice.on[place]->latency == 0;
          }
        }
      }
    }
  }

  double fastest(const PlanProblem::Choice& choice) const {
    double least = kNever;
    for (const auto& load : choice.on) {
      least = load ? std::min(least, load->latency) : least;
    }
    return least;
  }

  // By operation: the least time from when it can start to the end of the block, and its least
  // share of work. What a group writes is read behind it; readers that stand in front of the
  // operation (of other siblings) are left out, which only lowers the bound.
  void set_tails() {
    tails_.assign(size(), 0);
    work_.assign(size(), 0);
    for (std::size_t i = size(); i-- > 0;) {
      double tail = kNever;
      double work = kNever;
      for (const std::size_t c : containing_[i]) {
        const PlanProblem::Choice& choice = problem_.choices[choices_[c]];
        double behind = 0;
        for (const std::size_t tensor : choice.writes) {
          for (const std::size_t reader : problem_.tensors[tensor].readers) {
            if (reader < block_.end && reader > block_.begin + i) {
              behind = std::max(behind, tails_[reader - block_.begin]);
            }
          }
        }
        tail = std::min(tail, fastest(choice) + behind);
        work = std::min(work, fastest(choice) / static_cast<double>(choice.operations.size()));
      }
      tails_[i] = tail;
      work_[i] = work;
    }
  }

  // By tensor and place: the least time of a move to it, from anywhere.
  void set_ways() {
    ways_.assign(tensors_.size() * problem_.places, kNever);
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
      for (std::size_t from = 0; from < problem_.places; ++from) {
        for (std::size_t to = 0; to < problem_.places; ++to) {
          const auto* load = move_of(tensors_[k], from, to);
          double& way = ways_[k * problem_.places + to];
          way = load != nullptr ? std::min(way, load->latency) : way;
        }
      }
    }
  }

  const Load* move_of(std::size_t tensor, std::size_t from, std::size_t to) const {
    const auto& moves = problem_.tensors[tensor].moves;
    const std::size_t index = from * problem_.places + to;
    return index < moves.size() && moves[index] ? &*moves[index] : nullptr;
  }

  const Load* move_between(std::size_t tensor, std::size_t from, std::size_t to) const {
    return may_pass(servers_[from], servers_[to])
               ? move_of(tensor, servers_[from].place, servers_[to].place)
               : nullptr;
  }

  bool can_end(std::size_t place) const {
    if (!block_.out) {
      return place == 0;
    }
    return std::any_of(choices_.begin(), choices_.end(), [&](std::size_t c) {
      const PlanProblem::Choice& choice = problem_.choices[c];
      return choice.on[place] && std::find(choice.writes.begin(), choice.writes.end(),
                                           *block_.out) != choice.writes.end();
    });
  }

  // The least time at which an operation can start, by what is known.
  double earliest(const State& node, std::size_t i) const {
    double least = kNever;
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      if (!may_run_[i][servers_[s].place]) {
        continue;
      }
      double start = instant_[i] ? 0 : node.free[servers_[s].clock];
      for (const std::size_t k : reads_[i]) {
        const double here = at(node, k, s);
        double any = kNever;
        for (std::size_t other = 0; other < servers_.size(); ++other) {
          any = std::min(any, at(node, k, other));
        }
        if (any < kNever) {  // it is made
          const double way = any + ways_[k * problem_.places + servers_[s].place];
          start = std::max(start, std::min(here, way));
        }
      }
      least = std::min(least, start);
    }
    return least;
  }

  double bound_of(const State& node) const {
    double bound = node.finish;
    double work = 0;
    for (const double free : node.free) {
      work += free;
    }
    for (std::size_t i = 0; i < size(); ++i) {
      if (size() > kMostOperations || (node.covered & bit(i)) == 0) {
        bound = std::max(bound, earliest(node, i) + tails_[i]);
        work += work_[i];
      }
    }
    return std::max(bound, work / static_cast<double>(clocks_));
  }

  double limit() const { return *std::max_element(limits_.begin(), limits_.end()); }

  void visit(const State& node) {
    if (node.covered == all()) {
      end(node);
      return;
    }
    ++answer_.nodes;
    if (is_over()) {
      open_ = std::min(open_, bound_of(node));
      return;
    }
    std::vector<BlockChoice> next = candidates(node);
    std::size_t bytes = 0;
    for (const BlockChoice& each : next) {
      bytes += sizeof(BlockChoice) +
               sizeof(double) * (each.node.free.size() + each.node.available.size());
    }
    take(bytes);
    std::sort(next.begin(), next.end(), [](const BlockChoice& a, const BlockChoice& b) {
      return std::pair{a.bound, a.task.finish} < std::pair{b.bound, b.task.finish};
    });
    for (const BlockChoice& each : next) {
      if (each.bound >= limit()) {
        break;
      }
      if (is_over()) {
        open_ = std::min(open_, each.bound);
      } else if (is_new(each.node)) {
        path_.push_back(each.task);
        visit(each.node);
        path_.pop_back();
      }
    }
    bytes_ -= bytes;
  }

  // Nodes are used up, or, once there is a schedule, memory or time.
  bool is_over() {
    if (problem_.searches) {
      problem_.searches->check_stop();
      is_short_ = is_short_ || (has_schedule_ && (bytes_ > problem_.searches->bytes ||
                                                  PlanSearches::Clock::now() >= end_));
    }
    return is_short_ || answer_.nodes > most_nodes_;
  }
  void take(std::size_t bytes) {
    bytes_ += bytes;
    peak_ = std::max(peak_, bytes_);
  }

  Set all() const { return size() == kMostOperations ? ~Set{0} : bit(size()) - 1; }

  void end(const State& node) {
    BlockEnd& end = answer_.ends[node.out];
    if (node.finish >= end.value) {
      return;
    }
    has_schedule_ = true;
    end.value = node.finish;
    end.tasks = path_;
    // As good as another end: the last tensor is made elsewhere and moved, with everything idle.
    for (std::size_t to = 0; to < problem_.places; ++to) {
      const Load* move = block_.out ? move_of(*block_.out, node.out, to) : nullptr;
      const double worth = to == node.out    ? node.finish
                           : move != nullptr ? node.finish + move->latency
                                             : kNever;
      limits_[to] = std::min(limits_[to], worth);
    }
  }

  // The same state as an earlier copy of the same engine: trying one of them is enough.
  bool is_symmetric(const State& node, std::size_t s) const {
    for (std::size_t other = 0; other < s; ++other) {
      if (servers_[other].place != servers_[s].place ||
          node.free[servers_[other].clock] != node.free[servers_[s].clock]) {
        continue;
      }
      bool same = true;
      for (std::size_t k = 0; k < tensors_.size() && same; ++k) {
        same = at(node, k, other) == at(node, k, s);
      }
      if (same) {
        return true;
      }
    }
    return false;
  }

  std::vector<BlockChoice> candidates(const State& node) const {
    std::vector<BlockChoice> found;
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      if (is_symmetric(node, s)) {
        continue;
      }
      for (std::size_t c = 0; c < choices_.size(); ++c) {
        add_group(node, c, s, found);
      }
      for (std::size_t k = 0; k < tensors_.size(); ++k) {
        add_conversions(node, k, s, found);
      }
    }
    return found;
  }

  void keep(BlockChoice&& candidate, std::vector<BlockChoice>& found) const {
    candidate.bound = bound_of(candidate.node);
    if (candidate.bound < limit()) {
      found.push_back(std::move(candidate));
    }
  }

  // When a server can read a tensor without a conversion; from where, if not its own.
  std::pair<double, std::size_t> readable(const State& node, std::size_t k, std::size_t s) const {
    std::pair<double, std::size_t> best{at(node, k, s), s};
    for (std::size_t from = 0; from < servers_.size(); ++from) {
      const Load* move = move_between(tensors_[k], from, s);
      if (move != nullptr && !move->engine && at(node, k, from) + move->latency < best.first) {
        best = {at(node, k, from) + move->latency, from};
      }
    }
    return best;
  }

  void add_group(const State& node, std::size_t c, std::size_t s,
                 std::vector<BlockChoice>& found) const {
    const PlanProblem::Choice& choice = problem_.choices[choices_[c]];
    const auto& load = choice.on[servers_[s].place];
    if (!load || (node.covered & sets_[c]) != 0) {
      return;
    }
    BlockChoice next{{choices_[c], s, 0, 0, 0, 0}, node, 0};
    double start = load->latency == 0 ? 0 : node.free[servers_[s].clock];
    for (const std::size_t tensor : choice.reads) {
      const auto [time, from] = readable(node, local_[tensor], s);
      if (time == kNever) {
        return;
      }
      at(next.node, local_[tensor], s) = std::min(at(next.node, local_[tensor], s), time);
      start = std::max(start, time);
    }
    next.task.start = start;
    next.task.finish = start + load->latency;
    next.node.covered |= sets_[c];
    if (load->latency > 0) {
      next.node.free[servers_[s].clock] = next.task.finish;
    }
    next.node.finish = std::max(node.finish, next.task.finish);
    for (const std::size_t tensor : choice.writes) {
      if (tensor == block_.out) {
        next.node.out = servers_[s].place;
      }
      if (local_[tensor] != kNone) {
        at(next.node, local_[tensor], s) = next.task.finish;
      }
    }
    forget_dead(next.node);
    keep(std::move(next), found);
  }

  void add_conversions(const State& node, std::size_t k, std::size_t s,
                       std::vector<BlockChoice>& found) const {
    const auto& readers = problem_.tensors[tensors_[k]].readers;
    const bool helps = std::any_of(readers.begin(), readers.end(), [&](std::size_t reader) {
      return block_.begin <= reader && reader < block_.end && !has_run(node, reader) &&
             may_run_[reader - block_.begin][servers_[s].place];
    });
    if (!helps || readable(node, k, s).first < kNever) {
      return;
    }
    for (std::size_t from = 0; from < servers_.size(); ++from) {
      const Load* move = move_between(tensors_[k], from, s);
      if (move == nullptr || !move->engine || at(node, k, from) == kNever) {
        continue;
      }
      BlockChoice next{{std::nullopt, s, tensors_[k], from, 0, 0}, node, 0};
      double& free = next.node.free[clock_of(*move->engine, from, s)];
      next.task.start = std::max(at(node, k, from), free);
      next.task.finish = next.task.start + move->latency;
      free = next.task.start + move->busy;
      at(next.node, k, s) = next.task.finish;
      keep(std::move(next), found);
    }
  }

  // The clock of the engine that converts: one of the two, else the first of its kind.
  std::size_t clock_of(std::size_t engine, std::size_t from, std::size_t to) const {
    for (const std::size_t s : {from, to}) {
      if (servers_[s].engine == engine) {
        return servers_[s].clock;
      }
    }
    return std::find_if(servers_.begin(), servers_.end(),
                        [engine](const Server& each) { return each.engine == engine; })
        ->clock;
  }

  void forget_dead(State& node) const {
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
      const auto& readers = problem_.tensors[tensors_[k]].readers;
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
  std::size_t most_nodes_;
  PlanSearches::Clock::time_point end_;
  std::size_t clocks_ = 0;
  std::vector<std::size_t> local_;                    // by tensor of the problem: of the block
  std::vector<std::size_t> tensors_;                  // by tensor of the block: of the problem
  std::vector<std::size_t> choices_;                  // of the block
  std::vector<Set> sets_;                             // their operations
  std::vector<std::vector<std::size_t>> reads_;       // by operation: tensors of the block
  std::vector<std::vector<std::size_t>> containing_;  // by operation: groups of the block
  std::vector<std::vector<bool>> may_run_;            // by operation and place
  std::vector<bool> instant_;                         // by operation: in a group without time
  std::vector<double> tails_, work_;                  // by operation
  std::vector<double> ways_;                          // by tensor of the block and place
  std::vector<double> limits_;                        // by place: what a block must be faster than
  std::vector<Task> path_;
  EarlierStates earlier_;
  double open_ = kNever;  // the least bound of what was not looked at
  std::size_t bytes_ = 0, peak_ = 0;
  bool is_short_ = false, has_schedule_ = false;
  BlockAnswer answer_;
};

}  // namespace

BlockAnswer search_block(const PlanProblem& problem, const std::vector<Server>& servers,
                         const PlanBlock& block, std::size_t in, std::size_t most_nodes) {
  return BlockSearch{problem, servers, block, most_nodes}.run(in);
}

}  // namespace mapsim
