// SPDX-License-Identifier: Apache-2.0
#include "plan/at_once.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace mapsim {

namespace {

// The fastest way to the end of a block, by the place of its last tensor.
struct Reached {
  double value = kNever;
  double bound = kNever;
  std::size_t before = 0;     // place of the block's first tensor
  std::vector<Task> tasks{};  // of the block
};

std::size_t first_server(const std::vector<Server>& servers, std::size_t place) {
  return static_cast<std::size_t>(
      std::find_if(servers.begin(), servers.end(),
                   [place](const Server& each) { return each.place == place; }) -
      servers.begin());
}

class Joiner {
 public:
  Joiner(const PlanProblem& problem, const std::vector<Server>& servers, std::size_t most_nodes)
      : problem_{problem}, servers_{servers}, most_nodes_{most_nodes} {}

  std::optional<AtOnce> run() {
    found_.servers = servers_;
    std::vector<Reached> start(problem_.places);
    start.front().value = start.front().bound = 0;
    reached_.push_back(std::move(start));
    blocks_ = blocks_of(problem_);
    for (const PlanBlock& block : blocks_) {
      join(block);
    }
    const auto& ends = reached_.back();
    const auto best =
        std::min_element(ends.begin(), ends.end(),
                         [](const Reached& a, const Reached& b) { return a.value < b.value; });
    found_.bound = kNever;
    for (const Reached& each : ends) {
      found_.bound = std::min(found_.bound, each.bound);
    }
    found_.value = best->value;
    found_.blocks = blocks_.size();
    if (best->value == kNever) {
      return std::nullopt;
    }
    collect(static_cast<std::size_t>(best - ends.begin()));
    return std::move(found_);
  }

 private:
  void join(const PlanBlock& block) {
    std::vector<Reached> next(problem_.places);
    for (std::size_t from = 0; from < problem_.places; ++from) {
      const Reached& before = reached_.back()[from];
      if (before.bound == kNever) {
        continue;
      }
      const std::size_t in = block.in ? first_server(servers_, from) : 0;
      BlockAnswer answer = search_block(problem_, servers_, block, in, most_nodes_);
      found_.nodes += answer.nodes;
      for (std::size_t to = 0; to < problem_.places; ++to) {
        BlockEnd& end = answer.ends[to];
        Reached& at = next[to];
        at.bound = std::min(at.bound, before.bound + end.bound);
        if (before.value + end.value < at.value) {
          at.value = before.value + end.value;
          at.before = from;
          at.tasks = std::move(end.tasks);
        }
      }
    }
    reached_.push_back(std::move(next));
  }

  // Tasks of all blocks, each with the copies of engines that the blocks before have left its
  // first tensor on: blocks begin on the first copy.
  void collect(std::size_t place) {
    std::vector<std::size_t> places(blocks_.size() + 1, place);
    for (std::size_t b = blocks_.size(); b > 0; --b) {
      places[b - 1] = reached_[b][places[b]].before;
    }
    std::size_t copy = 0;  // that has the cut tensor
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const double start = reached_[b][places[b]].value;
      const std::size_t engine = servers_[first_server(servers_, places[b])].engine;
      const auto actual = [&](std::size_t server) {
        Server wanted = servers_[server];
        if (blocks_[b].in && wanted.engine == engine && (wanted.copy == 0 || wanted.copy == copy)) {
          wanted.copy = copy - wanted.copy;
        }
        return static_cast<std::size_t>(std::find_if(servers_.begin(), servers_.end(),
                                                     [&](const Server& each) {
                                                       return each.place == wanted.place &&
                                                              each.copy == wanted.copy;
                                                     }) -
                                        servers_.begin());
      };
      std::size_t next_copy = 0;
      for (Task task : reached_[b + 1][places[b + 1]].tasks) {
        task.server = actual(task.server);
        task.from = task.choice ? 0 : actual(task.from);
        task.start += start;
        task.finish += start;
        if (task.choice && blocks_[b].out) {
          const auto& writes = problem_.choices[*task.choice].writes;
          if (std::find(writes.begin(), writes.end(), *blocks_[b].out) != writes.end()) {
            next_copy = servers_[task.server].copy;
          }
        }
        found_.tasks.push_back(task);
      }
      copy = next_copy;
    }
    std::stable_sort(found_.tasks.begin(), found_.tasks.end(),
                     [](const Task& a, const Task& b) { return a.start < b.start; });
  }

