// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "check/plan_proof.hpp"

namespace mapsim::check {

void check_memory(const PlanClaim& claim, PlanVerdict& verdict) {
  double peak = 0;
  double most = 0;  // alive at once
  for (std::size_t a = 0; a < claim.buffers.size(); ++a) {
    const PlanClaim::Buffer& one = claim.buffers[a];
    if (!(one.bytes >= 0 && one.offset >= 0 && one.first <= one.last)) {
      verdict.problems.push_back("a tensor has no bytes, no place or no time in the memory");
      return;
    }
    peak = std::max(peak, one.offset + one.bytes);
    double alive = 0;
    for (std::size_t b = 0; b < claim.buffers.size(); ++b) {
      const PlanClaim::Buffer& other = claim.buffers[b];
      alive += other.first <= one.first && one.first <= other.last ? other.bytes : 0;
      if (b < a && one.first <= other.last && other.first <= one.last &&
          one.offset < other.offset + other.bytes && other.offset < one.offset + one.bytes) {
        verdict.problems.push_back("two tensors that are alive at once share bytes");
      }
    }
    most = std::max(most, alive);
  }
  if (!is_close(most, claim.alive)) {
    verdict.problems.push_back("more or less is alive at once than is claimed");
  }
  if (!is_close(peak, claim.peak)) {
    verdict.problems.push_back("tensors take another peak than is claimed");
  }
  verdict.verified.push_back(claim.peak <= claim.alive
                                 ? "tensors share no bytes while alive, and no offsets need less"
                                 : "tensors share no bytes while alive");
  if (claim.peak > claim.alive) {
    verdict.unverified.push_back("whether other offsets need less");
  }
  verdict.unverified.push_back("the sizes of tensors, and how long they are alive");
}

}  // namespace mapsim::check
