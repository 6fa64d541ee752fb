// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "interop/timeloop_mapping.hpp"

namespace mapsim {

namespace {

std::string factors_text(const Workload& workload, const std::vector<TimeloopLoop>& loops) {
  std::vector<std::string> factors;
  for (const DimId d : workload.dims.ids()) {
    const auto loop = std::find_if(loops.begin(), loops.end(),
                                   [d](const TimeloopLoop& each) { return each.dim == d; });
    std::string text = fmt::format("{}=1", workload.dims[d].name);
    if (loop != loops.end()) {
      text = fmt::format("{}={}", workload.dims[d].name, loop->bound);
      text += loop->residual != loop->bound ? fmt::format(",{}", loop->residual) : "";
    }
    factors.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(factors, " "));
}

// Innermost first, then the dims without a loop.
std::string permutation_text(const Workload& workload, const std::vector<TimeloopLoop>& loops) {
  std::vector<std::string> order;
  DimSet named;
  for (std::size_t i = loops.size(); i-- > 0;) {
    order.push_back(workload.dims[loops[i].dim].name);
    named.insert(loops[i].dim);
  }
  for (const DimId d : workload.dims.ids()) {
    if (!named.contains(d)) {
      order.push_back(workload.dims[d].name);
    }
  }
  const bool letters = std::all_of(order.begin(), order.end(),
                                   [](const std::string& name) { return name.size() == 1; });
  return fmt::format("{}", fmt::join(order, letters ? "" : ","));
}

}  // namespace

std::string write_timeloop_mapping(const TimeloopMachine& machine, const Workload& workload,
                                   const std::vector<TimeloopBlock>& blocks) {
  std::string text = "mapping:\n";
  for (std::size_t l = 0; l < blocks.size(); ++l) {
    const TimeloopBlock& block = blocks[l];
    const std::string& name = machine.storages[l].name;
    std::vector<std::string> lists[2];
    for (const TensorId t : workload.tensors.ids()) {
      lists[block.keep.contains(t) ? 0 : 1].push_back(workload.tensors[t].name);
    }
    text += fmt::format("- target: {}\n  type: datatype\n  keep: [{}]\n  bypass: [{}]\n", name,
                        fmt::join(lists[0], ", "), fmt::join(lists[1], ", "));
    text += fmt::format("- target: {}\n  type: temporal\n  factors: {}\n  permutation: {}\n", name,
                        factors_text(workload, block.temporal),
                        permutation_text(workload, block.temporal));
    // The front end has the instances below a point of their own, which Timeloop takes for a
    // storage.
    const std::vector<std::string>& points = machine.storages[l].fanout_names;
    if (!points.empty()) {
      text += fmt::format("- target: {0}\n  type: datatype\n  keep: []\n  bypass: [{1}]\n",
                          points.front(), fmt::join(names_of(workload.tensors), ", "));
      text +=
          fmt::format("- target: {}\n  type: temporal\n  factors: {}\n  permutation: {}\n",
                      points.front(), factors_text(workload, {}), permutation_text(workload, {}));
    }
    if (block.spatial.empty()) {
      continue;
    }
    const auto along_x =
        std::count_if(block.spatial.begin(), block.spatial.end(),
                      [](const TimeloopLoop& loop) { return loop.axis == Axis::kX; });
    text += fmt::format(
        "- target: {}\n  type: spatial\n  factors: {}\n  permutation: {}\n  split: {}\n",
        points.empty() ? name : points.front(), factors_text(workload, block.spatial),
        permutation_text(workload, block.spatial), along_x);
  }
  return text;
}

}  // namespace mapsim
