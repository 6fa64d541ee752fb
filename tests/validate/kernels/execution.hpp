// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/validate/kernels/cases.hpp"

namespace mapsim {

// An element in memory as a number, and back with the rounding of a conversion from its sums.
struct ElementType {
  enum Kind { kF16, kBf16, kF32, kS8, kS32, kF64 } kind;
  std::size_t size;
};
struct ElementTypes {
  ElementType operand, sum, output;
};

// Memory that begins at a multiple of 64 B, full of garbage.
struct AlignedMemory {
  explicit AlignedMemory(Bytes bytes)
      : size{static_cast<std::size_t>(bytes.count())}, memory(size + 64, '\xff') {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    data = memory.data() + (64 - address % 64);
  }
  std::size_t size;
  std::vector<char> memory;
  char* data;
};

// A kernel with its operands, small whole numbers, so that every sum is exact; and Eigen's result.
class Execution {
 public:
  explicit Execution(const KernelCase& of);

  // Throws KernelFault.
  void execute(Launch launch, bool last_warp_first);
  // The first wrong element; empty: none. GELU and SiLU may be off by the rounding of the output.
  std::string difference() const;
  // By block: offset in the output of the first byte that it wrote.
  const std::vector<std::int64_t>& first_written() const { return first_written_; }
  // Wavefronts of shared memory that bank conflicts cost, of all blocks.
  std::int64_t conflicts() const { return conflicts_; }

  KernelSpec spec;

 private:
  void poison(AlignedMemory& buffer, std::int64_t row, std::int64_t run) const;
  double element(ElementType type, const AlignedMemory& buffer, std::int64_t at) const;
  double input(std::int64_t batch, std::int64_t m, std::int64_t k) const;
  double weight(std::int64_t batch, std::int64_t k, std::int64_t n) const;
  std::int64_t output_place(std::int64_t batch, std::int64_t m, std::int64_t n) const;
  double finished(std::int64_t batch, std::int64_t m, std::int64_t n, double sum) const;
  Eigen::MatrixXd reference(std::int64_t batch) const;
  void reduce(Launch launch, const KernelArguments& arguments);

  KernelSource source_;
  ElementTypes types_;
  KernelBuffers sizes_;
  AlignedMemory a_, b_, bias_, c_, workspace_, residual_;
  double alpha_, beta_, scale_;
  std::vector<Eigen::MatrixXd> expected_;  // by batch
  std::vector<std::int64_t> first_written_;
  std::int64_t conflicts_ = 0;
};

}  // namespace mapsim
