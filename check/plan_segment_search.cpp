// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <utility>

#include "check/plan_segment.hpp"

namespace mapsim::check {

namespace {

constexpr double kNearly = 1e-12;  // relative: rounding

// Of moments in which the same has run, those that are nowhere later than another one.
class Earliest {
 public:
  bool add(const PlanMoment& moment) {
    std::vector<double> times = moment.free;
    times.push_back(moment.now);
    times.push_back(moment.finish);
    times.insert(times.end(), moment.there.begin(), moment.there.end());
    auto& known = known_[{moment.covered, moment.out}];
    const auto no_later = [](const std::vector<double>& a, const std::vector<double>& b) {
      return std::equal(a.begin(), a.end(), b.begin(), std::less_equal{});
    };
    if (std::any_of(known.begin(), known.end(),
                    [&](const auto& each) { return no_later(each, times); })) {
      return false;
    }
    std::erase_if(known, [&](const auto& each) { return no_later(times, each); });
    known.push_back(std::move(times));
    return true;
  }

 private:
  std::map<std::pair<SegmentParts::Bits, std::size_t>, std::vector<std::vector<double>>> known_;
};

// Appends groups and conversions to what has been appended, from the most promising moment on.
class SegmentSearch {
 public:
  SegmentSearch(const PlanServers& servers, const PlanSegment& segment, SegmentParts& parts,
                const PlanArrivals& rests, double below, std::size_t most_nodes)
      : servers_{servers},
        segment_{segment},
        parts_{parts},
        rests_{rests},
        most_nodes_{most_nodes},
        best_{below} {}

  SegmentBound run(std::size_t place) {
    PlanMoment root = parts_.root(place);
    parts_.close(root, caps());
    keep(std::move(root));
    while (!open_.empty() && parts_.is_small() && found_.nodes < most_nodes_ &&
           is_promising(open_.begin()->first.first)) {
      const PlanMoment moment = std::move(open_.begin()->second);
      open_.erase(open_.begin());
      expand(moment);
    }
    found_.value = best_;
    if (!open_.empty() && is_promising(open_.begin()->first.first)) {
      found_.is_open = true;
      found_.value = open_.begin()->first.first;
    }
    return found_;
  }

 private:
  // What ends at a place must end before this.
  PlanArrivals caps() const {
    PlanArrivals caps;
    for (const double rest : rests_) {
      caps.push_back(rest < kNoTime ? best_ - rest : -kNoTime);
    }
    return caps;
  }
  bool is_promising(double bound) const { return bound < best_ * (1 - kNearly); }

  void keep(PlanMoment&& moment) {
    if (parts_.is_small() && moment.covered == parts_.all()) {
      const std::size_t out = segment_.out ? moment.out : 0;
      best_ = out == kNoPart ? best_ : std::min(best_, moment.finish + rests_[out]);
      return;
    }
    for (double& time : moment.free) {
      time = std::max(time, moment.now);
    }
    for (double& time : moment.there) {
      time = std::max(time, moment.now);
    }
    const PlanArrivals bounds = parts_.bounds(moment, caps());
    double least = kNoTime;
    for (std::size_t out = 0; out < bounds.size(); ++out) {
      least = std::min(least, bounds[out] + rests_[out]);
    }
    if (is_promising(least) && earliest_.add(moment)) {
      ++found_.nodes;
      open_.emplace(std::pair{least, -std::popcount(moment.covered)}, std::move(moment));
    }
  }

  // Whether an earlier copy of the engine of a clock is as free, and has the same tensors.
  bool is_twin(const PlanMoment& moment, std::size_t clock) const {
    for (std::size_t other = 0; other < clock; ++other) {
      if (servers_.engine_of_clock[other] != servers_.engine_of_clock[clock] ||
          moment.free[other] != moment.free[clock]) {
        continue;
      }
      bool same = true;
      for (std::size_t a = 0; a < parts_.count(); ++a) {
        for (std::size_t b = 0; b < parts_.count(); ++b) {
          const bool are_twins = servers_.all[a].clock == other && servers_.all[b].clock == clock &&
                                 servers_.all[a].place == servers_.all[b].place;
          for (std::size_t k = 0; k < parts_.tensors.size() && are_twins; ++k) {
            same = same &&
                   moment.there[k * parts_.count() + a] == moment.there[k * parts_.count() + b];
          }
        }
      }
      if (same) {
        return true;
      }
    }
    return false;
  }

