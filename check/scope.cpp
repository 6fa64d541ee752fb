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
    state(verdict.walked, several ? "their counts, by simulation" : "its counts, by simulation");
  }
  if (certificate.size != kNotCounted) {
    const char* const things = certificate.rules.schedules ? "schedules" : "mappings";
    state(verdict.counted, fmt::format("the number of {}, {}", things, certificate.size));
  }
  if (!certificate.claims.empty()) {
    state(false, "the arguments by which the search found its bounds");
  }
  if (certificate.records_inputs) {
    state(false, "the hashes of the input files");
  }
  state(false, fmt::format("that {} wrote the file", printable(certificate.tool)));
  return scope;
}

}  // namespace mapsim::check
