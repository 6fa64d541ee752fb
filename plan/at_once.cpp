// SPDX-License-Identifier: Apache-2.0
#include "plan/at_once.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace mapsim {

namespace {

template <typename Test>
std::size_t first_server(const std::vector<Server>& servers, const Test& test) {
  return static_cast<std::size_t>(std::find_if(servers.begin(), servers.end(), test) -
                                  servers.begin());
}
std::size_t first_at(const std::vector<Server>& servers, std::size_t place) {
  return first_server(servers, [place](const Server& each) { return each.place == place; });
}

// How a tensor came to servers: where it was made, and by which moves it went on.
class Arrivals {
 public:
  Arrivals(const PlanProblem& problem, const std::vector<Server>& servers)
      : problem_{problem}, servers_{servers} {}

  // What a task does; of a group, the moves that it needs, but for those of groups before.
  void add(const Task& task, std::vector<PlannedMove>& moves) {
    if (!task.choice) {
      convert(task);
      return;
    }
    const PlanProblem::Choice& choice = problem_.choices[*task.choice];
    for (const std::size_t tensor : choice.reads) {
      take(tensor, task.server, moves);
    }
    for (const std::size_t tensor : choice.writes) {
      arrive(tensor, task.server, {task.finish, std::nullopt, 0, true});
    }
  }
  // Whether a group needs a conversion.
  bool is_taken(const Task& task) const {
    return taken_.contains({task.tensor, task.server, task.start});
  }

 private:
  struct Arrival {
    double time = 0;
    std::optional<PlannedMove> move{};
    std::size_t from = 0;  // server
    bool is_taken = false;
  };

  void convert(const Task& task) {
    const std::size_t from = servers_[task.from].place, to = servers_[task.server].place;
    const Load* load = move_of(problem_, task.tensor, from, to);
    arrive(
        task.tensor, task.server,
        {task.finish, PlannedMove{{task.tensor, from, to}, *load, task.start}, task.from, false});
  }
  void take(std::size_t tensor, std::size_t server, std::vector<PlannedMove>& moves) {
    Arrival& there = there_.at({tensor, server});
    if (!there.is_taken) {
      there.is_taken = true;
      take(tensor, there.from, moves);
      moves.push_back(*there.move);
      taken_.insert({tensor, server, there.move->start});
    }
  }

  // Where nothing needs to be converted, a tensor goes on after a wait.
  void arrive(std::size_t tensor, std::size_t server, Arrival&& arrival) {
    const auto known = there_.find({tensor, server});
    if (known != there_.end() && known->second.time <= arrival.time) {
      return;
    }
    const double time = arrival.time;
    there_.insert_or_assign({tensor, server}, std::move(arrival));
    for (std::size_t to = 0; to < servers_.size(); ++to) {
      const Load* wait = move_between(problem_, tensor, servers_[server], servers_[to]);
      if (wait != nullptr && !wait->engine) {
        const PlannedMove move{{tensor, servers_[server].place, servers_[to].place}, *wait, time};
        arrive(tensor, to, {time + wait->latency, move, server, false});
      }
    }
  }

  const PlanProblem& problem_;
  const std::vector<Server>& servers_;
  std::map<std::pair<std::size_t, std::size_t>, Arrival> there_;  // by tensor and server
  std::set<std::tuple<std::size_t, std::size_t, double>> taken_;  // tensor, server, start
};

// Blocks, searched in rounds of more and more nodes, and joined by the places of the cut tensors
// between them. A round searches only what can still be part of a schedule that is faster than the
// best that is known: the other blocks take their bounds at least.
class Joiner {
 public:
  Joiner(const PlanProblem& problem, const std::vector<Server>& servers, double known,
         std::size_t most_nodes)
      : problem_{problem},
        servers_{servers},
        known_{known},
        most_nodes_{most_nodes},
        end_{end_of(problem)},
        blocks_{blocks_of(problem)},
        ends_(blocks_.size(),
              std::vector(problem.places,
                          std::vector(problem.places, BlockEnd{.value = kNever, .bound = 0}))) {}

