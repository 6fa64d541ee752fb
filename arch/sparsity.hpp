// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/index.hpp"
#include "core/roles.hpp"
#include "core/units.hpp"

namespace mapsim {

// How a machine exploits zeros: the formats in which its levels store tensors, and the accesses
// that it gates or skips. docs/sparsity.md defines all terms.

// The format of one rank of a tile. `bits`: width of a coordinate, a run or an offset; 0: the least
// width that the tile's extents allow.
enum class RankFormat : std::uint8_t { kDense, kBitmask, kCoordinates, kRuns, kOffsets };
struct RankCode {
  RankFormat format = RankFormat::kDense;
  std::int64_t bits = 0;
  friend bool operator==(const RankCode&, const RankCode&) = default;
};

// The formats of a tensor's ranks, outermost first; the last one is that of all remaining ranks,
// flattened. `ideal`: only nonzeros take space, without any metadata. `columns`: the ranks are in
// reverse order.
struct TensorFormat {
  bool ideal = false;
  bool columns = false;
  std::vector<RankCode> ranks;  // none: dense
  friend bool operator==(const TensorFormat&, const TensorFormat&) = default;
};

// When a compressed tile counts as fitting. `share` (kQuantile): of data sets in which it fits.
enum class FitsWhen : std::uint8_t { kWorst, kExpected, kQuantile };
struct Fits {
  FitsWhen when = FitsWhen::kWorst;
  double share = 1;
  friend bool operator==(const Fits&, const Fits&) = default;
};

// Gated: the cycle is spent, but only the energy `gated`. Skipped: no cycle is spent.
enum class ZeroAct : std::uint8_t { kNothing, kGate, kSkip };

// What a level does with accesses to `target` when a tile of one of `leaders` is empty.
struct Condition {
  ZeroAct act = ZeroAct::kNothing;
  Role target = Role::kInput;
  RoleSet leaders;
  friend bool operator==(const Condition&, const Condition&) = default;
};

// When instances of a fanout that have less work wait for the others: at the end, at every tile
// that comes from outside, or never, because they share the work. Packed: they are lanes that take
// the next nonzeros of a tile and wait for each other at every batch.
enum class Balance : std::uint8_t { kEnd, kBarrier, kIdeal, kPacked };

struct StorageSparsity {                 // of one level
  std::map<Role, TensorFormat> formats;  // roles not named are dense
  Fits fits;
  std::vector<Condition> when_empty;
  PicojoulesPerBit gated{0}, skipped{0};  // energy of such an access
  friend bool operator==(const StorageSparsity&, const StorageSparsity&) = default;
};

// `kept` of each `block` of neighbours may be nonzero; 0 of 0: any.
struct BlockStructure {
  std::uint8_t kept = 0, block = 0;
  friend bool operator==(const BlockStructure&, const BlockStructure&) = default;
};

struct Sparsity {  // of a machine
  PerLevel<StorageSparsity> levels;
  ZeroAct when_zero = ZeroAct::kNothing;  // of compute units, at a zero of one of these operands
  BlockStructure structure;  // along a dim of their sums; where it lacks, operands are dense
  RoleSet zeros_of{Role::kInput, Role::kWeight};
  Picojoules gated{0}, skipped{0};  // energy of such an operation
  friend bool operator==(const Sparsity&, const Sparsity&) = default;
};

const char* to_string(RankFormat format);
const char* to_string(ZeroAct act);
const char* to_string(Balance balance);
std::string to_string(const TensorFormat& format);  // the text of a file
std::string to_string(const Fits& fits);

}  // namespace mapsim
