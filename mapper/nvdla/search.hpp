// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "mapper/formed_result.hpp"

namespace mapsim {

// The exact strategy for an NVDLA-like engine: evaluate() for every schedule of the problem
// (mapper/nvdla/schedules.hpp). The certificate's space is that of the schedules. Throws
// UnsupportedSearch if there are constraints.
SearchResult search_nvdla(const Mapspace& space, const SearchOptions& options);

// The best schedule over all forms of the layer: direct, Winograd, image input, merged groups,
// batches of fully connected layers (compared per frame). Among equal values the first form in this
// order wins; with exact_ties, the one with the least other figure.
enum class Frames : std::uint8_t { kOne, kBatches };  // kOne: batches are not tried
FormedResult search_forms(const Problem& problem, const SearchOptions& options,
                          Frames frames = Frames::kBatches);
std::vector<Form> forms_of(const Problem& problem, Frames frames);

// The number of schedules of all forms, including merges that forms_of() leaves out.
std::int64_t count_schedules(const Problem& problem, Frames frames);

}  // namespace mapsim