  AtOnce run() {
    constexpr std::size_t kFirst = 100, kFactor = 10;
    const std::size_t most = std::max<std::size_t>(1, most_nodes_ / problem_.places);
    bool goes_on = true;
    for (std::size_t nodes = std::min(kFirst, most); goes_on; nodes *= kFactor) {
      nodes = std::min(nodes, most);
      goes_on = search_all(nodes) && nodes < most &&
                (!problem_.searches || PlanSearches::Clock::now() < end_);
    }
    found_.servers = servers_;
    found_.blocks = blocks_.size();
    found_.value = from_start(&BlockEnd::value).back().least();
    found_.bound =
        std::min(from_start(&BlockEnd::bound).back().least(), std::min(known_, found_.value));
    if (found_.value < kNever) {
      collect();
    }
    return std::move(found_);
  }

 private:
  // The least to every cut tensor, by its place.
  struct Least {
    std::vector<double> value;
    std::vector<std::size_t> before;  // place of the cut tensor before it
    double least() const { return *std::min_element(value.begin(), value.end()); }
  };
  std::vector<Least> from_start(double BlockEnd::* part) const {
    std::vector<Least> found(blocks_.size() + 1, {std::vector<double>(problem_.places, kNever),
                                                  std::vector<std::size_t>(problem_.places, 0)});
    found.front().value.front() = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (std::size_t in = 0; in < problem_.places; ++in) {
        for (std::size_t out = 0; out < problem_.places; ++out) {
          const double value = found[b].value[in] + ends_[b][in][out].*part;
          if (value < found[b + 1].value[out]) {
            found[b + 1].value[out] = value;
            found[b + 1].before[out] = in;
          }
        }
      }
    }
    return found;
  }
  // The least from every cut tensor to the end, by its place.
  std::vector<std::vector<double>> bounds_to_end() const {
    std::vector<std::vector<double>> least(blocks_.size() + 1,
                                           std::vector<double>(problem_.places, kNever));
    least.back().assign(problem_.places, 0);
    for (std::size_t b = blocks_.size(); b-- > 0;) {
      for (std::size_t in = 0; in < problem_.places; ++in) {
        for (std::size_t out = 0; out < problem_.places; ++out) {
          least[b][in] = std::min(least[b][in], ends_[b][in][out].bound + least[b + 1][out]);
        }
      }
    }
    return least;
  }