  void expand(const PlanMoment& moment) {
    for (std::size_t s = 0; s < parts_.count(); ++s) {
      if (is_twin(moment, servers_.all[s].clock)) {
        continue;
      }
      for (std::size_t g = 0; g < parts_.bits.size(); ++g) {
        if ((parts_.bits[g] & moment.covered) == 0 && parts_.may_run(g, s)) {
          append(moment, g, s);
        }
      }
      for (std::size_t k = 0; k < parts_.tensors.size(); ++k) {
        convert(moment, k, s);
      }
    }
  }

  void append(const PlanMoment& moment, std::size_t g, std::size_t s) {
    const PlanServer& server = servers_.all[s];
    const double time = parts_.load(g, s);
    double start = time > 0 ? moment.free[server.clock] : 0;
    for (const std::size_t tensor : parts_.group(g).reads) {
      start = std::max(start, moment.there[parts_.local[tensor] * parts_.count() + s]);
    }
    if (start == kNoTime || start < moment.now) {
      return;  // cannot, or has been appended earlier
    }
    PlanMoment next = moment;
    next.now = start;
    next.covered |= parts_.bits[g];
    next.finish = std::max(next.finish, start + time);
    if (time > 0) {
      next.free[server.clock] = start + time;
    }
    next.out = parts_.makes_out(parts_.group(g)) ? server.place : next.out;
    for (const std::size_t tensor : parts_.group(g).writes) {
      if (parts_.local[tensor] != kNoPart) {
        servers_.arrive(tensor, s, start + time,
                        &next.there[parts_.local[tensor] * parts_.count()]);
      }
    }
    for (std::size_t k = 0; k < parts_.tensors.size(); ++k) {  // those that nothing reads any more
      if (!is_read(next.covered, k)) {
        std::fill_n(next.there.begin() + static_cast<std::ptrdiff_t>(k * parts_.count()),
                    parts_.count(), 0);
      }
    }
    keep(std::move(next));
  }
  bool is_read(SegmentParts::Bits covered, std::size_t k) const {
    for (std::size_t g = 0; g < parts_.bits.size(); ++g) {
      if ((parts_.bits[g] & covered) == 0 && parts_.reads(g, k)) {
        return true;
      }
    }
    return false;
  }

  void convert(const PlanMoment& moment, std::size_t k, std::size_t to) {
    for (std::size_t from = 0; from < parts_.count() && is_read(moment.covered, k); ++from) {
      const PlanPrice* move = servers_.move(parts_.tensors[k], from, to);
      const double there = moment.there[k * parts_.count() + from];
      if (move == nullptr || !move->engine || there == kNoTime) {
        continue;
      }
      for (const std::size_t clock : servers_.converting(*move, from, to)) {
        const double start = std::max(there, moment.free[clock]);
        if (start < moment.now || start + move->latency >= moment.there[k * parts_.count() + to]) {
          continue;
        }
        PlanMoment next = moment;
        next.now = start;
        next.free[clock] = start + move->busy;
        servers_.arrive(parts_.tensors[k], to, start + move->latency,
                        &next.there[k * parts_.count()]);
        keep(std::move(next));
      }
    }
  }

  const PlanServers& servers_;
  const PlanSegment& segment_;
  SegmentParts& parts_;
  const PlanArrivals& rests_;
  std::size_t most_nodes_;
  double best_;
  Earliest earliest_;
  std::multimap<std::pair<double, int>, PlanMoment> open_;  // by bound, and what has run
  SegmentBound found_;
};

}  // namespace

SegmentBound bound_segment(const PlanServers& servers, const PlanSegment& segment,
                           SegmentParts& parts, std::size_t place, const PlanArrivals& rests,
                           double below, std::size_t most_nodes) {
  return SegmentSearch{servers, segment, parts, rests, below, most_nodes}.run(place);
}

}  // namespace mapsim::check
