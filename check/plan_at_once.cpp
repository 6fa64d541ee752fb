// SPDX-License-Identifier: Apache-2.0
#include "check/plan_at_once.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "check/plan_demands.hpp"
#include "check/plan_segment.hpp"

namespace mapsim::check {

namespace {

constexpr std::size_t kMostNodes = 1'000'000;
constexpr std::size_t kMostNumbers = 30'000'000;  // in all nodes of a segment: 480 MB

// How many moments of a segment fit into memory, each kept twice.
std::size_t most_moments(const PlanServers& servers, const SegmentParts& parts) {
  constexpr std::size_t kBeside = 20;  // what a moment is beside its times
  return kMostNumbers /
         (kBeside + servers.engine_of_clock.size() + parts.tensors.size() * servers.all.size());
}

// The least time until each cut tensor is at each place, without any search. It may have been moved
// there, with everything idle.
std::vector<PlanArrivals> arrivals_at(const PlanClaim& claim,
                                      const std::vector<PlanSegment>& segments,
                                      std::vector<SegmentParts>& parts) {
  std::vector<PlanArrivals> at(parts.size() + 1, PlanArrivals(claim.places, kNoTime));
  at.front().front() = 0;
  for (std::size_t b = 0; b < parts.size(); ++b) {
    for (std::size_t in = 0; in < claim.places; ++in) {
      const PlanArrivals to =
          parts[b].bounds(parts[b].root(in), PlanArrivals(claim.places, kNoTime));
      for (std::size_t out = 0; out < claim.places; ++out) {
        at[b + 1][out] = std::min(at[b + 1][out], at[b][in] + to[out]);
      }
    }
    for (std::size_t round = 0; round < claim.places && segments[b].out; ++round) {
      for (std::size_t m = 0; m < claim.places * claim.places; ++m) {
        const std::size_t from = m / claim.places, to = m % claim.places;
        if (const PlanPrice* move = move_of(claim, *segments[b].out, from, to)) {
          at[b + 1][to] = std::min(at[b + 1][to], at[b + 1][from] + move->latency);
        }
      }
    }
  }
  return at;
}

// What a schedule does, task by task.
class Replay {
 public:
  explicit Replay(const PlanClaim& claim)
      : claim_{claim},
        servers_{claim},
        there_(claim.tensors.size(), std::vector<double>(servers_.all.size(), kNoTime)),
        busy_(servers_.engine_of_clock.size()),
        covered_(claim.operations, false) {}

  // What is wrong; empty: nothing.
  std::string run() {
    for (const PlanClaim::Task& task : claim_.at_once->tasks) {
      if (task.server >= servers_.all.size() || task.clock >= busy_.size() || !(task.start >= 0)) {
        return "a task has no server, no clock or no time";
      }
      const std::string wrong = task.group ? run(task) : convert(task);
      if (!wrong.empty()) {
        return wrong;
      }
    }
    if (std::find(covered_.begin(), covered_.end(), false) != covered_.end()) {
      return "an operation is in no group of it";
    }
    for (auto& times : busy_) {
      std::sort(times.begin(), times.end());
      for (std::size_t k = 1; k < times.size(); ++k) {
        if (times[k].first < times[k - 1].second - rounding()) {
          return "an engine does two things at a time";
        }
      }
    }
    return is_close(finish_, claim_.value)
               ? ""
               : fmt::format("it takes {:.9g} s, where {:.9g} s is claimed", finish_, claim_.value);
  }

 private:
  double rounding() const { return kPlanClose * claim_.value; }

  std::string run(const PlanClaim::Task& task) {
    const PlanServer& server = servers_.all[task.server];
    if (*task.group >= claim_.groups.size() || !claim_.groups[*task.group].on[server.place]) {
      return "it runs a group where that does not run";
    }
    const PlanGroup& group = claim_.groups[*task.group];
    const double end = task.start + group.on[server.place]->latency;
    for (const std::size_t i : group.operations) {
      if (covered_[i]) {
        return "an operation is in two groups of it";
      }
      covered_[i] = true;
    }
    for (const std::size_t tensor : group.reads) {
      if (there_[tensor][task.server] > task.start + rounding()) {
        return "a group reads a tensor that is not there yet";
      }
    }
    for (const std::size_t tensor : group.writes) {
      servers_.arrive(tensor, task.server, end, there_[tensor].data());
    }
    if (end > task.start) {
      busy_[server.clock].emplace_back(task.start, end);
    }
    finish_ = std::max(finish_, end);
    return "";
  }

