// SPDX-License-Identifier: Apache-2.0
#include "plan/buffers.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

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
  Lifetimes(const Operations& operations, const Groups& groups,
            const std::vector<PlannedGroup>& plan)
      : ops_{operations},
        links_{links_of(*operations.graph)},
        home_(operations.graph->tensors.size()),
        joined_(operations.graph->tensors.size()) {
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
      run(groups.all[plan[step].group], plan[step], step);
    }
    for (std::size_t t = 0; t < ops_.is_output.size(); ++t) {
      if (ops_.is_output[t] && home_[t]) {
        use(t, *home_[t], plan.size() - 1);
      }
    }
  }

  std::vector<Buffer> buffers() const {
    std::vector<Buffer> found;
    for (const auto& [place, steps] : steps_) {
      const GraphTensor& tensor = ops_.graph->tensors[place.first];
      const std::int64_t bits = size_of(tensor).value_or(Bits{0}).count();
      found.push_back({tensor.name, (bits + 7) / 8, steps.first, steps.second, 0});
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
    at->second.second = std::max(at->second.second, step);
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
      use(tensor, each.engine, step);
    }
    for (const std::size_t tensor : group.writes) {
      home_[tensor] = each.engine;
      use(tensor, each.engine, step);
    }
    for (const std::size_t i : group.operations) {
      for (const GraphUse& input : ops_.node(i).in) {
        const std::size_t tensor = source_of(*ops_.graph, links_, input.tensor);
        if (!ops_.producer[tensor] && !ops_.graph->tensors[tensor].constant &&
            !links_.producer[tensor]) {
          home_[tensor] = home_[tensor].value_or(each.engine);
          use(tensor, *home_[tensor], 0);
          use(tensor, *home_[tensor], step);
        }
      }
    }
  }

  const Operations& ops_;
  GraphLinks links_;
  std::vector<std::optional<std::size_t>> home_;  // by tensor: the engine that made it
  std::vector<std::size_t> joined_;               // by tensor: the concat that it is a part of
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> shared_;  // where a place lies
  std::map<std::pair<std::size_t, std::size_t>, std::pair<std::size_t, std::size_t>> steps_;
};

}  // namespace

MemoryMap place(std::vector<Buffer> buffers) {
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
  map.buffers = std::move(buffers);
  return map;
}

std::vector<Buffer> buffers_of(const Operations& operations, const Groups& groups,
                               const std::vector<PlannedGroup>& plan) {
  return Lifetimes{operations, groups, plan}.buffers();
}

}  // namespace mapsim
