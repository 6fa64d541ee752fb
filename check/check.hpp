// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "check/certificate.hpp"
#include "check/unrolling_bound.hpp"

namespace mapsim::check {

struct CheckOptions {
  int threads = 1;
  // MACs up to which the reference simulator executes the mapping, too
  std::int64_t max_steps = 1'000'000;
  Effort effort = {};  // per unrolling of an imperfect space
};

// The result of a check: what was verified, and what is wrong.
struct Verdict {
  std::vector<std::string> problems;     // empty: the proof holds
  bool counted = true;                   // the checker counted the mapspace
  bool walked = false;                   // the reference simulator confirmed the mapping's counts
  std::int64_t by_unrolling_bound = 0;   // unrollings whose bound follows from a closed form ...
  std::int64_t by_completion_bound = 0;  // ... from the completion bound ...
  std::int64_t by_label_search = 0;      // ... from the label search
  std::int64_t sets = 0;    // imperfect factors: sets of unrollings that a closed form decided
  std::int64_t states = 0;  // nodes of the completion bounds
  std::int64_t forms = 0;   // of the layer, on an NVDLA-like engine ...
  // ... schedules of all forms; by_unrolling_bound: forms that were only counted
  std::int64_t schedules = 0;
  std::int64_t labels = 0;  // partial nests of the label searches
  double seconds = 0;
  // Adds a problem unless something holds. `line`: of the certificate's file; 0: no place in it.
  void require(bool holds, const Certificate& certificate, int line, const std::string& otherwise);
};

// Does the certificate prove what it claims? docs/certificates.md lists the steps. The checker
// shares the cost model with the search, and no code of mapper/.
Verdict check_certificate(const Certificate& certificate, const CheckOptions& options);

// Imperfect factors: for each claim of a certificate the bound that the checker can prove, at most
// the value of the mapping. They do not depend on the claimed bounds. Only the least of the results
// is proven as far as possible, because larger bounds elsewhere prove nothing more about the space.
std::vector<double> provable_bounds(const Certificate& certificate, const CheckOptions& options);

// Imperfect factors, for a certificate of ties, a front or a curve: a number s such that every
// mapping has at least the share s of both figures of some point. 1: every mapping is dominated by
// a point.
double provable_share(const Certificate& certificate, const CheckOptions& options);

}  // namespace mapsim::check
