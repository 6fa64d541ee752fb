// SPDX-License-Identifier: Apache-2.0
#include "plan/block_bound.hpp"

#include <algorithm>
#include <utility>

namespace mapsim {

BlockBound::BlockBound(const PlanProblem& problem, const std::vector<Server>& servers,
                       const PlanBlock& block, const BlockParts& parts,
                       std::function<bool()> is_late)
    : problem_{problem},
      servers_{servers},
      block_{block},
      parts_{parts},
      is_late_{std::move(is_late)} {
  for (const Server& server : servers) {
    clocks_ = std::max(clocks_, server.clock + 1);
    engines_ = std::max(engines_, server.engine + 1);
    engine_of_clock_.resize(clocks_);
    engine_of_clock_[server.clock] = server.engine;
  }
  writers_.resize(parts.tensors.size());
  readers_.resize(parts.tensors.size());
  for (std::size_t g = 0; g < parts.choices.size(); ++g) {
    for (const Server& server : servers) {
      const auto& load = problem.choices[parts.choices[g]].on[server.place];
      loads_.push_back(load ? load->latency : kNever);
    }
    for (const std::size_t tensor : problem.choices[parts.choices[g]].reads) {
      readers_[parts.local[tensor]].push_back(g);
    }
    for (const std::size_t tensor : problem.choices[parts.choices[g]].writes) {
      if (parts.local[tensor] != BlockParts::kNone) {
        writers_[parts.local[tensor]].push_back(g);
      }
    }
  }
  set_ways();
  set_behind();
  set_weights();
}

// The least time of moves from server to server, over any others.
void BlockBound::set_ways() {
  const std::size_t n = servers_.size();
  ways_.assign(parts_.tensors.size() * n * n, kNever);
  for (std::size_t k = 0; k < parts_.tensors.size(); ++k) {
    double* way = &ways_[k * n * n];
    for (std::size_t to = 0; to < n; ++to) {
      for (std::size_t from = 0; from < n; ++from) {
        const Load* move = move_between(problem_, parts_.tensors[k], servers_[from], servers_[to]);
        way[from * n + to] = from == to ? 0 : move != nullptr ? move->latency : kNever;
        if (move != nullptr && move->engine) {
          for (const std::size_t clock : converting_clocks(servers_, *move->engine, from, to)) {
            moves_.push_back({k, from, to, clock, move->latency - move->busy});
          }
        }
      }
    }
    close_ways(way, n);
  }
}

// The longest path from the finish of a group to the end, over readers from `first` on.
double BlockBound::behind(std::size_t group, std::size_t server, std::size_t end, std::size_t first,
                          const std::vector<double>& tails) const {
  const std::size_t n = servers_.size();
  const PlanProblem::Choice& choice = problem_.choices[parts_.choices[group]];
  double longest = 0;
  for (const std::size_t tensor : choice.writes) {
    if (tensor == block_.out && servers_[server].place != end) {
      return kNever;
    }
    for (const std::size_t reader : problem_.tensors[tensor].readers) {
      if (reader >= block_.end || reader < parts_.begin + first) {
        continue;
      }
      const double* way = &ways_[(parts_.local[tensor] * n + server) * n];
      double least = kNever;
      for (std::size_t s = 0; s < n; ++s) {
        least = std::min(least, way[s] + tails[(reader - parts_.begin) * n + s]);
      }
      longest = std::max(longest, least);
    }
  }
  return longest;
}

void BlockBound::set_behind() {
  const std::size_t n = servers_.size();
  behind_.assign(problem_.places, std::vector<double>(parts_.choices.size() * n));
  for (std::size_t end = 0; end < problem_.places; ++end) {
    // By operation and server, from the start of its group. Readers that stand in front of the
    // operation (of its siblings) are left out, which only lowers the bound.
    std::vector<double> tails(parts_.operations * n, kNever);
    for (std::size_t i = parts_.operations; i-- > 0;) {
      for (const std::size_t g : parts_.containing[i]) {
        for (std::size_t s = 0; s < n; ++s) {
          double& tail = tails[i * n + s];
          tail = std::min(tail, load(g, s) + behind(g, s, end, i + 1, tails));
        }
      }
    }
    for (std::size_t g = 0; g < parts_.choices.size(); ++g) {
      for (std::size_t s = 0; s < n; ++s) {
        behind_[end][g * n + s] = behind(g, s, end, 0, tails);
      }
    }
  }
}

// Equal weights, and for each engine less than for the others.
void BlockBound::set_weights() {
  weights_.push_back(std::vector<double>(engines_, 1));
  for (std::size_t e = 0; e < engines_ && engines_ > 1; ++e) {
    for (const double weight : {0.0, 0.25, 0.5, 0.75}) {
      weights_.push_back(std::vector<double>(engines_, 1));
      weights_.back()[e] = weight;
    }
  }
}

// Groups keep the places at which the first state leaves them.
void BlockBound::set_work(const std::vector<double>& limits) {
  std::vector<std::size_t> engines(problem_.places);
  for (const Server& server : servers_) {
    engines[server.place] = server.engine;
  }
  std::vector<bool> open(parts_.choices.size() * problem_.places * problem_.places, false);
  const auto at = [places = problem_.places](std::size_t g, std::size_t place, std::size_t end) {
    return (g * places + place) * places + end;
  };
  for (std::size_t g = 0; g < parts_.choices.size(); ++g) {
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      for (std::size_t end = 0; end < problem_.places; ++end) {
        if (is_open(g, s, end, limits[end])) {
          open[at(g, servers_[s].place, end)] = true;
        }
      }
    }
  }
  work_.emplace(
      problem_, block_, parts_, weights_, std::move(engines),
      [open = std::move(open), at](std::size_t g, std::size_t place, std::size_t end) {
        return open[at(g, place, end)];
      },
      is_late_);
}

