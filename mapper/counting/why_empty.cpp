// SPDX-License-Identifier: Apache-2.0
#include "mapper/counting/why_empty.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "mapper/counting/mapspace_size.hpp"

namespace mapsim {
namespace {

// A constraint by its name in the file, and the others.
struct Dropped {
  std::string name;
  Constraints others;
};

std::string node_name(const Arch& arch, const LoopRule& rule) {
  if (rule.level) {
    return arch.levels[*rule.level].name;
  }
  return rule.fanout ? arch.fanouts[*rule.fanout].name : arch.compute.name;
}

std::vector<Dropped> drop_each(const Mapspace& space) {
  const Arch& arch = space.problem().arch();
  const Workload& workload = space.problem().workload();
  const Constraints& all = space.constraints();
  std::vector<Dropped> dropped;
  if (all.spatial) {
    dropped.push_back({"spatial", all});
    dropped.back().others.spatial.reset();
  }
  for (std::size_t i = 0; i < all.unroll.size(); ++i) {
    dropped.push_back({"unroll " + arch.fanouts[all.unroll[i].fanout].name, all});
    dropped.back().others.unroll.erase(dropped.back().others.unroll.begin() +
                                       static_cast<std::ptrdiff_t>(i));
  }
  if (!all.keeps.empty()) {
    dropped.push_back({"keep and bypass", all});
    dropped.back().others.keeps = {};
  }
  for (std::size_t i = 0; i < all.extents.size(); ++i) {
    const ExtentRule& rule = all.extents[i];
    dropped.push_back(
        {fmt::format("extents {}: {}: {}", arch.levels[rule.level].name,
                     workload.tensors[rule.tensor].name, workload.dims[rule.dim].name),
         all});
    dropped.back().others.extents.erase(dropped.back().others.extents.begin() +
                                        static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t i = 0; i < all.loops.size(); ++i) {
    dropped.push_back({"loops " + node_name(arch, all.loops[i]), all});
    dropped.back().others.loops.erase(dropped.back().others.loops.begin() +
                                      static_cast<std::ptrdiff_t>(i));
  }
  return dropped;
}

}  // namespace

std::string why_empty(const Mapspace& space) {
  std::vector<std::string> to_blame;
  for (Dropped& candidate : drop_each(space)) {
    const Mapspace others{space.problem(), std::move(candidate.others)};
    if (!others.is_listable() || mapspace_size(others) != "0") {  // too many to count: not none
      to_blame.push_back(std::move(candidate.name));
    }
  }
  const char* what = space.unrolling_count() == 0 ? "no unrolling" : "no mapping";
  return to_blame.empty()
             ? fmt::format("{} obeys the constraints, and dropping one of them would not help",
                           what)
             : fmt::format("{} obeys the constraints; there are some without: {}", what,
                           fmt::join(to_blame, "; "));
}

}  // namespace mapsim
