// SPDX-License-Identifier: Apache-2.0
#include "shrink_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace mapsim {
namespace {

// The parts of a case, free to be combined anew.
struct Parts {
  Arch arch;
  Workload workload;
  Constraints constraints;
  friend bool operator==(const Parts&, const Parts&) = default;
};

using Candidates = std::vector<Parts>;

template <class Change>
void add(const Parts& from, Candidates& smaller, const Change& change) {
  Parts next = from;
  change(next);
  if (!(next == from)) {
    smaller.push_back(std::move(next));
  }
}

template <class Id, class T, std::size_t capacity>
IdArray<Id, T, capacity> without(const IdArray<Id, T, capacity>& all, Id id) {
  IdArray<Id, T, capacity> rest;
  for (const Id other : all.ids()) {
    if (other != id) {
      rest.push_back(all[other]);
    }
  }
  return rest;
}

void drop_level(Parts& parts, LevelId level) {
  parts.arch.levels = without(parts.arch.levels, level);
  if (!parts.constraints.keeps.empty()) {
    parts.constraints.keeps = without(parts.constraints.keeps, level);
  }
  for (std::size_t& above : parts.arch.levels_above) {
    above -= above > index_of(level) ? 1 : 0;
  }
}

void add_smaller_structures(const Parts& from, Candidates& smaller) {
  for (const LevelId l : from.arch.levels.ids()) {
    if (l != LevelId{0}) {
      add(from, smaller, [l](Parts& c) { drop_level(c, l); });
    }
  }
  for (const FanoutId f : from.arch.fanouts.ids()) {
    if (!from.constraints.spatial) {
      add(from, smaller, [f](Parts& c) {
        c.arch.fanouts = without(c.arch.fanouts, f);
        c.arch.levels_above = without(c.arch.levels_above, f);
      });
    }
    add(from, smaller, [f](Parts& c) { c.arch.fanouts[f].y = 1; });
    add(from, smaller, [f](Parts& c) { c.arch.fanouts[f].x = 2; });
  }
  for (const DimId d : from.workload.dims.ids()) {
    const std::int64_t bound = from.workload.dims[d].bound;
    for (const std::int64_t less : {std::int64_t{1}, bound / 2, bound - 1}) {
      if (less >= 1 && less < bound) {
        add(from, smaller, [=](Parts& c) { c.workload.dims[d].bound = less; });
      }
    }
  }
}

void add_plainer_levels(const Parts& from, Candidates& smaller) {
  for (const LevelId l : from.arch.levels.ids()) {
    const auto at = [&](auto change) {
      add(from, smaller, [&](Parts& c) { change(c.arch.levels[l]); });
    };
    at([](Storage& s) { s.capacity = {}; });
    at([](Storage& s) { s.bandwidth = {}; });
    at([](Storage& s) { s.bypass = {}; });
    at([](Storage& s) { s.keep = {}; });
    at([](Storage& s) { s.sliding = true; });
    at([](Storage& s) { s.double_buffered = false; });
    at([](Storage& s) { s.energy.read = PicojoulesPerBit{0}; });
    at([](Storage& s) { s.energy.write = PicojoulesPerBit{0}; });
    at([](Storage& s) { s.energy.update = PicojoulesPerBit{0}; });
  }
}

void add_plainer_rest(const Parts& from, Candidates& smaller) {
  for (const FanoutId f : from.arch.fanouts.ids()) {
    const auto at = [&](auto change) {
      add(from, smaller, [&](Parts& c) { change(c.arch.fanouts[f]); });
    };
    at([](Fanout& n) { n.multicast = {}; });
    at([](Fanout& n) { n.spatial_reduction = false; });
    at([](Fanout& n) { n.forwarding = true; });
    at([](Fanout& n) { n.reduction_energy = Picojoules{0}; });
    at([](Fanout& n) { n.energy_per_hop.reset(); });
    at([](Fanout& n) { n.x_dims = n.y_dims = {}; });
  }
  for (const TensorId t : from.workload.tensors.ids()) {
    add(from, smaller, [t](Parts& c) { c.workload.tensors[t].density = 1; });
    add(from, smaller, [t](Parts& c) {
      c.workload.tensors[t].bits = c.workload.tensors[t].partial_bits = Bits{8};
    });
    for (std::size_t r = 0; r < from.workload.tensors[t].ranks.size(); ++r) {
      for (std::size_t i = 0; i < from.workload.tensors[t].ranks[r].terms.size(); ++i) {
        add(from, smaller,
            [=](Parts& c) { c.workload.tensors[t].ranks[r].terms[i].coefficient = 1; });
      }
    }
  }
  add(from, smaller, [](Parts& c) { c.constraints.even = false; });
  add(from, smaller, [](Parts& c) { c.constraints.one_loop_per_dim = false; });
  add(from, smaller, [](Parts& c) { c.constraints.spatial.reset(); });
  add(from, smaller, [](Parts& c) { c.constraints.keeps = {}; });
  add(from, smaller, [](Parts& c) { c.arch.compute.register_reuse = {}; });
  add(from, smaller, [](Parts& c) { c.arch.compute.energy = Picojoules{0}; });
  add(from, smaller, [](Parts& c) { c.arch.compute.issue_interval = 1; });
}

// Given factors must still divide what is left.
bool is_sound(const Parts& parts) {
  if (!parts.constraints.spatial) {
    return true;
  }
  PerDim<std::int64_t> left(parts.workload.dims.size());
  for (const DimId d : left.ids()) {
    left[d] = parts.workload.dims[d].bound;
  }
  for (const Unroll& unroll : *parts.constraints.spatial) {
    if (left[unroll.dim] % unroll.factor != 0) {
      return false;
    }
    left[unroll.dim] /= unroll.factor;
  }
  return true;
}

}  // namespace

SearchCase shrink(SearchCase failing, const std::function<bool(const SearchCase&)>& fails) {
  Parts smallest{failing.problem.arch(), failing.problem.workload(), failing.constraints};
  bool smaller_found = true;
  while (smaller_found) {
    Candidates smaller;
    add_smaller_structures(smallest, smaller);
    add_plainer_levels(smallest, smaller);
    add_plainer_rest(smallest, smaller);
    smaller_found = false;
    for (const Parts& next : smaller) {
      SearchCase found{Problem{next.arch, next.workload}, next.constraints};
      if (is_sound(next) && fails(found)) {
        smallest = next;
        failing = std::move(found);
        smaller_found = true;
        break;
      }
    }
  }
  return failing;
}

}  // namespace mapsim
