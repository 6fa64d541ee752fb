// SPDX-License-Identifier: Apache-2.0
#include "costmodel/fusion/branch.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "core/factor.hpp"

namespace mapsim {

bool BranchEntry::varies() const {
  return std::any_of(lengths.begin(), lengths.end(),
                     [](const auto& of_dim) { return !of_dim.empty(); });
}

std::vector<std::int64_t> BranchEntry::extents(DimId d, std::int64_t bound) const {
  std::int64_t common = bound;
  for (std::size_t i = 0; varies(d) && i < lengths[d].size(); ++i) {
    common = std::gcd(common, lengths[d][i].size);
  }
  std::vector<std::int64_t> extents = divisors_of(common);
  if (common < bound) {
    extents.push_back(bound);
  }
  return extents;
}

double BranchEntry::operations(const PerDim<std::int64_t>& bounds) const {
  double operations = 1;
  for (const DimId d : bounds.ids()) {
    operations *= mean_size(d, bounds[d]);
  }
  return operations;
}

std::vector<BranchEntry::EqualEntries> BranchEntry::by_sizes(
    const PerDim<std::int64_t>& bounds) const {
  std::vector<EqualEntries> all{{bounds, 1}};
  for (const DimId d : bounds.ids()) {
    if (!varies(d)) {
      continue;
    }
    double times = 0;
    for (const BoxLength& length : lengths[d]) {
      times += static_cast<double>(length.times);
    }
    std::vector<EqualEntries> finer;
    for (const EqualEntries& entries : all) {
      for (const BoxLength& length : lengths[d]) {
        finer.push_back({entries.sizes, entries.share * static_cast<double>(length.times) / times});
        finer.back().sizes[d] = length.size;
      }
    }
    all = std::move(finer);
  }
  return all;
}

BranchKey family_of(const Branch& branch) {
  const std::optional<bool>& final_sums = branch.entry.final_sums;
  BranchKey key{static_cast<std::int64_t>(branch.einsum), final_sums ? (*final_sums ? 1 : 0) : -1};
  for (const LevelId level : branch.entry.sources) {
    key.push_back(static_cast<std::int64_t>(index_of(level)));
  }
  return key;
}

BranchKey key_of(const Branch& branch) {
  BranchKey key = family_of(branch);
  key.push_back(std::bit_cast<std::int64_t>(branch.entry.sums_begun));
  for (const DimId d : branch.bounds.ids()) {
    key.push_back(branch.bounds[d]);
    for (std::size_t i = 0; branch.entry.varies(d) && i < branch.entry.lengths[d].size(); ++i) {
      key.push_back(-branch.entry.lengths[d][i].size);
      key.push_back(-branch.entry.lengths[d][i].times);
    }
  }
  if (const BranchEntry::Run& run = branch.entry.run; run.entries > 0) {
    key.push_back(std::bit_cast<std::int64_t>(run.entries));
    for (const double charged : run.charged) {
      key.push_back(std::bit_cast<std::int64_t>(charged));
    }
  }
  return key;
}

bool divides(const PerDim<std::int64_t>& small, const PerDim<std::int64_t>& large) {
  return std::equal(small.begin(), small.end(), large.begin(),
                    [](std::int64_t s, std::int64_t l) { return l % s == 0; });
}

}  // namespace mapsim