  const PlanProblem& problem_;
  const std::vector<Server>& servers_;
  std::size_t most_nodes_;
  std::vector<PlanBlock> blocks_;
  std::vector<std::vector<Reached>> reached_;  // by position and place
  AtOnce found_;
};

// The move that brings a tensor to a server without a conversion, from where it is first.
std::optional<PlannedMove> plain_move(const PlanProblem& problem,
                                      const std::vector<Server>& servers, std::size_t tensor,
                                      std::size_t to, const std::map<std::size_t, double>& there) {
  std::optional<PlannedMove> best;
  for (const auto& [from, time] : there) {
    const auto& move =
        problem.tensors[tensor].moves[servers[from].place * problem.places + servers[to].place];
    if (may_pass(servers[from], servers[to]) && move && !move->engine &&
        (!best || time < best->start)) {
      best = PlannedMove{{tensor, servers[from].place, servers[to].place}, *move, time};
    }
  }
  return best;
}

}  // namespace

std::vector<Server> servers_of(const std::vector<std::size_t>& engine_of,
                               const std::vector<std::int64_t>& counts) {
  std::vector<std::size_t> first_clock;
  std::size_t clocks = 0;
  for (const std::int64_t count : counts) {
    first_clock.push_back(clocks);
    clocks += static_cast<std::size_t>(count);
  }
  std::vector<Server> servers;
  for (std::size_t place = 0; place < engine_of.size(); ++place) {
    const std::size_t engine = engine_of[place];
    for (std::size_t copy = 0; copy < static_cast<std::size_t>(counts[engine]); ++copy) {
      servers.push_back({place, engine, copy, first_clock[engine] + copy});
    }
  }
  return servers;
}

std::optional<AtOnce> schedule_at_once(const PlanProblem& problem,
                                       const std::vector<Server>& servers, std::size_t most_nodes) {
  return Joiner{problem, servers, most_nodes}.run();
}

Plan plan_of(const PlanProblem& problem, const AtOnce& schedule, std::size_t engines) {
  Plan plan;
  plan.busy.resize(engines);
  plan.total.latency = schedule.value;
  const auto run = [&plan](const Load& load) {
    plan.total.energy += load.energy;
    plan.total.bytes += load.bytes;
    if (load.engine) {
      plan.busy[*load.engine] += load.busy;
    }
  };
  std::map<std::pair<std::size_t, std::size_t>, PlannedMove> conversions;  // by tensor and server
  std::vector<std::map<std::size_t, double>> there(problem.tensors.size());
  for (const Task& task : schedule.tasks) {
    const Server& server = schedule.servers[task.server];
    if (!task.choice) {
      const std::size_t from = schedule.servers[task.from].place;
      const Load& load = *problem.tensors[task.tensor].moves[from * problem.places + server.place];
      conversions.insert(
          {{task.tensor, task.server}, {{task.tensor, from, server.place}, load, task.start}});
      continue;
    }
    const PlanProblem::Choice& choice = problem.choices[*task.choice];
    PlannedGroup group{*task.choice, server.place, {}, {}, task.start, server.copy};
    group.price.load = *choice.on[server.place];
    for (const std::size_t tensor : choice.reads) {
      if (there[tensor].contains(task.server)) {
        continue;
      }
      const auto at = conversions.find({tensor, task.server});
      const auto move = at != conversions.end() ? std::optional{at->second}
                                                : plain_move(problem, schedule.servers, tensor,
                                                             task.server, there[tensor]);
      if (move) {
        plan.moves_latency += move->load.latency;
        run(move->load);
        there[tensor][task.server] = move->start + move->load.latency;
        group.moves.push_back(*move);
      }
    }
    for (const std::size_t tensor : choice.writes) {
      there[tensor][task.server] = task.finish;
    }
    run(group.price.load);
    plan.groups.push_back(std::move(group));
  }
  return plan;
}

}  // namespace mapsim