  // Whether anything was left open.
  bool search_all(std::size_t nodes) {
    bool is_open = false;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (std::size_t in = 0; in < problem_.places; ++in) {
        is_open = search(b, in, nodes) || is_open;
      }
    }
    return is_open;
  }

  // Searches a block, from this place on, for what may be part of a better schedule than is known;
  // whether anything is left open.
  bool search(std::size_t b, std::size_t in, std::size_t nodes) {
    const std::vector<double> limits = limits_of(b, in);
    if (!is_open(b, in, limits)) {
      return false;
    }
    const std::size_t server = blocks_[b].in ? first_at(servers_, in) : 0;
    BlockAnswer answer = search_block(problem_, servers_, blocks_[b], server, limits, nodes, end_);
    found_.nodes += answer.nodes;
    for (std::size_t out = 0; out < problem_.places; ++out) {
      BlockEnd& end = ends_[b][in][out];
      BlockEnd& now = answer.ends[out];
      end.bound = std::max(end.bound, now.bound);
      if (now.value < end.value) {
        end.value = now.value;
        end.tasks = std::move(now.tasks);
      }
    }
    return is_open(b, in, limits);
  }

  // By place of the block's end: what a better schedule falls short of.
  std::vector<double> limits_of(std::size_t b, std::size_t in) const {
    const double before = from_start(&BlockEnd::bound)[b].value[in];
    const std::vector<double> behind = bounds_to_end()[b + 1];
    const double best = std::min(known_, from_start(&BlockEnd::value).back().least());
    std::vector<double> limits(problem_.places, -kNever);
    for (std::size_t out = 0; out < problem_.places && before < kNever; ++out) {
      if (behind[out] < kNever) {
        limits[out] = std::min(ends_[b][in][out].value, best - before - behind[out]);
      }
    }
    return limits;
  }
  bool is_open(std::size_t b, std::size_t in, const std::vector<double>& limits) const {
    return !std::equal(limits.begin(), limits.end(), ends_[b][in].begin(),
                       [](double limit, const BlockEnd& end) { return end.bound >= limit; });
  }

  std::size_t server_of(std::size_t clock) const {
    return first_server(servers_, [clock](const Server& each) { return each.clock == clock; });
  }

  // Tasks of all blocks, each with the copies of engines that the blocks before have left its
  // first tensor on: blocks begin on the first copy.
  void collect() {
    const std::vector<Least> reached = from_start(&BlockEnd::value);
    const auto& last = reached.back().value;
    std::vector<std::size_t> places(blocks_.size() + 1);
    places.back() =
        static_cast<std::size_t>(std::min_element(last.begin(), last.end()) - last.begin());
    for (std::size_t b = blocks_.size(); b > 0; --b) {
      places[b - 1] = reached[b].before[places[b]];
    }
    std::size_t copy = 0;  // that has the cut tensor
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const double start = reached[b].value[places[b]];
      const std::size_t engine = servers_[first_at(servers_, places[b])].engine;
      const auto actual = [&](std::size_t server) {
        Server wanted = servers_[server];
        if (blocks_[b].in && wanted.engine == engine && (wanted.copy == 0 || wanted.copy == copy)) {
          wanted.copy = copy - wanted.copy;
        }
        return first_server(servers_, [&wanted](const Server& each) {
          return each.place == wanted.place && each.copy == wanted.copy;
        });
      };
      std::size_t next_copy = 0;
      for (Task task : ends_[b][places[b]][places[b + 1]].tasks) {
        task.clock = servers_[actual(server_of(task.clock))].clock;
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
    drop_idle_conversions();
  }

  // Conversions that no group needs may end behind their block.
  void drop_idle_conversions() {
    Arrivals arrivals{problem_, servers_};
    std::vector<PlannedMove> moves;
    for (const Task& task : found_.tasks) {
      arrivals.add(task, moves);
    }
    std::erase_if(found_.tasks,
                  [&](const Task& task) { return !task.choice && !arrivals.is_taken(task); });
  }

  const PlanProblem& problem_;
  const std::vector<Server>& servers_;
  double known_;
  std::size_t most_nodes_;
  PlanSearches::Clock::time_point end_;  // of all searches
  std::vector<PlanBlock> blocks_;
  std::vector<std::vector<std::vector<BlockEnd>>> ends_;  // by block, and its places
  AtOnce found_;
};

}  // namespace

AtOnce schedule_at_once(const PlanProblem& problem, const std::vector<Server>& servers,
                        std::size_t most_nodes, double known) {
  return Joiner{problem, servers, known, most_nodes}.run();
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
  Arrivals arrivals{problem, schedule.servers};
  for (const Task& task : schedule.tasks) {
    if (!task.choice) {
      std::vector<PlannedMove> none;
      arrivals.add(task, none);
      continue;
    }
    const Server& server = schedule.servers[task.server];
    const PlanProblem::Choice& choice = problem.choices[*task.choice];
    PlannedGroup group{*task.choice, server.place, {}, {}, task.start, server.copy};
    group.price.load = *choice.on[server.place];
    arrivals.add(task, group.moves);
    for (const PlannedMove& move : group.moves) {
      plan.moves_latency += move.load.latency;
      run(move.load);
    }
    run(group.price.load);
    plan.groups.push_back(std::move(group));
  }
  return plan;
}

}  // namespace mapsim
