// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/fusion/chain_search.hpp"
#include "mapper/nvdla/search.hpp"
#include "report/json.hpp"

namespace mapsim {

// The certificate of an exact search (docs/certificates.md), which `mapsim check` verifies. The
// text has the problem, the mapspace, the best mapping and a claim about every spatial unrolling.
// For imperfect factors it claims what the checker can verify, which may be less than the search
// has proven: `lower_bound` is then below `value`. Finding that out can take as long as a search.
// When `stop` ends it, the claim is what is known by then. Empty: the attempt was given up.
std::string certificate_file(const Provenance& origin, const Mapspace& space,
                             const Objective& objective, const SearchResult& result,
                             int threads = 1, check::Stop stop = {});

// The constraints of a mapspace, as a certificate has them (YAML).
std::string mapspace_rules(const Mapspace& space);

// The certificate of a search on an NVDLA-like engine: `layer` as it was given, and the best value
// over all schedules of its forms. Energies and cycles are per frame.
std::string schedules_certificate_file(const Provenance& origin, const Problem& layer,
                                       Frames frames, const Objective& objective,
                                       const FormedResult& found);

// The certificate of a complete front or curve: its points, and the claim that no mapping lies
// below them. With imperfect factors a search that was stopped has one, too: no mapping is better
// by more than a gap, which the checker can verify. Empty: no such gap was found before `stop`, or
// the attempt was given up.
std::string front_certificate_file(const Provenance& origin, const Mapspace& space,
                                   const FrontSubject& subject, const Front& front, int threads = 1,
                                   check::Stop stop = {});

// The certificate of a search of the mapping trees of a chain: the best tree, the space, and the
// claim that no tree of the space is better than the search's lower bound, as far as that follows
// from the least sums over einsums that it found. Empty: the search was stopped before it found a
// tree, its value exceeds the largest number, or these sums do not show that no tree keeps the
// limits.
std::string chain_certificate_file(const Provenance& origin, const Arch& arch,
                                   const EinsumChain& chain, const FusionLimits& limits,
                                   const Objective& objective, const ChainResult& result);

// Of a network's certificate the part about a chain whose layers need less one by one: no tree
// needs less than `bound`.
std::string chain_bound_file(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                             const Objective& objective, double bound);

}  // namespace mapsim
