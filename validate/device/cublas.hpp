// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "costmodel/gpu/kernel.hpp"
#include "validate/device/cuda.hpp"

namespace mapsim {

// cuBLAS by dlopen: the ceiling that a GEMM is held against. Its kernel is the one that
// cublasGemmStridedBatchedEx chooses, which asks cuBLASLt's heuristics.
class Cublas {
 public:
  // `library` empty: libcublas.so.13, .12, .11 by the loader's rules and in /usr/local/cuda/lib64.
  // Needs a current context. Nothing: there is none, `why` says so.
  static std::optional<Cublas> open(const std::string& library, std::string& why);
  std::string version() const;  // "cuBLAS 13.1.0"

  // Why cuBLAS cannot run this; nothing: it can.
  static std::optional<std::string> unsupported(const GemmProblem& problem);
  // C = A B, all batches, to the default stream. Operands without gaps between batches. Throws
  // DeviceError.
  void multiply(const GemmProblem& problem, cuda::Pointer a, cuda::Pointer b,
                cuda::Pointer c) const;

 private:
  struct Api;
  std::shared_ptr<const Api> api_;
};

}  // namespace mapsim
