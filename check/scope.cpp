// SPDX-License-Identifier: Apache-2.0
#include "check/scope.hpp"

#include <fmt/format.h>

#include "core/diagnostic.hpp"

namespace mapsim::check {

Scope scope_of(const Certificate& certificate, const Verdict& verdict) {
  Scope scope;
  const bool holds = verdict.problems.empty();
  const auto state = [&scope, holds](bool looked_at, const std::string& what) {
    (holds && looked_at ? scope.verified : scope.unverified).push_back(what);
  };
  state(true, "the claim");
  if (!certificate.points.empty()) {
    const bool several = certificate.points.size() > 1;
    state(true, several ? "the mappings and their costs" : "the mapping and its cost");
    state(verdict.walked, several ? "their costs, step by step" : "its cost, step by step");
  }
  if (certificate.size != kNotCounted) {
    const char* const things = certificate.rules.schedules ? "schedules" : "mappings";
    state(verdict.counted, fmt::format("that there are {} {}", certificate.size, things));
  }
  if (!certificate.claims.empty()) {
    state(false, "by which argument the search found each bound");
  }
  if (certificate.records_inputs) {
    state(false, "the hashes of the files that the search read");
  }
  state(false, fmt::format("that it is by {}", printable(certificate.tool)));
  return scope;
}

}  // namespace mapsim::check
