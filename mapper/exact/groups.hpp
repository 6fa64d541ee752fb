// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/mapping.hpp"
#include "mapper/exact/floor.hpp"
#include "mapper/exact/instance.hpp"
#include "mapper/exact/label_store.hpp"
#include "mapper/mapspace.hpp"
#include "mapper/patience.hpp"

namespace mapsim::exact {

// What may stay in a systolic array, if there is one.
std::optional<TensorSet> may_stay_with(const Problem& problem, const UnrollingGroup& group);

// Throws UnsupportedSearch.
void refuse_what_is_not_proven(const Mapspace& space, const Objective& objective);

// The groups of spatial unrollings of a space, as tasks of a search.
class Groups {
 public:
  // All outlive the groups. Idle threads of the caller's team take part. Without patience, floors
  // are that of the whole space.
  Groups(const Mapspace& space, const Objective& objective, const Patience* patience = nullptr);

  std::size_t size() const { return floors_.size(); }
  // By group: the first one that is like it (mapper/twins.hpp), whose floor it has.
  const std::vector<std::size_t>& first_alike() const { return first_alike_; }
  // Nothing of a group is better, whatever the tiles.
  const Key& floor(std::size_t group) const { return floors_[group]; }
  const Skeleton& skeleton(std::size_t group) const { return *kinds_[kind_[group]].skeleton; }
  // Has the group only nests that a systolic array cannot run?
  bool is_idle(std::size_t group) const { return may_stay_[group] && may_stay_[group]->empty(); }
  // Perfect factors. As Instance has it.
  std::unique_ptr<Instance> build(std::size_t group, Key limit = {}, bool one_is_enough = false,
                                  const Pattern* pattern = nullptr) const;
  // The residency patterns of a group within the limit, best first, or the best of them alone.
  // Objectives with latency, without a timing model.
  std::vector<Pattern> patterns(std::size_t group, const Key& limit, bool first_only) const;
  Mapping mapping(const Instance& instance, std::size_t group,
                  const std::vector<Step>& steps) const;

  // All of them, those that leave little time first.
  std::vector<std::size_t> by_steps() const;
  // The best floor first; of equal ones, those that leave little time.
  std::vector<std::size_t> by_floor() const;
  // The batch of these that begins there, of a fixed size. Tasks of a batch share what is known
  // when it begins, so that no result or statistic depends on which thread is first.
  static std::span<const std::size_t> batch(std::span<const std::size_t> order, std::size_t first);
  // Calls visit(batch) with the groups in this order until it returns false.
  static void for_batches(const std::vector<std::size_t>& order,
                          const std::function<bool(std::span<const std::size_t>)>& visit);

 private:
  // Groups that use the same fanouts, and of which the same tensors may stay in a systolic array.
  struct Kind {
    std::unique_ptr<Skeleton> skeleton;
    std::optional<EnergyFloor> floor;
    std::vector<double> port_bits;  // at least
    std::optional<Valuation> valuation;
  };
  void find_kinds();
  void find_floor(std::size_t group, const Patience* patience);
  double least_cycles(std::size_t group) const;  // of the compute units

  const Mapspace& space_;
  const Objective& objective_;
  std::vector<std::size_t> first_alike_;
  std::vector<std::optional<TensorSet>> may_stay_;  // by group; none: no systolic array
  std::vector<Kind> kinds_;
  std::vector<std::size_t> kind_;  // by group
  std::vector<double> cycles_;     // by group
  double least_energy_ = 0;        // of the whole space [pJ]
  std::vector<Key> floors_;
};

}  // namespace mapsim::exact
