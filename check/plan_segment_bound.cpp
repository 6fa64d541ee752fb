// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "check/plan_segment.hpp"

namespace mapsim::check {

namespace {

constexpr std::size_t kMostCovers = 50'000;

// Equal weights of engines, and less for each than for the others.
std::vector<std::vector<double>> weights_of_engines(std::size_t engines) {
  std::vector<std::vector<double>> weights(1, std::vector<double>(engines, 1));
  for (std::size_t e = 0; e < engines && engines > 1; ++e) {
    for (const double weight : {0.0, 0.2, 0.4, 0.6, 0.8}) {
      weights.push_back(weights.front());
      weights.back()[e] = weight;
    }
  }
  return weights;
}

// The least time in which weighted clocks do the work, each from when it joins.
double time_for(double work, const std::vector<std::pair<double, double>>& joins, double cap) {
  double sum = 0, time = 0;
  for (std::size_t j = 0; work > 0 && j < joins.size(); ++j) {
    work -= (joins[j].first - time) * sum;
    if (work <= 0) {
      return joins[j].first + work / sum;
    }
    time = joins[j].first;
    sum += joins[j].second;
  }
  return work <= 0 ? 0 : sum > 0 ? time + work / sum : cap;
}

}  // namespace

SegmentParts::SegmentParts(const PlanClaim& claim, const PlanServers& servers,
                           const PlanSegment& segment)
    : local(claim.tensors.size(), kNoPart),
      claim_{claim},
      servers_{servers},
      segment_{segment},
      is_open_(segment.groups.size() * servers.all.size(), true),
      weights_{weights_of_engines(claim.engines)} {
  for (const std::size_t g : segment.groups) {
    for (const std::size_t tensor : claim.groups[g].reads) {
      if (local[tensor] == kNoPart) {
        local[tensor] = tensors.size();
        tensors.push_back(tensor);
      }
    }
  }
  writers_.resize(tensors.size());
  for (std::size_t g = 0; g < segment.groups.size(); ++g) {
    bits.push_back(0);
    for (const std::size_t i : group(g).operations) {
      bits.back() |= is_small() ? Bits{1} << (i - segment.begin) : 0;
    }
    for (const std::size_t tensor : group(g).writes) {
      if (local[tensor] != kNoPart) {
        writers_[local[tensor]].push_back(g);
      }
    }
  }
  set_order();
  set_ways();
  set_tails();
}

double SegmentParts::load(std::size_t g, std::size_t s) const {
  const auto& price = group(g).on[servers_.all[s].place];
  return price ? price->latency : kNoTime;
}
bool SegmentParts::makes_out(const PlanGroup& each) const {
  return segment_.out &&
         std::find(each.writes.begin(), each.writes.end(), *segment_.out) != each.writes.end();
}
bool SegmentParts::reads(std::size_t g, std::size_t k) const {
  const auto& list = group(g).reads;
  return std::find(list.begin(), list.end(), tensors[k]) != list.end();
}

PlanMoment SegmentParts::root(std::size_t place) const {
  PlanMoment root;
  root.free.assign(servers_.engine_of_clock.size(), 0);
  root.there.assign(tensors.size() * count(), kNoTime);
  if (segment_.in && local[*segment_.in] != kNoPart) {
    const auto server = std::find_if(servers_.all.begin(), servers_.all.end(),
                                     [&](const PlanServer& s) { return s.place == place; });
    servers_.arrive(*segment_.in, static_cast<std::size_t>(server - servers_.all.begin()), 0,
                    &root.there[local[*segment_.in] * count()]);
  }
  return root;
}

void SegmentParts::close(const PlanMoment& root, const PlanArrivals& caps) {
  works_.clear();
  set_heads(root);
  for (std::size_t at = 0; at < is_open_.size(); ++at) {
    is_open_[at] = false;
    for (std::size_t out = 0; out < claim_.places; ++out) {
      is_open_[at] = is_open_[at] || heads_[at] + tails_[out][at] < caps[out];
    }
  }
}

PlanArrivals SegmentParts::bounds(const PlanMoment& moment, const PlanArrivals& caps) {
  set_heads(moment);
  PlanArrivals bounds(claim_.places, kNoTime);
  for (std::size_t out = 0; out < claim_.places; ++out) {
    if (segment_.out ? moment.out == kNoPart || moment.out == out : out == 0) {
      bounds[out] = by_paths(moment, out);
      if (bounds[out] < caps[out] && is_small()) {
        bounds[out] = std::max(bounds[out], by_work(moment, out, caps[out]));
      }
    }
  }
  return bounds;
}

// Tensors by the last operations that make them.
void SegmentParts::set_order() {
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    std::size_t last = claim_.operations;
    for (const std::size_t g : writers_[k]) {
      const auto& each = group(g).operations;
      last = std::min(last, *std::max_element(each.begin(), each.end()));
    }
    order.emplace_back(last, k);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [last, k] : order) {
    order_.push_back(k);
  }
}