  std::string convert(const PlanClaim::Task& task) {
    const PlanPrice* move = task.tensor < there_.size() && task.from < servers_.all.size()
                                ? servers_.move(task.tensor, task.from, task.server)
                                : nullptr;
    if (move == nullptr || !move->engine) {
      return "it converts a tensor where there is no way";
    }
    const auto clocks = servers_.converting(*move, task.from, task.server);
    if (std::find(clocks.begin(), clocks.end(), task.clock) == clocks.end()) {
      return "another engine converts a tensor";
    }
    if (there_[task.tensor][task.from] > task.start + rounding()) {
      return "it converts a tensor that is not there yet";
    }
    busy_[task.clock].emplace_back(task.start, task.start + move->busy);
    servers_.arrive(task.tensor, task.server, task.start + move->latency,
                    there_[task.tensor].data());
    return "";
  }

  const PlanClaim& claim_;
  PlanServers servers_;
  std::vector<std::vector<double>> there_;                    // by tensor and server
  std::vector<std::vector<std::pair<double, double>>> busy_;  // by clock
  std::vector<bool> covered_;
  double finish_ = 0;
};

}  // namespace

PlanServers::PlanServers(const PlanClaim& claim) : claim_{claim} {
  std::vector<std::size_t> first;
  for (std::size_t e = 0; e < claim.engines; ++e) {
    first.push_back(engine_of_clock.size());
    engine_of_clock.insert(engine_of_clock.end(), claim.at_once->counts[e], e);
  }
  for (std::size_t place = 0; place < claim.places; ++place) {
    const std::size_t engine = claim.at_once->engine_of[place];
    for (std::size_t copy = 0; copy < claim.at_once->counts[engine]; ++copy) {
      all.push_back({place, engine, copy, first[engine] + copy});
    }
  }
}

const PlanPrice* PlanServers::move(std::size_t tensor, std::size_t from, std::size_t to) const {
  const PlanServer& a = all[from];
  const PlanServer& b = all[to];
  return a.place == b.place || (a.engine == b.engine && a.copy != b.copy)
             ? nullptr
             : move_of(claim_, tensor, a.place, b.place);
}

std::vector<std::size_t> PlanServers::converting(const PlanPrice& move, std::size_t from,
                                                 std::size_t to) const {
  for (const std::size_t s : {from, to}) {
    if (all[s].engine == *move.engine) {
      return {all[s].clock};
    }
  }
  std::vector<std::size_t> clocks;
  for (std::size_t c = 0; c < engine_of_clock.size(); ++c) {
    if (engine_of_clock[c] == *move.engine) {
      clocks.push_back(c);
    }
  }
  return clocks;
}

void PlanServers::arrive(std::size_t tensor, std::size_t server, double time, double* there) const {
  if (time >= there[server]) {
    return;
  }
  there[server] = time;
  for (std::size_t to = 0; to < all.size(); ++to) {
    const PlanPrice* wait = move(tensor, server, to);
    if (wait != nullptr && !wait->engine) {
      arrive(tensor, to, time + wait->latency, there);
    }
  }
}

AtOnceBound bound_at_once(const PlanClaim& claim, double below, std::size_t most_nodes) {
  const PlanServers servers{claim};
  const std::vector<PlanSegment> segments = segments_of(claim);
  std::vector<SegmentParts> parts;
  for (const PlanSegment& segment : segments) {
    parts.emplace_back(claim, servers, segment);
  }
  const std::vector<PlanArrivals> arrivals = arrivals_at(claim, segments, parts);
  AtOnceBound found;
  PlanArrivals rests(claim.places, kNoTime);
  rests[0] = 0;
  for (std::size_t b = segments.size(); b-- > 0;) {
    PlanArrivals before(claim.places, kNoTime);
    for (std::size_t in = 0; in < claim.places && (b > 0 || in == 0); ++in) {
      double cap = below - arrivals[b][in];
      for (std::size_t to = 0; to < in; ++to) {  // moved first, with everything idle
        const PlanPrice* move = move_of(claim, *segments[b].in, in, to);
        cap = move != nullptr ? std::min(cap, move->latency + before[to]) : cap;
      }
      if (cap > 0) {
        const std::size_t left = most_nodes - std::min(most_nodes, found.nodes);
        const SegmentBound least = bound_segment(servers, segments[b], parts[b], in, rests, cap,
                                                 std::min(left, most_moments(servers, parts[b])));
        before[in] = least.value;
        found.nodes += least.nodes;
        found.is_open = found.is_open || least.is_open;
      } else {
        before[in] = std::max(0.0, cap);
      }
    }
    rests = before;
  }
  found.value = rests[0];
  return found;
}

std::optional<std::string> wrong_engines(const PlanClaim& claim) {
  const auto& [engine_of, counts, tasks, bound] = *claim.at_once;
  constexpr std::size_t kMostCopies = 64;
  if (claim.objective != "latency" || !claim.limits.empty() || !claim.mix.empty()) {
    return "engines at once are for latency without limits";
  }
  if (!(bound >= 0)) {
    return "a schedule takes less than nothing";
  }
  if (claim.places == 0 || engine_of.size() != claim.places || counts.size() != claim.engines ||
      std::any_of(engine_of.begin(), engine_of.end(),
                  [&](std::size_t engine) { return engine >= claim.engines; }) ||
      std::any_of(counts.begin(), counts.end(),
                  [](std::size_t count) { return count < 1 || count > kMostCopies; })) {
    return "a place has no engine, or an engine no copies";
  }
  std::vector<std::vector<std::size_t>> makers(claim.tensors.size());
  for (std::size_t g = 0; g < claim.groups.size(); ++g) {
    for (const std::size_t tensor : claim.groups[g].writes) {
      for (const std::size_t other : makers[tensor]) {
        const auto& a = claim.groups[g].operations;
        const auto& b = claim.groups[other].operations;
        if (std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) == a.end()) {
          return "two groups without a common operation make one tensor";
        }
      }
      makers[tensor].push_back(g);
    }
  }
  return std::nullopt;
}

