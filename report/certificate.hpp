// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/fusion/chain_search.hpp"
#include "mapper/nvdla/search.hpp"
#include "report/json.hpp"

namespace mapsim {

// The proof of an exact search as a file of its own that `mapsim check` verifies: problem, declared
// mapspace, best mapping, and what is claimed of every spatial unrolling (docs/certificates.md). Of
// a space with imperfect factors it claims what the checker can follow, which may be less than the
// search has proven: its `lower_bound` is below the `value` then. Finding out can take as long as a
// search. At the end of `stop` it claims what is known by then; empty if it was given up.
std::string certificate_file(const Provenance& origin, const Mapspace& space,
                             const Objective& objective, const SearchResult& result,
                             int threads = 1, check::Stop stop = {});

// The rules of a mapspace as they stand in a certificate.
std::string mapspace_rules(const Mapspace& space);

// The same of an engine after NVDLA: the layer as it was asked for, and what all schedules of its
// forms came to, by the frame.
std::string schedules_certificate_file(const Provenance& origin, const Problem& layer,
                                       Frames frames, const Objective& objective,
                                       const FormedResult& found);

// The same of a front or a curve that is complete: the points, and the claim that there is nothing
// else. With imperfect factors also of one that was stopped: nothing is better by more than a gap,
// which is what the checker can follow. Empty: it can follow none in time, or was given up.
std::string front_certificate_file(const Provenance& origin, const Mapspace& space,
                                   const FrontSubject& subject, const Front& front, int threads = 1,
                                   check::Stop stop = {});

// Why a search of mapping trees with this objective has no certificate that the checker can follow;
// empty: it has one.
std::string chain_certificate_obstacle(const Arch& arch, const EinsumChain& chain,
                                       const Objective& objective);
// The same of the mapping trees of a chain, by a sum over einsums: the best, the space, and the
// claim that nothing in it is better than the search's lower bound. The checker needs no more.
// Empty: the search was stopped before anything was found, so that there is nothing to claim.
std::string chain_certificate_file(const Provenance& origin, const Arch& arch,
                                   const EinsumChain& chain, const FusionLimits& limits,
                                   const ObjectiveFunction& function, const ChainResult& result);

}  // namespace mapsim
