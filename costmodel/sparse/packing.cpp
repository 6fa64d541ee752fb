// SPDX-License-Identifier: Apache-2.0
#include "costmodel/sparse/packing.hpp"

#include <algorithm>

#include "core/arithmetic.hpp"
#include "core/diagnostic.hpp"

namespace mapsim {

void refuse_conditions(const Workload& workload, TensorId leader, const std::string& why) {
  throw ConfigError(
      {{workload.name, 0, 0, "",
        "conditions on " + workload.tensors[leader].name + " are not counted " + why, ""}});
}

namespace {

constexpr const char* kOneElement =
    "where lanes are packed, unless a lane takes one element of it at a time, and what the lanes "
    "share is moved per batch or per tile";

// Data: per tile of `length` elements along a rank, in a line of which all elements are among those
// that are marked.
template <class Visit>
void for_each_line(const Workload& workload, TensorId t, const DensityModel& data, std::size_t rank,
                   std::int64_t length, const std::map<DimId, std::vector<char>>& among,
                   const Visit& visit) {
  const TileShape& box = data.box();
  const Tensor& tensor = workload.tensors[t];
  std::int64_t stride = 1;  // of the rank
  for (std::size_t r = rank + 1; r < box.size(); ++r) {
    stride *= box[r];
  }
  for (std::int64_t first = 0; first < data.size(); ++first) {
    bool is_first = first / stride % box[rank] % length == 0;
    std::int64_t rest = first;
    for (std::size_t r = box.size(); r-- > 0 && is_first; rest /= box[r]) {
      for (const Term& term : tensor.ranks[r].terms) {
        const auto marks = among.find(term.dim);
        is_first = is_first && (marks == among.end() ||
                                marks->second[static_cast<std::size_t>(rest % box[r])] != 0);
      }
    }
    std::int64_t nonzeros = 0;
    for (std::int64_t i = 0; i < length && is_first; ++i) {
      nonzeros += data.pattern().nonzero[static_cast<std::size_t>(first + i * stride)];
    }
    if (is_first) {
      visit(nonzeros);
    }
  }
}

}  // namespace

std::vector<std::size_t> packed_loops(const Problem& problem, const Nest& nest, std::size_t lanes) {
  const DimId dim = nest.loops[lanes].dim;
  std::size_t tile = 0;
  for (const TensorId t : problem.workload().tensors.ids()) {
    for (const Placement& placement : nest.placements[t]) {
      const bool feeds =
          problem.workload().tensors[t].dims().contains(dim) && placement.position <= lanes;
      tile = feeds ? std::max(tile, placement.position) : tile;
    }
  }
  std::vector<std::size_t> loops;
  for (std::size_t i = tile; i < lanes; ++i) {
    const NestLoop& loop = nest.loops[i];
    if (loop.dim == dim && !loop.fanout) {
      loops.push_back(i);
    } else if (loop.dim == dim &&
               problem.arch().fanouts[*loop.fanout].balance == Balance::kPacked) {
      loops.clear();  // they are packed by these lanes
    }
  }
  loops.push_back(lanes);
  return loops;
}

std::int64_t batches_of(const Problem& problem, const Nest& nest, std::size_t lanes,
                        std::size_t moving, bool alone) {
  const std::vector<std::size_t> loops = packed_loops(problem, nest, lanes);
  const DimId dim = nest.loops[lanes].dim;
  std::int64_t batches = 1;
  std::size_t moved = 0;
  for (std::size_t i = 0; i + 1 < loops.size(); ++i) {
    batches *= nest.loops[loops[i]].bound;
    moved += loops[i] < moving ? 1 : 0;
  }
  if (moved == 0) {
    return 1;  // it serves all of them
  }
  bool is_line = alone && moved + 1 == loops.size() && nest.loops[lanes].extent == 1;
  for (std::size_t i = loops.front(); i < lanes; ++i) {
    const bool cuts = nest.loops[i].dim == dim;
    is_line = is_line && !(cuts && std::find(loops.begin(), loops.end(), i) == loops.end());
  }
  return is_line ? batches : 0;
}

double packed_hit(const SparseModel& model, const Workload& workload, TensorId leader,
                  const ServedSpace& space, const std::map<DimId, std::vector<char>>& among) {
  const Tensor& tensor = workload.tensors[leader];
  const DensityModel& occupancy = model.occupancy(leader);
  std::size_t rank = 0;
  DimId along{};
  for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
    for (const Term& term : tensor.ranks[r].terms) {
      const bool is_packed = space[term.dim].batches != 1;
      const bool is_one = space[term.dim].count == 1;
      if (tensor.ranks[r].terms.size() != 1 || !(is_packed || is_one) ||
          space[term.dim].batches == 0) {
        refuse_conditions(workload, leader, kOneElement);
      }
      rank = is_packed ? r : rank;
      along = is_packed ? term.dim : along;
    }
  }
  for (const TensorId t : workload.tensors.ids()) {
    const Tensor& other = workload.tensors[t];
    if (t != leader && model.looks_at(t) && other.dims().contains(along) &&
        !model.occupancy(t).is_dense()) {
      refuse_conditions(workload, leader,
                        "where lanes are packed with nonzeros of " + other.name + ", too");
    }
  }
  const std::int64_t lanes = space[along].count;
  const std::int64_t batches = space[along].batches;
  const std::int64_t length = lanes * batches;
  const bool whole = among.empty();
  if (occupancy.is_data()) {
    double lines = 0;
    double filled = 0;
    for_each_line(workload, leader, occupancy, rank, length, among, [&](std::int64_t nonzeros) {
      lines += 1;
      filled += whole ? real(ceil_div(nonzeros, lanes)) / real(batches) : nonzeros > 0 ? 1 : 0;
    });
    return filled / lines;
  }
  if (occupancy.is_uniform()) {
    return whole ? expected_groups(hypergeometric(occupancy.size(), occupancy.nonzeros(), length),
                                   lanes) /
                       real(batches)
                 : 1 - occupancy.empty({length});
  }
  const Pattern& pattern = occupancy.pattern();
  if (pattern.kind != PatternKind::kStructured || pattern.dim != along ||
      length % pattern.block != 0) {
    refuse_conditions(workload, leader,
                      "where lanes are packed, unless its blocks are whole along them");
  }
  return whole ? real(ceil_div(length / pattern.block * pattern.kept, lanes)) / real(batches) : 1;
}

}  // namespace mapsim
