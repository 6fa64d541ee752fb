// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "arch/arch.hpp"
#include "costmodel/counts.hpp"
#include "costmodel/ports.hpp"

namespace mapsim {

// The table behind the cost of a boundary (boundary_cost.hpp): which energy an access pays, and
// which ports of its level it passes. The parent's end of a boundary is at the outer level, the
// child's end at the inner one.

// The accesses of an element that crosses a boundary. Operand: a read of the parent, a fill of the
// child. Sum: a drain of the child, an update of the parent; if the child has met the sum before,
// it first comes back down, by a read-back of the parent and a fill of the child.
enum class Access : std::uint8_t { kRead, kReadback, kDrain, kFill, kUpdate };
inline constexpr std::array kAccesses{Access::kRead, Access::kReadback, Access::kDrain,
                                      Access::kFill, Access::kUpdate};

// The energy of a level that an access costs.
enum class Action : std::uint8_t { kRead, kWrite, kUpdate };

struct AccessRule {
  const char* name = "";
  bool at_parent = false;  // at the parent's end? otherwise at the child's
  Action action{};
  std::int64_t AccessCounts::* elements = nullptr;
};
inline constexpr std::array<AccessRule, kAccesses.size()> kAccessRules{
    {{"read", true, Action::kRead, &AccessCounts::reads},
     {"read-back", true, Action::kRead, &AccessCounts::readbacks},
     {"drain", false, Action::kRead, &AccessCounts::drains},
     {"fill", false, Action::kWrite, &AccessCounts::fills},
     {"update", true, Action::kUpdate, &AccessCounts::updates}}};
constexpr const AccessRule& rule_of(Access access) {
  return kAccessRules[static_cast<std::size_t>(access)];
}

// Does the access pass a port of this kind? The link lies on the child's side.
constexpr bool passes(Access access, PortKind port) {
  switch (port) {
    case PortKind::kRead:
      return rule_of(access).action == Action::kRead;
    case PortKind::kWrite:
      return rule_of(access).action != Action::kRead;
    case PortKind::kShared:
      return true;
    case PortKind::kLink:
      return !rule_of(access).at_parent;
    case PortKind::kCompute:
      break;
  }
  return false;
}

// The access that takes an element of an operand or of the output across an end, and the one that
// takes a sum down again.
constexpr Access crossing_access(bool at_parent, bool output) {
  return at_parent ? (output ? Access::kUpdate : Access::kRead)
                   : (output ? Access::kDrain : Access::kFill);
}
constexpr Access returning_access(bool at_parent) {
  return at_parent ? Access::kReadback : Access::kFill;
}

// The width of each element that an access moves [b].
inline Bits width_of(const TensorCounts& at, Access access) {
  return rule_of(access).at_parent ? at.down_bits : at.up_bits;
}

// What the busiest instance of a level moves through one of its ports.
inline Bits bits_through(const TensorCounts& at, PortKind port) {
  Bits bits{0};
  for (const Access access : kAccesses) {
    if (passes(access, port)) {
      bits += at.busiest.*rule_of(access).elements * width_of(at, access);
    }
  }
  return bits;
}

// A sum that crosses an end once is final, and as wide as the output; sums that come back are
// partial. So an end is final iff it moves each of the output's distinct elements exactly once.
template <class Count>
constexpr bool crosses_once(Count crossing, Count distinct) {
  return crossing == distinct;
}

inline PicojoulesPerBit energy_of(const StorageEnergy& energy, Action action) {
  return action == Action::kRead    ? energy.read
         : action == Action::kWrite ? energy.write
                                    : energy.update;
}

}  // namespace mapsim
