// SPDX-License-Identifier: Apache-2.0
#include "plan/buffers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "plan/offsets.hpp"

namespace mapsim {

namespace {

bool meet(const Buffer& a, const Buffer& b) { return a.first <= b.last && b.first <= a.last; }

std::int64_t most_alive(const std::vector<Buffer>& buffers) {
  std::map<std::size_t, std::int64_t> changes;
  for (const Buffer& buffer : buffers) {
    changes[buffer.first] += buffer.bytes;
    changes[buffer.last + 1] -= buffer.bytes;
  }
  std::int64_t alive = 0;
  std::int64_t most = 0;
  for (const auto& [step, change] : changes) {
    alive += change;
    most = std::max(most, alive);
  }
  return most;
}

// Steps in which each place of each tensor is used. A place: the tensor where it was made, or its
// copy on an engine.
class Lifetimes {
 public:
  Lifetimes(const Versions& versions, const std::vector<Place>& places, const Groups& groups,
            const std::vector<PlannedGroup>& plan)
      : versions_{versions},
        places_{places},
        ops_{versions.operations.front()},
        links_{links_of(*ops_.graph)},
        home_(ops_.graph->tensors.size()),
        joined_(ops_.graph->tensors.size()) {
    for (std::size_t t = 0; t < joined_.size(); ++t) {
      joined_[t] = t;
    }
    for (const PlannedGroup& each : plan) {
      const Group& group = groups.all[each.group];
      if (group.elided) {
        for (const GraphUse& use : ops_.node(group.operations.front()).in) {
          joined_[use.tensor] = ops_.node(group.operations.front()).out.front();
        }
      }
    }
    for (std::size_t step = 0; step < plan.size(); ++step) {
      end_ = last_beside(plan, step);
      run(groups.all[plan[step].group], plan[step], step);
      for (const PlannedMove& move : plan[step].moves) {  // which may have been made earlier
        std::size_t at = step;
        while (at > 0 && plan[at].start > move.start) {
          --at;
        }
        use(move.move.tensor, move.move.to, at);
      }
    }
    end_ = plan.size() - 1;
    for (std::size_t t = 0; t < ops_.is_output.size(); ++t) {
      if (ops_.is_output[t] && home_[t]) {
        use(t, *home_[t], plan.size() - 1);
      }
    }
  }

  std::vector<Buffer> buffers() const {
    std::vector<Buffer> found;
    for (const auto& [place, steps] : steps_) {
      const GraphTensor& tensor = versions_.operations[place.second].graph->tensors[place.first];
      const double bits = static_cast<double>(size_of(tensor).value_or(Bits{0}).count()) *
                          padding_of(tensor, places_[place.second].format);
      const auto bytes = static_cast<std::int64_t>(std::ceil(bits / kBitsPerByte));
      found.push_back({tensor.name, bytes, steps.first, steps.second, 0});
    }
    return found;
  }

 private:
  void use(std::size_t tensor, std::size_t engine, std::size_t step) {
    if (const auto at = shared_.find({tensor, engine}); at != shared_.end()) {
      engine = at->second;
    }
    while (joined_[tensor] != tensor) {
      tensor = joined_[tensor];
    }
    const auto [at, is_new] = steps_.try_emplace({tensor, engine}, step, step);
    at->second.first = std::min(at->second.first, step);
    at->second.second = std::max(at->second.second, end_);
  }

  // The last group that starts before this one ends.
  static std::size_t last_beside(const std::vector<PlannedGroup>& plan, std::size_t step) {
    constexpr double kSlack = 1e-12;
    const double end = (plan[step].start + plan[step].price.load.latency) * (1 - kSlack);
    std::size_t last = step;
    while (last + 1 < plan.size() && plan[last + 1].start < end) {
      ++last;
    }
    return last;
  }