// The least time from server to server, over any others.
void SegmentParts::set_ways() {
  const std::size_t n = count();
  ways_.assign(tensors.size() * n * n, kNoTime);
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    double* ways = &ways_[k * n * n];
    for (std::size_t from = 0; from < n; ++from) {
      for (std::size_t to = 0; to < n; ++to) {
        const PlanPrice* move = servers_.move(tensors[k], from, to);
        ways[from * n + to] = from == to ? 0 : move != nullptr ? move->latency : kNoTime;
      }
    }
    for (std::size_t over = 0; over < n; ++over) {
      for (std::size_t from = 0; from < n; ++from) {
        for (std::size_t to = 0; to < n; ++to) {
          ways[from * n + to] =
              std::min(ways[from * n + to], ways[from * n + over] + ways[over * n + to]);
        }
      }
    }
  }
}

// Of the end of a group on a server, the least time until the segment ends at a place. Begins
// with 0, and rises: whatever has been reached is a bound.
void SegmentParts::set_tails() {
  const std::size_t each = segment_.groups.size() * count();
  tails_.assign(claim_.places, std::vector<double>(each, 0));
  for (std::size_t out = 0; out < claim_.places; ++out) {
    for (std::size_t round = 0; round < size() + 1; ++round) {
      std::vector<double> next(each);
      for (std::size_t at = 0; at < each; ++at) {
        next[at] = tail(at / count(), at % count(), out);
      }
      if (next == tails_[out]) {
        break;
      }
      tails_[out].swap(next);
    }
  }
}
double SegmentParts::tail(std::size_t g, std::size_t s, std::size_t out) const {
  if (makes_out(group(g)) && servers_.all[s].place != out) {
    return kNoTime;
  }
  double longest = 0;
  for (std::size_t i = 0; i < size() && is_small(); ++i) {
    if ((bits[g] >> i & 1) != 0) {
      continue;
    }
    // Operation i is behind this group if all groups are that may have it.
    double least = kNoTime;
    for (std::size_t h = 0; h < bits.size() && least > 0; ++h) {
      if ((bits[h] >> i & 1) != 0 && (bits[h] & bits[g]) == 0) {
        least = std::min(least, from_end_of(g, s, h, out));
      }
    }
    longest = std::max(longest, least);
  }
  return longest;
}
// From the end of g on s to the end of the segment, if h has to wait for g; else 0.
double SegmentParts::from_end_of(std::size_t g, std::size_t s, std::size_t h,
                                 std::size_t out) const {
  double longest = 0;
  for (const std::size_t tensor : group(g).writes) {
    const std::size_t k = local[tensor];
    if (k == kNoPart || !reads(h, k)) {
      continue;
    }
    double least = kNoTime;
    for (std::size_t to = 0; to < count(); ++to) {
      least = std::min(least, way(k, s, to) + load(h, to) + tails_[out][h * count() + to]);
    }
    longest = std::max(longest, least);
  }
  return longest;
}

void SegmentParts::set_head(std::size_t g, const PlanMoment& moment) {
  for (std::size_t s = 0; s < count() && (bits[g] & moment.covered) == 0; ++s) {
    double start = load(g, s) > 0 ? moment.free[servers_.all[s].clock] : moment.now;
    for (const std::size_t tensor : group(g).reads) {
      start = std::max(start, ready_[local[tensor] * count() + s]);
    }
    heads_[g * count() + s] = start + load(g, s);
  }
}