// When a tensor can be read on each server, by when servers have it.
void BlockBound::set_ready(std::size_t tensor, const double* there) {
  const std::size_t n = servers_.size();
  const double* way = &ways_[tensor * n * n];
  for (std::size_t to = 0; to < n; ++to) {
    double least = kNever;
    for (std::size_t from = 0; from < n; ++from) {
      least = std::min(least, there[from] + way[from * n + to]);
    }
    ready_[tensor * n + to] = least;
  }
}

// The earliest finish of each group on each server. Tensors are made in the order of the operations
// that make them; until its turn comes, a tensor is taken to be there from the beginning.
void BlockBound::set_finishes(const BlockState& state) {
  const std::size_t n = servers_.size();
  ready_.assign(parts_.tensors.size() * n, 0);
  finishes_.assign(parts_.choices.size() * n, kNever);
  std::vector<bool> is_made(parts_.tensors.size(), false);
  for (std::size_t k = 0; k < parts_.tensors.size(); ++k) {
    const double* there = &state.available[k * n];
    is_made[k] = std::any_of(there, there + n, [](double time) { return time < kNever; });
    if (is_made[k]) {
      set_ready(k, there);
    }
  }
  const auto run = [&](std::size_t g) {
    if ((parts_.sets[g] & state.covered) != 0) {
      return;
    }
    for (std::size_t s = 0; s < n; ++s) {
      const double time = load(g, s);
      double start = time > 0 ? state.free[servers_[s].clock] : 0;
      for (const std::size_t tensor : problem_.choices[parts_.choices[g]].reads) {
        start = std::max(start, ready_[parts_.local[tensor] * n + s]);
      }
      finishes_[g * n + s] = start + time;
    }
  };
  std::vector<double> made(n);
  for (const std::size_t k : parts_.made_in_order) {
    if (is_made[k]) {
      continue;
    }
    made.assign(n, kNever);
    for (const std::size_t g : writers_[k]) {
      run(g);
      for (std::size_t s = 0; s < n; ++s) {
        made[s] = std::min(made[s], finishes_[g * n + s]);
      }
    }
    set_ready(k, made.data());
  }
  for (std::size_t g = 0; g < parts_.choices.size(); ++g) {
    run(g);
  }
}

double BlockBound::by_paths(const BlockState& state, std::size_t end) const {
  double bound = state.finish;
  for (std::size_t i = 0; i < parts_.operations; ++i) {
    if (!is_left(state, i)) {
      continue;
    }
    double least = kNever;
    for (const std::size_t g : parts_.containing[i]) {
      for (std::size_t at = g * servers_.size(); at < (g + 1) * servers_.size(); ++at) {
        least = std::min(least, finishes_[at] + behind_[end][at]);
      }
    }
    bound = std::max(bound, least);
  }
  return bound;
}

