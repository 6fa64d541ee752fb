// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace mapsim {

// The top-level keys of Timeloop's files, and the kinds of their values.
enum class TimeloopSection : std::uint8_t {
  kArch,
  kEnergies,
  kAreas,
  kProblem,
  kMapping,
  kConstraints,
  kSparse,
  kSign,       // marks files that the front end has written
  kVariables,  // read in all files
  kMapper,     // only the objective is read
  kSkipped     // not read
};
struct TimeloopSectionKey {
  const char* key;
  TimeloopSection section;
};
inline constexpr std::array kTimeloopSections{
    TimeloopSectionKey{"arch", TimeloopSection::kArch},
    TimeloopSectionKey{"architecture", TimeloopSection::kArch},
    TimeloopSectionKey{"ERT", TimeloopSection::kEnergies},
    TimeloopSectionKey{"problem", TimeloopSection::kProblem},
    TimeloopSectionKey{"mapping", TimeloopSection::kMapping},
    TimeloopSectionKey{"constraints", TimeloopSection::kConstraints},
    TimeloopSectionKey{"mapspace", TimeloopSection::kConstraints},
    TimeloopSectionKey{"mapspace_constraints", TimeloopSection::kConstraints},
    TimeloopSectionKey{"architecture_constraints", TimeloopSection::kConstraints},
    TimeloopSectionKey{"extra_mapping_constraints", TimeloopSection::kConstraints},
    TimeloopSectionKey{"sparse_optimizations", TimeloopSection::kSparse},
    TimeloopSectionKey{"dumped_by_timeloop_front_end", TimeloopSection::kSign},
    TimeloopSectionKey{"mapper", TimeloopSection::kMapper},
    TimeloopSectionKey{"ART", TimeloopSection::kAreas},
    TimeloopSectionKey{"globals", TimeloopSection::kSkipped},
    TimeloopSectionKey{"variables", TimeloopSection::kVariables},
    TimeloopSectionKey{"sim", TimeloopSection::kSkipped},
    TimeloopSectionKey{"components", TimeloopSection::kSkipped},
    TimeloopSectionKey{"compound_components", TimeloopSection::kSkipped},
    TimeloopSectionKey{"ERT_summary", TimeloopSection::kSkipped},
    TimeloopSectionKey{"ART_summary", TimeloopSection::kSkipped}};

// nullopt: no section has this key.
inline std::optional<TimeloopSection> timeloop_section_of(const std::string& key) {
  const auto* known = std::find_if(kTimeloopSections.begin(), kTimeloopSections.end(),
                                   [&](const TimeloopSectionKey& each) { return key == each.key; });
  return known == kTimeloopSections.end() ? std::nullopt : std::optional{known->section};
}

}  // namespace mapsim
