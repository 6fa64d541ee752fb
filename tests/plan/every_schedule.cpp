// SPDX-License-Identifier: Apache-2.0
#include "tests/plan/every_schedule.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "plan/block_parts.hpp"

namespace mapsim {

namespace {

// Conversions on any engine, waits, and with more than two places some that are missing.
void add_moves(PlanProblem& problem, Rng& rng) {
  const auto time = [&rng](std::int64_t least) {
    return static_cast<double>(rng.between(least, 20));
  };
  const std::size_t places = problem.places;
  for (PlanProblem::Tensor& tensor : problem.tensors) {
    tensor.moves.assign(places * places, Load{});
    for (std::size_t m = 0; m < tensor.moves.size(); ++m) {
      if (m % (places + 1) > 0 && places > 2 && rng.below(4) == 0) {
        tensor.moves[m] = std::nullopt;
      } else if (m % (places + 1) > 0) {  // to another place
        const double busy = time(1);
        tensor.moves[m] = rng.below(2) == 0
                              ? Load{busy + time(0), 0, 0, rng.below(problem.engines), busy}
                              : Load{time(0), 0, 0, {}, 0};
      }
    }
  }
}

class EverySchedule {
 public:
  EverySchedule(const PlanProblem& problem, const std::vector<Server>& servers)
      : problem_{problem}, servers_{servers} {
    for (const Server& server : servers) {
      free_.resize(std::max(free_.size(), server.clock + 1), 0);
    }
    there_.assign(problem.tensors.size(), std::vector<double>(servers.size(), kNever));
    done_.resize(problem.operations);
  }
  double best() {
    next(0);
    return best_;
  }

 private:
  void next(double finish) {
    if (std::find(done_.begin(), done_.end(), false) == done_.end()) {
      best_ = std::min(best_, finish);
      return;
    }
    if (finish >= best_) {
      return;  // only later
    }
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      for (const PlanProblem::Choice& choice : problem_.choices) {
        run(choice, s, finish);
      }
      for (std::size_t t = 0; t < there_.size(); ++t) {
        convert(t, s, finish);
      }
    }
  }

  const Load* move(std::size_t tensor, std::size_t from, std::size_t to) const {
    const auto& load =
        problem_.tensors[tensor].moves[servers_[from].place * problem_.places + servers_[to].place];
    const bool is_one_copy =
        servers_[from].engine != servers_[to].engine || servers_[from].copy == servers_[to].copy;
    return servers_[from].place != servers_[to].place && is_one_copy && load ? &*load : nullptr;
  }

  // Where nothing needs to be converted, a tensor is there after a wait.
  void arrive(std::size_t tensor, std::size_t s, double time) {
    if (time >= there_[tensor][s]) {
      return;
    }
    there_[tensor][s] = time;
    for (std::size_t to = 0; to < servers_.size(); ++to) {
      const Load* way = move(tensor, s, to);
      if (way != nullptr && !way->engine) {
        arrive(tensor, to, time + way->latency);
      }
    }
  }

  void run(const PlanProblem::Choice& choice, std::size_t s, double finish) {
    const auto& load = choice.on[servers_[s].place];
    if (!load || std::any_of(choice.operations.begin(), choice.operations.end(),
                             [this](std::size_t i) { return done_[i]; })) {
      return;
    }
    double start = load->latency > 0 ? free_[servers_[s].clock] : 0;
    for (const std::size_t t : choice.reads) {
      start = std::max(start, there_[t][s]);
    }
    if (start == kNever) {
      return;
    }
    const auto before = std::tuple{free_, there_, done_};
    const double end = start + load->latency;
    free_[servers_[s].clock] = load->latency > 0 ? end : free_[servers_[s].clock];
    for (const std::size_t i : choice.operations) {
      done_[i] = true;
    }
    for (const std::size_t t : choice.writes) {
      arrive(t, s, end);
    }
    next(std::max(finish, end));
    std::tie(free_, there_, done_) = before;
  }

