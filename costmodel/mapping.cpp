// SPDX-License-Identifier: Apache-2.0
#include "costmodel/mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace mapsim {
namespace {

// Walks a nest once, outermost node first, and notes what breaks a rule of check_structure().
class StructureChecker {
 public:
  StructureChecker(const Arch& arch, const Workload& workload)
      : arch_{arch},
        workload_{workload},
        extents_(workload.dims.size()),
        kept_(workload.tensors.size()) {
    for (const DimId d : workload.dims.ids()) {
      extents_[d] = workload.dims[d].bound;
    }
  }

  std::vector<StructureProblem> check(const Mapping& mapping) {
    check_start(mapping);
    for (const MappingNode& node : mapping.nodes) {
      std::visit([this](const auto& n) { visit(n); }, node);
      ++at_;
    }
    check_end();
    return std::move(problems_);
  }

 private:
  void report(std::string what) { problems_.push_back({at_, std::move(what)}); }
  const std::string& name(LevelId l) const { return arch_.levels[l].name; }
  const std::string& name(FanoutId f) const { return arch_.fanouts[f].name; }
  const std::string& name(TensorId t) const { return workload_.tensors[t].name; }
  const std::string& name(DimId d) const { return workload_.dims[d].name; }
  const char* role(TensorId t) const { return to_string(workload_.tensors[t].role); }

  // Before the first loop the outermost level keeps everything.
  void check_start(const Mapping& mapping) {
    TensorSet held;
    for (const MappingNode& node : mapping.nodes) {
      const Keep* keep = std::get_if<Keep>(&node);
      if (keep == nullptr) {
        break;
      }
      if (keep->level == LevelId{0}) {
        held = held | keep->tensors;
      }
    }
    for (const TensorId t : workload_.tensors.ids()) {
      if (!held.contains(t)) {
        report(fmt::format("the nest must begin with {} keeping every tensor, but {} is missing",
                           name(LevelId{0}), name(t)));
      }
    }
  }

  void visit(const Keep& keep) {
    if (keep.tensors.empty()) {
      report(fmt::format("{} keeps no tensor", name(keep.level)));
    }
    for (const TensorId t : workload_.tensors.ids()) {
      if (keep.tensors.contains(t)) {
        check_order(keep.level, t);
        check_allowed(keep.level, t);
        kept_[t].insert(keep.level);
      }
    }
    if (!innermost_ || index_of(*innermost_) < index_of(keep.level)) {
      innermost_ = keep.level;
    }
    if (fanout_ && arch_.is_above(keep.level, *fanout_)) {
      report(fmt::format("{} lies above {}: it must keep before the parallel loops of {}",
                         name(keep.level), name(*fanout_), name(*fanout_)));
    }
  }

  void check_order(LevelId level, TensorId t) {
    for (const LevelId before : arch_.levels.ids()) {
      if (!kept_[t].contains(before) || index_of(before) < index_of(level)) {
        continue;
      }
      if (before == level) {
        report(fmt::format("{} is kept twice at {}", name(t), name(level)));
      } else {
        report(fmt::format("{} is kept at {}, which lies outside {} where it was kept before",
                           name(t), name(level), name(before)));
      }
      return;
    }
  }

  void check_allowed(LevelId level, TensorId t) {
    const Storage& storage = arch_.levels[level];
    const Role r = workload_.tensors[t].role;
    if (storage.bypass.contains(r)) {
      report(fmt::format("{} is kept at {}, which {} must bypass", name(t), name(level), role(t)));
    } else if (!storage.capacity.per_role.empty() && !storage.capacity.per_role.contains(r)) {
      report(fmt::format("{} is kept at {}, which has no partition for {}", name(t), name(level),
                         role(t)));
    }
  }

  void visit(const Temporal& loop) { enter(loop.dim, loop.extent); }

