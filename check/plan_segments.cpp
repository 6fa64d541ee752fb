// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "check/plan_at_once.hpp"

namespace mapsim::check {

namespace {

bool holds_one(const std::vector<std::size_t>& list, std::size_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}
bool share_one(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](std::size_t each) { return holds_one(b, each); });
}

// The segments, by trying to cut in front of each operation.
class Cutting {
 public:
  explicit Cutting(const PlanClaim& claim) : claim_{claim}, writers_(claim.tensors.size()) {
    for (std::size_t g = 0; g < claim.groups.size(); ++g) {
      const auto& operations = claim.groups[g].operations;
      const auto [first, last] = std::minmax_element(operations.begin(), operations.end());
      spans_.emplace_back(*first, *last);
      for (const std::size_t tensor : claim.groups[g].writes) {
        writers_[tensor].push_back(g);
      }
    }
  }

  std::vector<PlanSegment> run() const {
    std::vector<PlanSegment> found;
    PlanSegment now;
    for (std::size_t p = std::max<std::size_t>(1, begin_of_fed()); p < claim_.operations; ++p) {
      now.end = p;
      now.groups = groups_in(now.begin, p);
      now.out = lone_tensor(p);
      if (now.out && follows(now) && leads(now)) {
        found.push_back(now);
        now = {p, p, {}, now.out, {}};
      }
    }
    now.end = claim_.operations;
    now.groups = groups_in(now.begin, now.end);
    now.out = std::nullopt;
    while (!follows(now) && !found.empty()) {  // what needs no cut tensor may run before it
      now.begin = found.back().begin;
      now.in = found.back().in;
      now.groups = groups_in(now.begin, now.end);
      found.pop_back();
    }
    found.push_back(std::move(now));
    return found;
  }

 private:
  // Behind all groups that read nothing.
  std::size_t begin_of_fed() const {
    std::size_t begin = 0;
    for (std::size_t g = 0; g < spans_.size(); ++g) {
      begin = claim_.groups[g].reads.empty() ? std::max(begin, spans_[g].second + 1) : begin;
    }
    return begin;
  }
  std::vector<std::size_t> groups_in(std::size_t begin, std::size_t end) const {
    std::vector<std::size_t> found;
    for (std::size_t g = 0; g < spans_.size(); ++g) {
      if (begin <= spans_[g].first && spans_[g].second < end) {
        found.push_back(g);
      }
    }
    return found;
  }

  // The only tensor that is made in front of p and read behind; nullopt: there is another one, or a
  // group on both sides, or one goes the other way.
  std::optional<std::size_t> lone_tensor(std::size_t p) const {
    std::set<std::size_t> crossing;
    for (std::size_t g = 0; g < spans_.size(); ++g) {
      if (spans_[g].first < p && p <= spans_[g].second) {
        return std::nullopt;
      }
      const bool is_behind = spans_[g].first >= p;
      for (const std::size_t tensor : claim_.groups[g].reads) {
        for (const std::size_t writer : writers_[tensor]) {
          if (is_behind == (spans_[writer].first >= p)) {
            continue;
          }
          if (!is_behind) {
            return std::nullopt;
          }
          crossing.insert(tensor);
        }
      }
    }
    if (crossing.size() != 1) {
      return std::nullopt;
    }
    // Written once, whichever groups are chosen.
    const auto& writers = writers_[*crossing.begin()];
    for (const std::size_t a : writers) {
      if (!std::all_of(writers.begin(), writers.end(), [&](std::size_t b) {
            return share_one(claim_.groups[a].operations, claim_.groups[b].operations);
          })) {
        return std::nullopt;
      }
    }
    return *crossing.begin();
  }

  // Whether every group waits for the first tensor: it reads it, or what only those make that do.
  bool follows(const PlanSegment& segment) const {
    if (!segment.in) {
      return true;
    }
    std::vector<bool> waits(claim_.groups.size(), false);
    const auto must_wait = [&](std::size_t tensor) {
      return tensor == segment.in ||
             (!writers_[tensor].empty() &&
              std::all_of(writers_[tensor].begin(), writers_[tensor].end(),
                          [&](std::size_t writer) { return waits[writer]; }));
    };
    return closes(segment, waits, [&](std::size_t g) {
      const auto& reads = claim_.groups[g].reads;
      return std::any_of(reads.begin(), reads.end(), must_wait);
    });
  }

  // Whether every group must have ended when the last tensor is made: it makes it, or there is an
  // operation that only groups may run, beside this one, that wait for it and must have ended.
  bool leads(const PlanSegment& segment) const {
    std::vector<bool> ends(claim_.groups.size(), false);
    return closes(segment, ends, [&](std::size_t g) {
      const PlanGroup& group = claim_.groups[g];
      if (holds_one(group.writes, *segment.out)) {
        return true;
      }
      std::set<std::size_t> blocked(group.operations.begin(), group.operations.end());
      std::set<std::size_t> readers;
      for (const std::size_t other : segment.groups) {
        const PlanGroup& each = claim_.groups[other];
        if (share_one(each.operations, group.operations)) {
          continue;
        }
        const bool is_behind =
            ends[other] && std::any_of(each.reads.begin(), each.reads.end(),
                                       [&](std::size_t tensor) { return is_made_by(tensor, g); });
        auto& set = is_behind ? readers : blocked;
        set.insert(each.operations.begin(), each.operations.end());
      }
      return !std::includes(blocked.begin(), blocked.end(), readers.begin(), readers.end());
    });
  }
  // Whether a tensor is made by this group, if by any that runs beside it.
  bool is_made_by(std::size_t tensor, std::size_t g) const {
    return holds_one(claim_.groups[g].writes, tensor) &&
           std::all_of(writers_[tensor].begin(), writers_[tensor].end(), [&](std::size_t writer) {
             return share_one(claim_.groups[g].operations, claim_.groups[writer].operations);
           });
  }

  // Whether all groups of a segment are in the least set that is closed under `is_in`.
  template <typename IsIn>
  static bool closes(const PlanSegment& segment, std::vector<bool>& set, const IsIn& is_in) {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const std::size_t g : segment.groups) {
        if (!set[g] && is_in(g)) {
          set[g] = goes_on = true;
        }
      }
    }
    return std::all_of(segment.groups.begin(), segment.groups.end(),
                       [&](std::size_t g) { return set[g]; });
  }

  const PlanClaim& claim_;
  std::vector<std::vector<std::size_t>> writers_;           // by tensor: groups
  std::vector<std::pair<std::size_t, std::size_t>> spans_;  // by group: first and last operation
};

}  // namespace

std::vector<PlanSegment> segments_of(const PlanClaim& claim) { return Cutting{claim}.run(); }

}  // namespace mapsim::check
