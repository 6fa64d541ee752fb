// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "report/json.hpp"

namespace mapsim {

// The proof of an exact search as a file of its own that `mapsim check` verifies: problem, declared
// mapspace, best mapping, and what is claimed of every spatial unrolling (docs/certificates.md).
std::string certificate_file(const Provenance& origin, const Mapspace& space,
                             const Objective& objective, const SearchResult& result);

// The same of a front or a curve that is complete: the points, and the claim that there is nothing
// else.
std::string front_certificate_file(const Provenance& origin, const Mapspace& space,
                                   const FrontSubject& subject, const Front& front);

}  // namespace mapsim