  void run(const Group& group, const PlannedGroup& each, std::size_t step) {
    for (const PlannedMove& move : each.moves) {
      const auto& [tensor, from, to] = move.move;
      if (!move.load.engine) {  // nobody converts it: both read the same bytes
        const auto at = shared_.find({tensor, from});
        shared_[{tensor, to}] = at == shared_.end() ? from : at->second;
      }
      use(tensor, from, step);
    }
    for (const std::size_t tensor : group.reads) {
      use(tensor, each.place, step);
    }
    for (const std::size_t tensor : group.writes) {
      home_[tensor] = each.place;
      use(tensor, each.place, step);
    }
    for (const std::size_t i : group.operations) {
      for (const GraphUse& input : ops_.node(i).in) {
        const std::size_t tensor = source_of(*ops_.graph, links_, input.tensor);
        if (!ops_.producer[tensor] && !ops_.graph->tensors[tensor].constant &&
            !links_.producer[tensor]) {
          home_[tensor] = home_[tensor].value_or(each.place);
          use(tensor, *home_[tensor], 0);
          use(tensor, *home_[tensor], step);
        }
      }
    }
  }

  const Versions& versions_;
  const std::vector<Place>& places_;
  const Operations& ops_;
  std::size_t end_ = 0;  // the last group that works while a tensor is used
  GraphLinks links_;
  std::vector<std::optional<std::size_t>> home_;  // by tensor: the engine that made it
  std::vector<std::size_t> joined_;               // by tensor: the concat that it is a part of
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> shared_;  // where a place lies
  std::map<std::pair<std::size_t, std::size_t>, std::pair<std::size_t, std::size_t>> steps_;
};

}  // namespace

namespace {

// Better offsets, by a search for less and less; the bound rises to what is proven impossible.
void improve(std::vector<Buffer>& buffers, MemoryMap& map, std::size_t most_nodes) {
  for (std::int64_t capacity = map.bound; map.bound < map.peak;) {
    const OffsetSearch found = find_offsets(buffers, capacity, most_nodes);
    if (found.offsets) {
      map.peak = 0;
      for (std::size_t b = 0; b < buffers.size(); ++b) {
        buffers[b].offset = (*found.offsets)[b];
        map.peak = std::max(map.peak, buffers[b].offset + buffers[b].bytes);
      }
    } else if (found.proven) {
      map.bound = capacity + 1;
    } else {
      return;
    }
    capacity = std::max(map.bound, (map.bound + map.peak) / 2 - 1);
  }
}

}  // namespace

MemoryMap place(std::vector<Buffer> buffers, std::size_t most_nodes) {
  MemoryMap map;
  std::erase_if(buffers, [](const Buffer& buffer) { return buffer.bytes == 0; });
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const Buffer& a, const Buffer& b) { return a.bytes > b.bytes; });
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    std::vector<const Buffer*> beside;
    for (std::size_t j = 0; j < i; ++j) {
      if (meet(buffers[i], buffers[j])) {
        beside.push_back(&buffers[j]);
      }
    }
    std::sort(beside.begin(), beside.end(),
              [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; });
    for (const Buffer* other : beside) {
      if (other->offset >= buffers[i].offset + buffers[i].bytes) {
        break;  // it fits in front of this one
      }
      buffers[i].offset = std::max(buffers[i].offset, other->offset + other->bytes);
    }
    map.peak = std::max(map.peak, buffers[i].offset + buffers[i].bytes);
    map.naive += buffers[i].bytes;
  }
  map.bound = most_alive(buffers);
  if (map.peak > map.bound && most_nodes > 0) {
    improve(buffers, map, most_nodes);
  }
  map.buffers = std::move(buffers);
  return map;
}

std::vector<Buffer> buffers_of(const Versions& versions, const std::vector<Place>& places,
                               const Groups& groups, const std::vector<PlannedGroup>& plan) {
  return Lifetimes{versions, places, groups, plan}.buffers();
}

}  // namespace mapsim
