// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "costmodel/mapping.hpp"
#include "costmodel/roofline.hpp"
#include "mapper/mapper.hpp"
#include "mapper/nvdla/search.hpp"

namespace mapsim {

// Texts for people. Each consists of whole lines; an empty line separates sections.

// "NAME on ARCH: equation, MACs", and the assumptions made when the workload was read.
std::string title_text(const Arch& arch, const Workload& workload);

// Energy per level and tensor, with shares of the total.
std::string energy_text(const Problem& problem, const Cost& cost);

// Leakage and area of the machine, as far as they are given.
std::string physical_text(const Arch& arch);

// Every kind of action with its count, its energy, and the source of that energy.
std::string explain_energy_text(const Problem& problem, const Cost& cost);

// Steady and ramped latency, the busy time of every resource, and the bottleneck.
std::string latency_text(const Problem& problem, const Cost& cost);

// Elements read and written at each level, per tensor, summed over the instances.
std::string access_text(const Problem& problem, const Counts& counts);

// The nest, then the texts above.
std::string cost_text(const Problem& problem, const Mapping& mapping, const Cost& cost);

// A value of an objective with its unit: "756 uJ", "5.3e+14 pJ x cycles".
std::string objective_text(const Objective& objective, double value);

// The progress of a search in one line, which begins with a comma; may be empty.
std::string progress_text(const Objective& objective, const Progress& progress);

// "the 48 even mappings (perfect factors) in the mapspace"; `size` is empty if they were not
// counted.
std::string mappings_text(const Mapspace& space, const std::string& size);
// What a search has proven about its best mapping.
std::string certificate_text(const Mapspace& space, const Objective& objective,
                             const SearchResult& result);

// Why mappings did not fit, the most frequent reason first, and what would have been enough.
std::string infeasible_text(const InfeasibleReport& report, bool of_unrollings = false);
// The same in one line, without frequencies: "CMAC: capacity for weight (at least 8 B)".
std::string brief_infeasible_text(const InfeasibleReport& report);

// The same of a search without a best mapping, whose space may be empty or not searched to its end.
std::string why_none_text(const Mapspace& space, const SearchResult& result);

// The work of a search: labels, classes of unrollings, time.
std::string statistics_text(const Statistics& statistics);

// The cost of each form of a layer on an NVDLA-like engine; empty for other machines.
std::string forms_text(const std::vector<TriedForm>& forms);

// The whole answer of a search.
std::string search_text(const Mapspace& space, const Objective& objective,
                        const SearchResult& result);

// Bounds that no mapping can beat.
std::string roofline_text(const Arch& arch, const Workload& workload, const Roofline& bounds);

}  // namespace mapsim
