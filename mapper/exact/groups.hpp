// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "costmodel/mapping.hpp"
#include "mapper/exact/instance.hpp"
#include "mapper/exact/label_store.hpp"
#include "mapper/mapspace.hpp"

namespace mapsim::exact {

// The groups of spatial unrollings of a space, as tasks of a search.
class Groups {
 public:
  Groups(const Mapspace& space, const Objective& objective);  // both outlive the groups

  std::size_t size() const { return floors_.size(); }
  // Nothing of a group is better, whatever the tiles.
  const Key& floor(std::size_t group) const { return floors_[group]; }
  const Skeleton& skeleton(std::size_t group) const;
  std::unique_ptr<Instance> build(std::size_t group, Key limit = {}) const;  // perfect factors
  Mapping mapping(const Instance& instance, std::size_t group,
                  const std::vector<Step>& steps) const;

  // All of them, those that leave few steps first: they are good, and make short work of the rest.
  std::vector<std::size_t> by_steps() const;
  // Calls visit(batch) with the groups in this order, in batches of fixed sizes, until it returns
  // false. Tasks of a batch share what is known when it begins, so that no result or statistic
  // depends on which thread is first.
  static void for_batches(const std::vector<std::size_t>& order,
                          const std::function<bool(std::span<const std::size_t>)>& visit);

 private:
  double steps(std::size_t group) const;

  const Mapspace& space_;
  const Objective& objective_;
  std::map<std::vector<FanoutId>, std::unique_ptr<Skeleton>> skeletons_;
  std::vector<Key> floors_;
};

}  // namespace mapsim::exact
