// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "interop/timeloop.hpp"

namespace mapsim {

// A dim's part of a `factors` text; nothing said: absent.
struct TimeloopFactor {
  std::int64_t bound = 1;
  std::int64_t residual = 1;
  bool given = false;
  bool at_most = false;  // R<=3, in constraints
};

// The dims of a `permutation` text, innermost first; the first `given` stand in the file, the
// others follow in their order.
struct TimeloopOrder {
  std::vector<DimId> dims;
  std::size_t given = 0;
};

// R=3 S=1 P=5,3 or R3 S1 P5,3, as a text or as a list of texts; 0 stands for the whole dim.
// nullptr: nothing is said.
PerDim<TimeloopFactor> read_timeloop_factors(Reader& reader, const Node* node,
                                             const Workload& workload);
// The same as a constraint: R<=3 is a rule, too. A factor above the size of its dim is no rule, as
// in Timeloop: `ignored` takes its text and its dim.
struct IgnoredFactor {
  DimId dim{};
  std::string text;
};
TimeloopFactorRules read_timeloop_factor_rules(Reader& reader, const Node* node,
                                               const Workload& workload,
                                               std::vector<IgnoredFactor>& ignored);

// Names stand together (RSPQ) or apart (R, S, P, Q).
TimeloopOrder read_timeloop_order(Reader& reader, const Node* node, const Workload& workload);

}  // namespace mapsim