// The least time in which the weighted clocks, each without what it loses, do the weighted work.
// Clocks join one after the other, by what they lose.
double BlockBound::least_time(const std::vector<double>& weights, const std::vector<double>& lost,
                              double work, double limit) const {
  double time = 0, sum = 0;
  for (double joined = -1; work > 0 && work < kNever;) {
    double next = kNever, weight = 0;
    for (std::size_t k = 0; k < clocks_; ++k) {
      const double each = weights[engine_of_clock_[k]];
      if (each > 0 && lost[k] > joined && lost[k] <= next) {
        weight = lost[k] < next ? each : weight + each;
        next = lost[k];
      }
    }
    if (sum > 0 && time + work / sum <= next) {
      return time + work / sum;
    }
    if (next == kNever) {
      return limit;  // what is left has no place
    }
    work -= (next - time) * sum;
    time = joined = next;
    sum += weight;
  }
  return work < kNever ? 0 : limit;
}

void BlockBound::Idle::take(std::size_t clock, double first, double last) {
  before[clock] = std::min(before[clock], first);
  behind[clock] = std::min(behind[clock], last);
}

void BlockBound::add_groups(std::size_t end, double limit, Idle& idle) const {
  for (std::size_t g = 0; g < parts_.choices.size(); ++g) {
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      const double time = load(g, s);
      if (time > 0 && time < kNever && is_open(g, s, end, limit)) {
        const std::size_t at = g * servers_.size() + s;
        idle.take(servers_[s].clock, finishes_[at] - time, behind_[end][at]);
      }
    }
  }
}

void BlockBound::add_moves(std::size_t end, double limit, Idle& idle) const {
  const std::size_t n = servers_.size();
  std::vector<double> wanted(n);  // by server: from when a tensor is there to the end
  for (std::size_t m = 0; m < moves_.size(); ++m) {
    const Move& move = moves_[m];
    if (m == 0 || moves_[m - 1].tensor != move.tensor) {
      wanted.assign(n, kNever);
      for (const std::size_t g : readers_[move.tensor]) {
        for (std::size_t s = 0; s < n; ++s) {
          if (is_open(g, s, end, limit)) {
            wanted[s] = std::min(wanted[s], load(g, s) + behind_[end][g * n + s]);
          }
        }
      }
    }
    double behind = kNever;
    for (std::size_t s = 0; s < n; ++s) {
      behind = std::min(behind, way(move.tensor, move.to, s) + wanted[s]);
    }
    if (behind < kNever) {
      idle.take(move.clock, ready_[move.tensor * n + move.from], move.rest + behind);
    }
  }
}

double BlockBound::by_work(const BlockState& state, std::size_t end, double limit) {
  Idle idle{std::vector<double>(clocks_, kNever), std::vector<double>(clocks_, kNever)};
  add_groups(end, limit, idle);
  add_moves(end, limit, idle);
  std::vector<double> lost(clocks_);
  for (std::size_t k = 0; k < clocks_; ++k) {
    lost[k] = std::max(state.free[k], idle.before[k]) + idle.behind[k];
  }
  const std::vector<double>& left = work_->left(state.covered, there_);
  double bound = 0;
  for (std::size_t w = 0; w < weights_.size() && bound < limit; ++w) {
    bound = std::max(bound, least_time(weights_[w], lost, left[w * problem_.places + end], limit));
  }
  return std::min(bound, limit);
}

std::vector<double> BlockBound::of(const BlockState& state, const std::vector<double>& limits) {
  set_finishes(state);
  if (!work_ && parts_.is_small()) {
    set_work(limits);
  }
  there_.assign(parts_.tensors.size(), 0);
  for (std::size_t v = 0; v < state.available.size(); ++v) {
    if (state.available[v] < kNever) {
      there_[v / servers_.size()] |= std::uint32_t{1} << servers_[v % servers_.size()].place;
    }
  }
  std::vector<double> bounds(problem_.places, kNever);
  for (std::size_t end = 0; end < problem_.places; ++end) {
    bounds[end] = by_paths(state, end);
    if (bounds[end] < limits[end] && work_) {
      bounds[end] = std::max(bounds[end], by_work(state, end, limits[end]));
    }
  }
  return bounds;
}

}  // namespace mapsim
