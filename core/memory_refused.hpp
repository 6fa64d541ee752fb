// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <new>

namespace mapsim {

// An allocation of so many bytes failed.
class MemoryRefused : public std::bad_alloc {
 public:
  explicit MemoryRefused(std::size_t bytes) : bytes_{bytes} {}
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
};

// About how much this process needed when an allocation failed [B]: the most that it has had (or
// may have, where its address space is limited), and what was asked for, if that is known.
// Allocates nothing.
std::size_t needed_bytes(const std::bad_alloc& error);

}  // namespace mapsim
