// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/point.hpp"
#include "mapper/branch/shared_bounds.hpp"

namespace mapsim {

// What the exact searches of a campaign share: most spatial unrollings of a layer are bad on every
// design of a grid, and the bound of one with the largest capacities and arrays of the grid says so
// for all. Rows are the same with it and without. One for all threads of a process.
class Sharing {
 public:
  explicit Sharing(const Campaign& campaign) : campaign_{campaign} {}

  // A search may still use a table that has been dropped here: shared ownership.
  using Tables = std::vector<std::shared_ptr<SharedBounds>>;
  // For one point: nothing before a second design asks.
  Tables of(const Design& design, const Arch& arch, const PointIndex& index,
            const SharedBounds::Rules& rules);

 private:
  struct Table {
    std::int64_t asked = 0, last = 0;
    std::shared_ptr<SharedBounds> bounds;
  };
  const std::optional<Arch>& widest(const Machine& machine);
  std::shared_ptr<SharedBounds> table(const Arch& arch, const PointIndex& index,
                                      const SharedBounds::Rules& rules);

  const Campaign& campaign_;
  std::mutex mutex_;
  std::map<const Machine*, std::optional<Arch>> widest_;
  std::map<std::string, Table> tables_;
  std::int64_t clock_ = 0;  // requests so far
};

}  // namespace mapsim
