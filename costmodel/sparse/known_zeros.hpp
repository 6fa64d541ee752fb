// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <vector>

#include "costmodel/sparse/occupancy.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// Tensors whose zeros are data are not independent of each other: the share of all operations at
// which every required tile, the one around the operation, has a nonzero.
class KnownZeros {
 public:
  explicit KnownZeros(const Workload& workload) : workload_{&workload} {}
  // Tiles of this shape; several of one tensor may be required. Perfect: it divides the tensor.
  void require(TensorId t, const DensityModel& data, const TileShape& shape);
  // Counts only the operations whose index along each of these dims is marked.
  void restrict_to(const std::map<DimId, std::vector<char>>& marked) { marked_ = marked; }
  // Per tensor and element: have all tiles around it nonzeros?
  const std::map<TensorId, std::vector<char>>& hits() const { return hit_; }
  // Throws ConfigError of more than two tensors.
  double share() const;

 private:
  // Marked elements, by the coordinates along dims that it shares with another tensor.
  std::map<std::vector<std::int64_t>, double> by_shared(TensorId t, DimSet shared) const;

  const Workload* workload_;
  std::map<TensorId, std::vector<char>> hit_;
  std::map<DimId, std::vector<char>> marked_;
};

}  // namespace mapsim
