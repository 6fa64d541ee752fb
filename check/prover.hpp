// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "check/certificate.hpp"
#include "check/check.hpp"
#include "check/extent_domains.hpp"
#include "check/graph.hpp"
#include "check/intervals.hpp"

namespace mapsim::check {

// Unrollings that bounds of sets may leave open at most; with imperfect factors more are not
// examined.
inline constexpr std::size_t kMostOpen = 50'000;

// Bounds the mappings of unrollings, one by one or many at once.
class Prover {
 public:
  // All arguments outlive the prover. Counts what it does in `verdict`.
  Prover(const Certificate& certificate, const CheckOptions& options, Verdict& verdict);

  bool is_imperfect() const { return certificate_.rules.imperfect; }

  // The graph of an unrolling, which several threads then share.
  void prepare_graph(const Unrolling& unrolling);

  // A lower bound of the mappings of the unrolling, up to `target`, by the cheapest argument that
  // suffices. Threads may call it at once.
  BoundedUnrolling bound_of(const Unrolling& unrolling, const Target& target, const Effort& effort);
  // The same of a set of unrollings, by closed forms.
  double bound_of(const ChoiceRanges& ranges, const Target& target) const;
  bool is_closed(const ChoiceRanges& ranges, const Target& target) const;

 private:
  // The used fanouts, and the tensors that may stay in a systolic array, as bits.
  using Kind = std::pair<std::vector<FanoutId>, std::uint32_t>;
  Kind kind_of(const Unrolling& unrolling) const;

  const Certificate& certificate_;
  const CheckOptions& options_;
  const Problem& problem_;
  Verdict& verdict_;
  ExtentDomains domains_;  // of a space with imperfect factors
  std::map<Kind, std::unique_ptr<Graph>> graphs_;
};

// The identity of an unrolling.
std::vector<std::int64_t> key_of(const Unrolling& unrolling);

}  // namespace mapsim::check