// The earliest end of each group on each server, in any schedule that goes on from a moment.
// Until its turn comes, a tensor is taken to be there at once.
void SegmentParts::set_heads(const PlanMoment& moment) {
  const std::size_t n = count();
  heads_.assign(segment_.groups.size() * n, kNoTime);
  ready_.assign(tensors.size() * n, moment.now);
  const auto spread = [&](std::size_t k, const std::vector<double>& made) {
    for (std::size_t to = 0; to < n; ++to) {
      double least = kNoTime;
      for (std::size_t from = 0; from < n; ++from) {
        least = std::min(least, made[from] + way(k, from, to));
      }
      ready_[k * n + to] = least;
    }
  };
  for (const std::size_t k : order_) {
    std::vector<double> made(moment.there.begin() + static_cast<std::ptrdiff_t>(k * n),
                             moment.there.begin() + static_cast<std::ptrdiff_t>(k * n + n));
    if (*std::min_element(made.begin(), made.end()) == kNoTime) {
      for (const std::size_t g : writers_[k]) {
        set_head(g, moment);
        for (std::size_t s = 0; s < n; ++s) {
          made[s] = std::min(made[s], heads_[g * n + s]);
        }
      }
    }
    spread(k, made);
  }
  for (std::size_t g = 0; g < segment_.groups.size(); ++g) {
    set_head(g, moment);
  }
}
// The least weighted time of engines, by weights, of groups that cover the rest.
const std::vector<double>& SegmentParts::work(Bits covered) {
  const auto at = works_.find(covered);
  if (at != works_.end()) {
    return at->second;
  }
  std::vector<double> least(weights_.size(), 0);
  if (covered == all() || works_.size() >= kMostCovers) {
    return works_.emplace(covered, least).first->second;
  }
  least.assign(weights_.size(), kNoTime);
  const Bits next = ~covered & (covered + 1);  // the first one that is not covered
  for (std::size_t g = 0; g < bits.size(); ++g) {
    if ((bits[g] & next) == 0 || (bits[g] & covered) != 0) {
      continue;
    }
    const std::vector<double> rest = work(covered | bits[g]);
    for (std::size_t s = 0; s < count(); ++s) {
      const double time = load(g, s);
      for (std::size_t w = 0; w < weights_.size() && is_open_[g * count() + s]; ++w) {
        least[w] = std::min(least[w], weights_[w][servers_.all[s].engine] * time + rest[w]);
      }
    }
  }
  return works_.emplace(covered, std::move(least)).first->second;
}

// No end at `out` is before this: every operation that is left ends, and from there on it takes
// as long as the tail of its group.
double SegmentParts::by_paths(const PlanMoment& moment, std::size_t out) const {
  double bound = moment.finish;
  for (std::size_t i = 0; i < size() && is_small(); ++i) {
    if ((moment.covered >> i & 1) != 0) {
      continue;
    }
    double least = kNoTime;
    for (std::size_t g = 0; g < bits.size(); ++g) {
      for (std::size_t s = 0; s < count() && (bits[g] >> i & 1) != 0; ++s) {
        least = std::min(least, heads_[g * count() + s] + tails_[out][g * count() + s]);
      }
    }
    bound = std::max(bound, least);
  }
  return bound;
}

// The clocks have room for the work that is left: a clock from the first start of a group on it,
// to the end without the least tail.
double SegmentParts::by_work(const PlanMoment& moment, std::size_t out, double cap) {
  std::vector<double> starts(moment.free.size(), kNoTime), tails = starts;
  for (std::size_t at = 0; at < heads_.size(); ++at) {
    const double time = load(at / count(), at % count());
    if (time > 0 && heads_[at] + tails_[out][at] < cap) {
      const std::size_t clock = servers_.all[at % count()].clock;
      starts[clock] = std::min(starts[clock], heads_[at] - time);
      tails[clock] = std::min(tails[clock], tails_[out][at]);
    }
  }
  const std::vector<double>& left = work(moment.covered);
  double bound = 0;
  for (std::size_t w = 0; w < weights_.size() && bound < cap; ++w) {
    std::vector<std::pair<double, double>> joins;  // when a clock has room from, and its weight
    for (std::size_t c = 0; c < starts.size(); ++c) {
      const double weight = weights_[w][servers_.engine_of_clock[c]];
      if (starts[c] < kNoTime && weight > 0) {
        joins.emplace_back(starts[c] + tails[c], weight);
      }
    }
    std::sort(joins.begin(), joins.end());
    bound = std::max(bound, time_for(left[w], joins, cap));
  }
  return bound;
}

}  // namespace mapsim::check