  void convert(std::size_t t, std::size_t s, double finish) {
    for (std::size_t from = 0; from < servers_.size(); ++from) {
      const Load* way = move(t, from, s);
      if (way == nullptr || !way->engine || there_[t][from] == kNever) {
        continue;
      }
      // One of both servers converts, if it is of that engine, else any that is.
      const bool is_from = servers_[from].engine == way->engine;
      const bool is_to = servers_[s].engine == way->engine;
      std::set<std::size_t> clocks;
      for (const Server& each : servers_) {
        const bool is_other = !is_from && !is_to && each.engine == way->engine;
        if (is_other || (is_from && each.clock == servers_[from].clock) ||
            (!is_from && is_to && each.clock == servers_[s].clock)) {
          clocks.insert(each.clock);
        }
      }
      for (const std::size_t clock : clocks) {
        const double start = std::max(there_[t][from], free_[clock]);
        if (start + way->latency < there_[t][s]) {
          const auto before = std::tuple{free_, there_, done_};
          free_[clock] = start + way->busy;
          arrive(t, s, start + way->latency);
          next(finish);
          std::tie(free_, there_, done_) = before;
        }
      }
    }
  }

  const PlanProblem& problem_;
  const std::vector<Server>& servers_;
  std::vector<double> free_;
  std::vector<std::vector<double>> there_;
  std::vector<bool> done_;
  double best_ = kNever;
};

}  // namespace

PlanProblem random_graph_problem(Rng& rng, const std::vector<std::size_t>& engine_of,
                                 std::size_t at_least) {
  PlanProblem problem;
  problem.operations = static_cast<std::size_t>(rng.between(3, rng.below(8) == 0 ? 5 : 4));
  problem.operations = std::max(problem.operations, at_least);
  const std::size_t places = engine_of.size();
  problem.places = places;
  problem.engines = 1 + *std::max_element(engine_of.begin(), engine_of.end());
  problem.tensors.resize(problem.operations);
  const auto time = [&rng](std::int64_t least) {
    return static_cast<double>(rng.between(least, 20));
  };
  const auto group = [&](std::vector<std::size_t> operations, std::vector<std::size_t> reads,
                         std::vector<std::size_t> writes) {
    PlanProblem::Choice choice{
        operations, operations.back(), std::move(reads), std::move(writes), {}};
    for (std::size_t e = 0; e < problem.places; ++e) {
      const double latency = time(rng.below(8) == 0 ? 0 : 1);
      choice.on.push_back(rng.below(6) == 0
                              ? std::nullopt
                              : std::optional{Load{latency, 0, 0, engine_of[e], latency}});
    }
    problem.choices.push_back(std::move(choice));
  };
  std::vector<std::vector<std::size_t>> reads(problem.operations);
  for (std::size_t i = 0; i < problem.operations; ++i) {
    for (std::size_t from = i; from-- > 0 && reads[i].size() < 2;) {
      if (rng.below(2) == 0 || (from + 1 == i && rng.below(3) > 0)) {
        reads[i].push_back(from);
        problem.tensors[from].readers.push_back(i);
      }
    }
    group({i}, reads[i], {i});
  }
  for (std::size_t i = 0; i + 1 < problem.operations; ++i) {
    const bool alone = problem.tensors[i].readers == std::vector{i + 1};
    if (alone && rng.below(2) == 0) {
      std::vector<std::size_t> all = reads[i];
      for (const std::size_t t : reads[i + 1]) {
        if (t != i && std::find(all.begin(), all.end(), t) == all.end()) {
          all.push_back(t);
        }
      }
      group({i, i + 1}, all, {i + 1});
    }
  }
  add_moves(problem, rng);
  return problem;
}

const std::vector<std::vector<std::size_t>> kEnginesOf{{0, 1}, {0, 1, 0}, {0, 1, 1}, {0, 1, 2}};

std::vector<Server> random_servers(const PlanProblem& problem,
                                   const std::vector<std::size_t>& engine_of, Rng& rng) {
  std::vector<std::int64_t> counts(problem.engines, 1);
  if (problem.operations < 4) {
    counts[1] = rng.between(1, 2);
  }
  return servers_of(engine_of, counts);
}

double best_of_all_schedules(const PlanProblem& problem, const std::vector<Server>& servers) {
  return EverySchedule{problem, servers}.best();
}

std::optional<ComparedSchedules> compared_schedules(std::uint64_t seed) {
  Rng rng{seed};
  ComparedSchedules random;
  random.engine_of = kEnginesOf[seed % kEnginesOf.size()];
  random.problem = random_graph_problem(rng, random.engine_of);
  if (random.problem.places > 2 && random.problem.operations > 4) {
    return std::nullopt;
  }
  random.servers = random_servers(random.problem, random.engine_of, rng);
  random.best = best_of_all_schedules(random.problem, random.servers);
  return random;
}

}  // namespace mapsim