  void visit(const Parallel& loop) {
    const FanoutId f = loop.fanout;
    if (fanout_ && index_of(f) < index_of(*fanout_)) {
      report(fmt::format("parallel {} over {} stands below {}, which lies inside {}",
                         name(loop.dim), name(f), name(*fanout_), name(f)));
    } else {
      fanout_ = f;
    }
    if (innermost_ && !arch_.is_above(*innermost_, f)) {
      report(fmt::format("parallel {} over {} stands below the keep of {}, which lies under {}",
                         name(loop.dim), name(f), name(*innermost_), name(f)));
    }
    enter(loop.dim, loop.extent);
  }

  void enter(DimId d, std::int64_t extent) {
    if (extent < 1) {
      report(fmt::format("{} has extent {}, which is less than 1", name(d), extent));
    } else if (extent > extents_[d]) {
      report(
          fmt::format("{} has extent {}, more than the {} above it", name(d), extent, extents_[d]));
    } else {
      extents_[d] = extent;
    }
  }

  void check_end() {
    for (const DimId d : workload_.dims.ids()) {
      if (extents_[d] != 1) {
        report(fmt::format("the nest ends with {} at extent {}, not 1", name(d), extents_[d]));
      }
    }
    for (const LevelId l : arch_.levels.ids()) {
      for (const TensorId t : workload_.tensors.ids()) {
        if (l != LevelId{0} && arch_.levels[l].keep.contains(workload_.tensors[t].role) &&
            !kept_[t].contains(l)) {
          report(
              fmt::format("{} is not kept at {}, which must keep {}", name(t), name(l), role(t)));
        }
      }
    }
  }

  const Arch& arch_;
  const Workload& workload_;
  PerDim<std::int64_t> extents_;      // tile at the node
  PerTensor<LevelSet> kept_;          // levels above the node that keep the tensor
  std::optional<LevelId> innermost_;  // innermost level kept above the node
  std::optional<FanoutId> fanout_;    // innermost fanout unrolled above the node
  std::size_t at_ = 0;
  std::vector<StructureProblem> problems_;
};

// Adds a keep to the group of keeps that ends `nodes`: sorted by level, one node a level.
void add_keep(std::vector<MappingNode>& nodes, const Keep& keep) {
  auto place = nodes.end();
  while (place != nodes.begin()) {
    Keep* before = std::get_if<Keep>(&*std::prev(place));
    if (before == nullptr || index_of(before->level) < index_of(keep.level)) {
      break;
    }
    if (before->level == keep.level) {
      before->tensors = before->tensors | keep.tensors;
      return;
    }
    --place;
  }
  nodes.insert(place, keep);
}

}  // namespace

std::vector<StructureProblem> check_structure(const Arch& arch, const Workload& workload,
                                              const Mapping& mapping) {
  return StructureChecker{arch, workload}.check(mapping);
}

Mapping canonical(const Workload& workload, const Mapping& mapping) {
  PerDim<std::int64_t> extents(workload.dims.size());
  for (const DimId d : workload.dims.ids()) {
    extents[d] = workload.dims[d].bound;
  }
  Mapping result;
  const auto cuts = [&extents](DimId d, std::int64_t extent) {
    return std::exchange(extents[d], extent) != extent;
  };
  for (const MappingNode& node : mapping.nodes) {
    if (const Keep* keep = std::get_if<Keep>(&node)) {
      add_keep(result.nodes, *keep);
    } else if (const Parallel* parallel = std::get_if<Parallel>(&node)) {
      if (cuts(parallel->dim, parallel->extent)) {
        result.nodes.push_back(*parallel);
      }
    } else if (const Temporal& loop = std::get<Temporal>(node); cuts(loop.dim, loop.extent)) {
      Temporal* above =
          result.nodes.empty() ? nullptr : std::get_if<Temporal>(&result.nodes.back());
      if (above != nullptr && above->dim == loop.dim) {
        above->extent = loop.extent;
      } else {
        result.nodes.push_back(loop);
      }
    }
  }
  return result;
}

}  // namespace mapsim
