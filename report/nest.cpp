// SPDX-License-Identifier: Apache-2.0
#include "report/nest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/figures.hpp"

namespace mapsim {

namespace {

struct Line {
  std::string text;
  std::string note;
};

class Drawing {
 public:
  Drawing(const Problem& problem, const Counts& counts) : problem_{problem}, counts_{counts} {
    for (const Dim& dim : problem.workload().dims) {
      sizes_.push_back(dim.bound);
    }
  }

  void add(const Keep& keep) {
    const Storage& level = problem_.arch().levels[keep.level];
    std::string names;
    std::string note;
    for (const TensorId id : problem_.workload().tensors.ids()) {
      if (!keep.tensors.contains(id)) {
        continue;
      }
      const Tensor& tensor = problem_.workload().tensors[id];
      const TensorCounts& at = counts_.levels[keep.level][id];
      names += (names.empty() ? "" : ", ") + tensor.name;
      note += fmt::format("{}{} {}", note.empty() ? "" : ", ", tensor.name,
                          bytes_text(at.bits * at.footprint));
      if (const auto part = level.capacity.per_role.find(tensor.role);
          part != level.capacity.per_role.end()) {
        note += " of " + bytes_text(part->second);
      }
    }
    if (level.capacity.shared) {
      note += fmt::format("; {} has {}", level.name, bytes_text(*level.capacity.shared));
    }
    put(fmt::format("keep {}: {}", level.name, names), note);
  }

  void add(const Temporal& loop) {
    put(fmt::format("for {} in {}", name(loop.dim), tiles(loop.dim, loop.extent, "tile")), "");
    ++depth_;
  }

  void add(const Parallel& loop) {
    const Fanout& fanout = problem_.arch().fanouts[loop.fanout];
    put(fmt::format("parallel {} in {} over {} of {}", name(loop.dim),
                    tiles(loop.dim, loop.extent, "block"), to_string(loop.axis), fanout.name),
        "");
    ++depth_;
  }

  std::string finish() {
    put(problem_.arch().compute.name, "");
    std::size_t width = 0;
    for (const Line& line : lines_) {
      width = std::max(width, line.note.empty() ? 0 : line.text.size());
    }
    std::string text;
    for (const Line& line : lines_) {
      text +=
          line.note.empty() ? line.text : fmt::format("{:<{}}  # {}", line.text, width, line.note);
      text += '\n';
    }
    return text;
  }

 private:
  const std::string& name(DimId dim) const { return problem_.workload().dims[dim].name; }

  // "4 tiles of 16", "5 tiles of 12, the last of 8"; goes down to `extent`.
  std::string tiles(DimId dim, std::int64_t extent, const char* what) {
    const std::int64_t size = std::exchange(sizes_[dim], extent);
    const std::int64_t last = (size - 1) % extent + 1;
    std::string text = fmt::format("{} {}s of {}", (size + extent - 1) / extent, what, extent);
    return last == extent ? text : text + fmt::format(", the last of {}", last);
  }

  void put(const std::string& text, const std::string& note) {
    lines_.push_back({std::string(2 * (depth_ + 1), ' ') + text, note});
  }

  const Problem& problem_;
  const Counts& counts_;
  PerDim<std::int64_t> sizes_;
  std::size_t depth_ = 0;
  std::vector<Line> lines_;
};

}  // namespace

std::string draw_nest(const Problem& problem, const Mapping& mapping, const Counts& counts) {
  Drawing drawing{problem, counts};
  for (const MappingNode& node : mapping.nodes) {
    std::visit([&](const auto& known) { drawing.add(known); }, node);
  }
  return drawing.finish();
}

}  // namespace mapsim
