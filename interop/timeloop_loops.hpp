// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "interop/timeloop.hpp"

namespace mapsim {

// The factor of one dim in a `factors` text.
struct TimeloopFactor {
  std::int64_t bound = 1;
  std::int64_t residual = 1;
  bool given = false;    // is the dim named?
  bool at_most = false;  // R<=3, in constraints
};

// The dims of a `permutation` text, innermost first. The first `given` ones are in the file; the
// others follow in the order of the workload.
struct TimeloopOrder {
  std::vector<DimId> dims;
  std::size_t given = 0;
};

// Reads R=3 S=1 P=5,3 or R3 S1 P5,3, as a text or as a list of texts; 0 is the whole dim. `node`
// may be nullptr. Errors go to the reader.
PerDim<TimeloopFactor> read_timeloop_factors(Reader& reader, const Node* node,
                                             const Workload& workload);
// The same for a constraint, which also has R<=3. As in Timeloop, a factor above the size of its
// dim is ignored: `ignored` gets its text and its dim.
struct IgnoredFactor {
  DimId dim{};
  std::string text;
};
TimeloopFactorRules read_timeloop_factor_rules(Reader& reader, const Node* node,
                                               const Workload& workload,
                                               std::vector<IgnoredFactor>& ignored);

// Null, [] or {}, as the front end writes what is not there.
bool asks_for_nothing(const Node& node);

// Reads a list of data spaces by their names; "*" is all of them. An empty list names none. Errors
// go to the reader.
TensorSet read_timeloop_tensors(Reader& reader, const Node& list, const Words& tensors);

// Reads a permutation: names in one word (RSPQ) or apart (R, S, P, Q). Errors go to the reader.
TimeloopOrder read_timeloop_order(Reader& reader, const Node* node, const Workload& workload);

}  // namespace mapsim
