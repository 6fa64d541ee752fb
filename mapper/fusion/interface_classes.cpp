// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/interface_classes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/factor.hpp"
#include "mapper/mapper.hpp"

namespace mapsim::fusion {

namespace {

constexpr std::size_t kMostClasses = 2'000'000;
constexpr std::int64_t kMostTiles = 65'536;  // of a shared loop: each is walked

}  // namespace

InterfaceClasses::InterfaceClasses(const EinsumChain& group, std::size_t most_loops,
                                   GroupCounter& counter, HeldMemory& held)
    : group_{group}, classes_(1), driven_(group.einsums.back().dims.size()) {
  const Workload& sink = group.einsums.back();
  for (const DimId d : sink.dims.ids()) {
    std::vector<std::int64_t> extents;
    const std::int64_t bound = sink.dims[d].bound;
    for (const std::int64_t n : divisors_of(bound)) {
      if (n < bound && bound / n <= kMostTiles) {
        extents.push_back(n);
      }
    }
    if (extents.empty() || !counter.count(counter.innermost({{d, extents.front()}}))) {
      continue;  // a rule of mapping trees forbids to share the dim
    }
    find_driven({d, extents.front()}, counter);
    const std::size_t count = classes_.size();
    for (const std::int64_t n : extents) {
      for (std::size_t i = 0; i < count; ++i) {
        if (classes_[i].size() < most_loops) {
          classes_.push_back(classes_[i]);
          classes_.back().push_back({d, n});
        }
      }
      if (classes_.size() > kMostClasses) {
        throw UnsupportedSearch(fmt::format(
            "the einsums up to {} share loops in more than {} ways; let them share fewer: "
            "--shared-loops {}",
            sink.name, kMostClasses, std::min(most_loops, sink.dims.size()) - 1));
      }
      held.grow_to(classes_.size() * group.einsums.size() * sizeof(EnteredBranch));
    }
  }
}

// Which einsums make other points in each tile of a loop over the sink's dim? What passes them on
// may be held over these tiles; in all other loops it is made anew for each.
void InterfaceClasses::find_driven(const Temporal& loop, GroupCounter& counter) {
  driven_[loop.dim].assign(group_.einsums.size(), true);
  const auto entered = counter.count(counter.innermost({loop}));
  for (std::size_t e = 0; entered && e + 1 < group_.einsums.size(); ++e) {
    const Workload& einsum = group_.einsums[e];
    const DimSet output = einsum.tensors[einsum.output()].dims();
    bool is_driven = false;
    for (const DimId own : einsum.dims.ids()) {
      is_driven = is_driven || (output.contains(own) &&
                                entered->branches[e].bounds[own] < einsum.dims[own].bound);
    }
    driven_[loop.dim][e] = is_driven;
  }
}

double InterfaceClasses::least_runs(std::size_t index, std::size_t e) const {
  double runs = 1;
  for (const Temporal& loop : classes_[index]) {
    const std::int64_t bound = group_.einsums.back().dims[loop.dim].bound;
    runs *= driven_[loop.dim][e] ? 1 : static_cast<double>(bound / loop.extent);
  }
  return runs;
}

std::vector<bool> with_boxes_that_divide(const EinsumChain& group) {
  std::vector<bool> divide(group.einsums.size(), true);
  for (std::size_t e = group.einsums.size(); e-- > 0;) {
    const auto i = group.intermediate_of({e, group.einsums[e].output()});
    for (std::size_t r = 0; i && r < group.intermediates[*i].readers.size(); ++r) {
      const ChainTensor& use = group.intermediates[*i].readers[r];
      divide[e] = divide[e] && divide[use.einsum];
      for (const Rank& rank : group.einsums[use.einsum].tensors[use.tensor].ranks) {
        divide[e] = divide[e] && rank.terms.size() == 1 && rank.terms.front().coefficient == 1;
      }
    }
  }
  return divide;
}

}  // namespace mapsim::fusion