void check_at_once(const PlanClaim& claim, PlanVerdict& verdict) {
  const double bound = claim.at_once->bound;
  if (!claim.at_once->tasks.empty()) {
    const std::string wrong = Replay{claim}.run();
    if (!wrong.empty()) {
      verdict.problems.push_back("the schedule is none: " + wrong);
      return;
    }
    verdict.verified.push_back(
        "the schedule covers every operation once, no engine does two things at a time, and it "
        "takes what is claimed");
  }
  if (!(bound <= claim.value * (1 + kPlanClose))) {
    verdict.problems.push_back("the bound is above what the schedule takes");
    return;
  }
  const AtOnceBound found = bound_at_once(claim, bound, kMostNodes);
  verdict.labels += found.nodes;
  if (found.value >= bound * (1 - kPlanClose)) {
    verdict.verified.push_back(
        is_close(bound, claim.value)
            ? "no schedule of these groups at these prices is faster"
            : fmt::format("no schedule of these groups at these prices takes less than {:.9g} s "
                          "({:.2f} % less)",
                          bound, 100 * (1 - bound / claim.value)));
  } else if (found.is_open) {
    verdict.verified.push_back(fmt::format(
        "no schedule of these groups at these prices takes less than {:.9g} s", found.value));
    verdict.unverified.push_back(fmt::format(
        "whether a schedule takes less than {:.9g} s: too many partial schedules", bound));
  } else {
    verdict.problems.push_back(
        fmt::format("a schedule takes {:.9g} s, less than {:.9g} s", found.value, bound));
  }
}

}  // namespace mapsim::check
