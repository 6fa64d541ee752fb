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

// Reports for people. Each is whole lines; sections are parted by an empty line.

// "NAME on ARCH: equation, MACs", and what the reader of the workload assumed.
std::string title_text(const Arch& arch, const Workload& workload);

// Energy per level and tensor, with the shares of the total.
std::string energy_text(const Problem& problem, const Cost& cost);

// What the machine leaks and covers, as far as it is given.
std::string physical_text(const Arch& arch);

// Every kind of action with its count, its energy, and where that number comes from.
std::string explain_energy_text(const Problem& problem, const Cost& cost);

// Steady and ramped latency, every resource with its busy time, and what limits.
std::string latency_text(const Problem& problem, const Cost& cost);

// Elements that cross each level, per tensor, total over the instances.
std::string access_text(const Problem& problem, const Counts& counts);

// The nest, then the tables above.
std::string cost_text(const Problem& problem, const Mapping& mapping, const Cost& cost);

// A value of an objective with its unit: "756 uJ", "5.3e+14 pJ x cycles".
std::string objective_text(const Objective& objective, double value);

// One line: how far a search is; begins with a comma or is empty.
std::string progress_text(const Objective& objective, const Progress& progress);

// What is proven about the best mapping of a search, and over what.
// "the 48 even mappings (perfect factors) in the mapspace"; `size` is empty if nobody counted.
std::string mappings_text(const Mapspace& space, const std::string& size);
std::string certificate_text(const Mapspace& space, const Objective& objective,
                             const SearchResult& result);

// Why mappings did not fit, most frequent reason first, and what would have been enough.
std::string infeasible_text(const InfeasibleReport& report, bool of_unrollings = false);
// The same in one line, without how often: "CMAC: capacity for weight (at least 8 B)".
std::string brief_infeasible_text(const InfeasibleReport& report);

std::string statistics_text(const Statistics& statistics);

// What each form of a layer on an engine costs; empty without any.
std::string forms_text(const std::vector<TriedForm>& forms);

// Everything about a search.
std::string search_text(const Mapspace& space, const Objective& objective,
                        const SearchResult& result);

std::string roofline_text(const Arch& arch, const Workload& workload, const Roofline& bounds);

}  // namespace mapsim
