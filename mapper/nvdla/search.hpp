// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "mapper/mapper.hpp"

namespace mapsim {

// Strategy exact on an engine after NVDLA: every schedule of the problem (mapper/nvdla/schedules),
// by evaluate(). The certificate's space is that of the schedules. Takes no constraints: throws
// UnsupportedSearch.
SearchResult search_nvdla(const Mapspace& space, const SearchOptions& options);

// A form that was tried: what its best schedule costs a frame; infinite if nothing fits.
struct TriedForm {
  Form form;
  double value = 0;
};

// The best schedule of the best form that the engine has: direct, Winograd, image input, merged
// groups, batches of fully connected layers (compared by the frame). Ties: the first in this order,
// or where ties count (exact_ties) the one with the least of the other figure.
struct FormedResult {
  Problem problem;  // with the workload in the best form
  SearchResult result;
  std::vector<TriedForm> tried;
};
enum class Frames : std::uint8_t { kOne, kBatches };  // kOne: batches are not tried
FormedResult search_forms(const Problem& problem, const SearchOptions& options,
                          Frames frames = Frames::kBatches);
std::vector<Form> forms_of(const Problem& problem, Frames frames);

// Schedules of all forms, with those of the merges that forms_of() leaves out.
std::int64_t count_schedules(const Problem& problem, Frames frames);

}  // namespace mapsim
