// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "mapper/mapper.hpp"

namespace mapsim {

// The best of a sequence of mappings, and why others did not fit. Statistics of consecutive parts,
// added in order, give those of the whole: among equal mappings the first stays.
class SampleStatistics {
 public:
  // Evaluates a mapping and counts it. Returns true if it fits and is within the limits;
  // evaluator.cost() is then its cost.
  bool consider(Evaluator& evaluator, const Objective& objective, const Mapping& mapping);
  void add(const Objective& objective, SampleStatistics other);
  std::int64_t evaluations() const { return evaluations_; }
  // A result with best, cost, infeasible and evaluations.
  SearchResult result(const Problem& problem) const;

 private:
  // The exceeded limit: the alternative of Infeasible, its index, and its partition or axis.
  using Reason = std::tuple<std::size_t, std::size_t, int>;
  struct Misfits {
    std::int64_t count = 0;
    Infeasible least;  // with the smallest need
  };
  void note(const Infeasible& why, std::int64_t count);

  std::optional<Mapping> best_;
  std::optional<Cost> cost_;
  std::int64_t evaluations_ = 0;
  std::map<Reason, Misfits> misfits_;
  InfeasibleReport beyond_limits_;
};

// Considers `count` mappings on several threads; the i-th is mapping_at(i). The result is that of a
// single thread.
using MappingAt = std::function<Mapping(std::int64_t)>;
SampleStatistics consider_all(const Problem& problem, const SearchOptions& options,
                              std::int64_t count, const MappingAt& mapping_at);

bool is_stopped(const SearchOptions& options);

}  // namespace mapsim
