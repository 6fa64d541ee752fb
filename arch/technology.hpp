// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/units.hpp"

namespace mapsim {

// Built-in energies of a process, for machines whose file does not give them (docs/energy.md).
// Their names in files, in this order, are kTechnologyNames and so on.
enum class Technology : std::uint8_t { k45nm, k16nm, k7nm };

// How far a number can be trusted.
enum class Status : std::uint8_t {
  kConfirmed,   // found in two independent places
  kSecondHand,  // found in one place that quotes the source, or recalled from the source
  kEstimate,    // derived or assumed; the source says how
};

struct Figure {  // a number of a table, in the unit that its function names
  double value = 0;
  Status status = Status::kEstimate;
  std::string source;  // for people; names the table, what was interpolated, and the status
};

// The kind of a memory. All except the first two are off-chip memories.
enum class StorageKind : std::uint8_t {
  kSram,
  kRegfile,
  kDram,  // DDR3, DDR4
  kLpddr5,
  kGddr5,
  kGddr6,
  kHbm2,
  kHbm2e,
  kHbm3,
  kHbm3e,
};
constexpr bool is_on_chip(StorageKind kind) { return kind <= StorageKind::kRegfile; }

// How the bits of an element are read as a number.
enum class NumberFormat : std::uint8_t { kInteger, kFloat, kBfloat };

// pJ per bit read or written. For on-chip memories it depends on `capacity`, and the energy of an
// access is proportional to its width. For off-chip memories the capacity does not matter.
Figure storage_energy(Technology technology, StorageKind kind, Bits capacity);

// pJ of one multiplication of `a` by `b` bits, and of one addition to a sum of `width`.
Figure multiply_energy(Technology technology, NumberFormat format, Bits a, Bits b);
Figure add_energy(Technology technology, NumberFormat format, Bits width);

// pJ per bit from an instance of an array to its neighbour. An estimate.
Figure hop_energy(Technology technology);

// Leakage [mW] and area [mm2] of an on-chip memory, area of a MAC with these energies at 45 nm, and
// leakage of logic of this area. All are estimates.
Figure storage_leakage(Technology technology, StorageKind kind, Bits capacity);
Figure storage_area(Technology technology, StorageKind kind, Bits capacity);
Figure mac_area(Technology technology, NumberFormat format, Picojoules multiply, Picojoules add);
Figure logic_leakage(Technology technology, SquareMillimetres area);

const char* to_string(Technology technology);  // "45nm"
const char* to_string(Status status);          // "confirmed", "second-hand", "estimate"
const char* to_string(StorageKind kind);       // "sram"
const char* to_string(NumberFormat format);    // "integer", "float", "bfloat"

}  // namespace mapsim
