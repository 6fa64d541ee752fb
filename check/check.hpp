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
  std::int64_t max_steps = 1'000'000;  // walk the mapping step by step if it takes no more
  Effort effort = {};                  // for an unrolling of an imperfect space
};

// What a check has looked at, and what is wrong.
struct Verdict {
  std::vector<std::string> problems;     // empty: the proof holds
  bool counted = true;                   // the size of the mapspace, anew
  bool walked = false;                   // the mapping's counts are also the reference simulator's
  std::int64_t by_unrolling_bound = 0;   // unrollings whose bound follows whatever the tiles ...
  std::int64_t by_completion_bound = 0;  // ... if every tile has its capacity for itself ...
  std::int64_t by_label_search = 0;      // ... from a search that found nothing better
  std::int64_t states = 0;               // nodes of the walks
  std::int64_t forms = 0;                // of the layer, on an engine after NVDLA ...
  std::int64_t schedules = 0;  // ... of all of them; by_unrolling_bound: forms that need no look
  std::int64_t labels = 0;     // partial nests of the label searches
  double seconds = 0;
};

// Does the certificate prove what it claims? docs/certificates.md says what that takes. Shares the
// cost model with the search, and no code of mapper/.
Verdict check_certificate(const Certificate& certificate, const CheckOptions& options);

// Of an imperfect space, for each claim of a certificate: what the checker can follow, up to the
// value of its mapping. Whatever the claim says. Only of the least of them all that it can: more of
// the others proves no more of the space.
std::vector<double> provable_bounds(const Certificate& certificate, const CheckOptions& options);

// Of an imperfect space and a certificate of ties, a front or a curve: no mapping comes to less
// than this share of both figures of the point that it comes nearest to; 1: each is covered.
double provable_share(const Certificate& certificate, const CheckOptions& options);

}  // namespace mapsim::check
