// SPDX-License-Identifier: Apache-2.0
#include "plan/at_once.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "core/rng.hpp"

namespace mapsim::at_once_test {
namespace {

constexpr double kClose = 1e-9;
constexpr std::size_t kMany = 1'000'000;

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

// A graph of three to five operations on two or three kinds of engines, some of them twice, some
// with two formats of tensors. `engine_of`: by place.
// Tensors are converted on the first engine, or go over with a wait only. Each operation but some
// that start reads earlier ones, so that many of these graphs have cut tensors.
PlanProblem random_problem(Rng& rng, const std::vector<std::size_t>& engine_of = {0, 1},
                           std::size_t at_least = 0) {
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

// The fastest schedule, by trying every group and every conversion next, whatever came before:
// nothing is pruned and nothing cut.
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

// Nothing runs before what it reads is there, and no clock does two things at a time.
void expect_possible(const PlanProblem& problem, const AtOnce& schedule, std::uint64_t seed) {
  std::map<std::size_t, std::vector<std::pair<double, double>>> by_clock;
  for (const Task& task : schedule.tasks) {
    if (task.choice) {
      const Server& server = schedule.servers[task.server];
      const Load& load = *problem.choices[*task.choice].on[server.place];
      EXPECT_NEAR(task.finish - task.start, load.latency, kClose) << seed;
      if (load.latency > 0) {
        by_clock[server.clock].emplace_back(task.start, task.finish);
      }
    } else {
      const std::size_t m =
          schedule.servers[task.from].place * problem.places + schedule.servers[task.server].place;
      by_clock[task.clock].emplace_back(task.start,
                                        task.start + problem.tensors[task.tensor].moves[m]->busy);
    }
  }
  for (auto& [clock, times] : by_clock) {
    std::sort(times.begin(), times.end());
    for (std::size_t k = 1; k < times.size(); ++k) {
      EXPECT_LE(times[k - 1].second, times[k].first + kClose) << seed;
    }
  }
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

TEST(AtOnce, IsAsFastAsTheBestOfAllSchedules) {
  int compared = 0;
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng{seed};
    const auto& engine_of = kEnginesOf[seed % kEnginesOf.size()];
    const PlanProblem problem = random_problem(rng, engine_of);
    if (problem.places > 2 && problem.operations > 4) {
      continue;  // takes the comparison too long
    }
    const auto servers = random_servers(problem, engine_of, rng);
    const double wanted = EverySchedule{problem, servers}.best();
    const AtOnce found = schedule_at_once(problem, servers, kMany);
    ASSERT_EQ(found.value < kNever, wanted < kNever) << seed;
    if (found.value < kNever) {
      EXPECT_NEAR(found.value, wanted, kClose) << seed;
      EXPECT_NEAR(found.bound, wanted, kClose) << seed;
      expect_possible(problem, found, seed);
      ++compared;
      cut += found.blocks > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(cut, 30);
}

std::optional<Load> taking(double time, std::size_t engine) {
  return Load{time, 0, 0, engine, time};
}

// Each operation by itself: what it reads, and its time at each place.
PlanProblem problem_of(const std::vector<std::vector<std::size_t>>& reads,
                       const std::vector<std::vector<std::optional<Load>>>& on) {
  PlanProblem problem;
  problem.operations = reads.size();
  problem.places = on.front().size();
  problem.tensors.resize(reads.size());
  for (std::size_t i = 0; i < reads.size(); ++i) {
    for (const std::size_t tensor : reads[i]) {
      problem.tensors[tensor].readers.push_back(i);
    }
    problem.choices.push_back({{i}, i, reads[i], {i}, on[i]});
    problem.tensors[i].moves.resize(problem.places * problem.places);
  }
  return problem;
}

// Two copies of an engine with two formats: one that holds a tensor in the one format is not the
// same as its twin for groups of the other.
TEST(AtOnce, TellsCopiesApartByAllOfTheirFormats) {
  PlanProblem problem = problem_of({{}, {}, {1}, {2}, {2}, {0, 3}}, {{{}, taking(3, 0), {}},
                                                                     {{}, {}, taking(4, 1)},
                                                                     {{}, {}, taking(1, 1)},
                                                                     {{}, {}, taking(2, 1)},
                                                                     {taking(12, 0), {}, {}},
                                                                     {{}, taking(10, 0), {}}});
  problem.engines = 2;
  for (PlanProblem::Tensor& tensor : problem.tensors) {
    tensor.moves[2] = tensor.moves[6] = tensor.moves[7] = Load{};
  }
  const auto servers = servers_of({0, 0, 1}, {2, 1});
  EXPECT_EQ(EverySchedule(problem, servers).best(), 17);
  EXPECT_EQ(schedule_at_once(problem, servers, kMany).value, 17);
}

// A third engine that is there twice converts on the copy that is free.
TEST(AtOnce, ConvertsOnAnyCopyOfAThirdEngine) {
  PlanProblem problem = problem_of({{}, {}, {1}, {0, 2}}, {{{}, {}, taking(13, 2)},
                                                           {taking(1, 0), {}, {}},
                                                           {{}, taking(8, 1), {}},
                                                           {{}, {}, taking(1, 2)}});
  problem.engines = 3;
  for (PlanProblem::Tensor& tensor : problem.tensors) {
    tensor.moves[1] = Load{3, 0, 0, 2, 2};
    tensor.moves[5] = Load{1, 0, 0, {}, 0};
  }
  const auto servers = servers_of({0, 1, 2}, {1, 1, 2});
  EXPECT_EQ(EverySchedule(problem, servers).best(), 14);
  EXPECT_EQ(schedule_at_once(problem, servers, kMany).value, 14);
}

// Only what is faster than a known plan is looked for, and nothing is claimed of the rest.
TEST(AtOnce, IsFasterThanAKnownPlanOrProvesThatNothingIs) {
  int faster = 0, known_best = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng{seed};
    const auto& engine_of = kEnginesOf[seed % kEnginesOf.size()];
    const PlanProblem problem = random_problem(rng, engine_of);
    const auto servers = random_servers(problem, engine_of, rng);
    const double wanted = schedule_at_once(problem, servers, kMany).value;
    if (wanted == kNever) {
      continue;
    }
    const double known = wanted * (0.7 + 0.05 * static_cast<double>(rng.below(12)));
    const AtOnce found = schedule_at_once(problem, servers, kMany, known);
    EXPECT_NEAR(std::min(found.value, known), std::min(wanted, known), kClose) << seed;
    EXPECT_NEAR(found.bound, std::min(wanted, known), kClose) << seed;
    EXPECT_EQ(found.tasks.empty(), found.value == kNever) << seed;
    (found.value < known ? faster : known_best) += 1;
  }
  EXPECT_GT(faster, 30);
  EXPECT_GT(known_best, 30);
}

// Stopped early, the value is that of a schedule and the bound is none's.
TEST(AtOnce, BoundsWhatItHasNotLookedAt) {
  int open = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng{seed};
    const PlanProblem problem = random_problem(rng, {0, 1}, 8);
    const auto servers = servers_of({0, 1}, {1, 1});
    const AtOnce all = schedule_at_once(problem, servers, kMany);
    const AtOnce some = schedule_at_once(problem, servers, 16);
    EXPECT_GE(some.value, all.value - kClose) << seed;
    EXPECT_LE(some.bound, all.value + kClose) << seed;
    open += some.bound < all.value - kClose ? 1 : 0;
  }
  EXPECT_GT(open, 20);
}

TEST(AtOnce, BoundsWhatItHasNoMemoryFor) {
  int open = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng{seed};
    PlanProblem problem = random_problem(rng, {0, 1}, 8);
    const auto servers = servers_of({0, 1}, {1, 1});
    const AtOnce all = schedule_at_once(problem, servers, kMany);
    problem.searches = std::make_shared<PlanSearches>();
    problem.searches->bytes = 1000;
    const AtOnce some = schedule_at_once(problem, servers, kMany);
    ASSERT_EQ(all.value < kNever, some.value < kNever);
    if (all.value < kNever) {
      EXPECT_GE(some.value, all.value - kClose) << seed;
      EXPECT_LE(some.bound, all.value + kClose) << seed;
      open += some.bound < all.value - kClose ? 1 : 0;
      EXPECT_TRUE(problem.searches->ended_early > 0 || some.bound >= some.value - kClose) << seed;
    }
  }
  EXPECT_GT(open, 20);
}

}  // namespace
}  // namespace mapsim::at_once_test
