// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace mapsim {

// How often the instructions that decide a kernel's speed occur in its code (not in a run).
struct SassCounts {
  std::int64_t all = 0;
  std::int64_t mma = 0;         // HMMA, IMMA, DMMA
  std::int64_t wgmma = 0;       // HGMMA, IGMMA
  std::int64_t tma = 0;         // UTMALDG
  std::int64_t ldsm = 0;        // ldmatrix
  std::int64_t ldgsts = 0;      // cp.async
  std::int64_t lds = 0;         // loads from shared memory that are no ldmatrix
  std::int64_t generic = 0;     // loads whose address space is known at run time only
  std::int64_t stg_128 = 0;     // stores to global memory, of 16 B
  std::int64_t stg_narrow = 0;  // and of less
  std::int64_t local = 0;       // loads and stores of spilled registers and arrays
  friend bool operator==(const SassCounts&, const SassCounts&) = default;
};

// Counts the instructions of function `entry` in a cubin for sm_75 to sm_90. Throws
// std::invalid_argument if the cubin is no ELF file or has no such function. No tool of the CUDA
// toolkit is needed: instructions of these chips have 16 B, with the opcode in the lowest 12 bits
// and the width of a memory access in bits 73 to 75 (found by compiling known PTX; sass_test.cpp).
SassCounts count_instructions(const std::string& cubin, const std::string& entry);

}  // namespace mapsim
