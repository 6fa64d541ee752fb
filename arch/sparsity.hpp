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

// What a machine makes of zeros: how its levels store tensors, which accesses it gates or skips.
// docs/sparsity.md says what it all means.

// How one rank of a tile is stored. `bits`: of a coordinate, a run or an offset; 0: as many as the
// tile's extents need.
enum class RankFormat : std::uint8_t { kDense, kBitmask, kCoordinates, kRuns, kOffsets };
struct RankCode {
  RankFormat format = RankFormat::kDense;
  std::int64_t bits = 0;
  friend bool operator==(const RankCode&, const RankCode&) = default;
};

// Codes of a tensor's ranks, outermost first; the last one takes all the ranks that are left, as
// one. `ideal`: zeros take nothing, and nothing says where they are. `columns`: the ranks in
// reverse.
struct TensorFormat {
  bool ideal = false;
  bool columns = false;
  std::vector<RankCode> ranks;  // none: dense
  friend bool operator==(const TensorFormat&, const TensorFormat&) = default;
};

// How sure a compressed tile is to fit. `share`: of data sets in which one does.
enum class FitsWhen : std::uint8_t { kWorst, kExpected, kQuantile };
struct Fits {
  FitsWhen when = FitsWhen::kWorst;
  double share = 1;
  friend bool operator==(const Fits&, const Fits&) = default;
};

// Gated: the cycle passes, at no energy but that of `gated`. Skipped: it does not.
enum class ZeroAct : std::uint8_t { kNothing, kGate, kSkip };

// What a level does of a tensor when a tile of one of `leaders` is empty.
struct Condition {
  ZeroAct act = ZeroAct::kNothing;
  Role target = Role::kInput;
  RoleSet leaders;
  friend bool operator==(const Condition&, const Condition&) = default;
};

// When instances of a fanout that have less to do wait for the others: at the end, at every tile
// that comes from outside, or never, as work is shared among them.
enum class Balance : std::uint8_t { kEnd, kBarrier, kIdeal };

struct StorageSparsity {
  std::map<Role, TensorFormat> formats;  // of others: dense
  Fits fits;
  std::vector<Condition> when_empty;
  PicojoulesPerBit gated{0}, skipped{0};  // of an access that is not made
  friend bool operator==(const StorageSparsity&, const StorageSparsity&) = default;
};

struct Sparsity {
  PerLevel<StorageSparsity> levels;
  ZeroAct when_zero = ZeroAct::kNothing;  // what a compute unit does at a zero of these operands
  RoleSet zeros_of{Role::kInput, Role::kWeight};
  Picojoules gated{0}, skipped{0};  // of such an operation
  friend bool operator==(const Sparsity&, const Sparsity&) = default;
};

const char* to_string(RankFormat format);
const char* to_string(ZeroAct act);
const char* to_string(Balance balance);
std::string to_string(const TensorFormat& format);  // as a file has it
std::string to_string(const Fits& fits);

}  // namespace mapsim
