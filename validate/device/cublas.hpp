// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/gpu/kernel.hpp"
#include "validate/device/cuda.hpp"

namespace mapsim {

// cuBLAS by dlopen: the ceiling that a GEMM is held against. Its kernel is the one that
// cublasGemmEx (of batches cublasGemmStridedBatchedEx) chooses; beside it those that cuBLASLt's
// heuristics put first, with more workspace than the plain call has.
class Cublas {
 public:
  // One of cuBLASLt's kernels for a problem. Copies are of the same.
  class Algorithm {
   public:
    const std::string& name() const { return name_; }  // "cuBLASLt 2 of 8"
    Bytes workspace() const { return workspace_; }

   private:
    friend class Cublas;
    struct Plan;
    std::shared_ptr<const Plan> plan_;
    std::string name_;
    Bytes workspace_{0};
  };

  // `library` empty: libcublas.so.13, .12, .11 by the loader's rules and in /usr/local/cuda/lib64;
  // cuBLASLt, which may be absent, beside it. Needs a current context. Nothing: there is none,
  // `why` says so.
  static std::optional<Cublas> open(const std::string& library, std::string& why);
  std::string version() const;  // "cuBLAS 13.1.0"

  // Why cuBLAS cannot run this; nothing: it can.
  static std::optional<std::string> unsupported(const GemmProblem& problem);
  // C = A B, all batches, to the default stream. Operands without gaps between batches. Throws
  // DeviceError.
  void multiply(const GemmProblem& problem, cuda::Pointer a, cuda::Pointer b,
                cuda::Pointer c) const;

  // At most this many of the heuristics' algorithms, first choice first; none without cuBLASLt.
  std::vector<Algorithm> algorithms(const GemmProblem& problem, int most, Bytes workspace) const;
  void multiply(const Algorithm& algorithm, cuda::Pointer a, cuda::Pointer b, cuda::Pointer c,
                cuda::Pointer workspace) const;

 private:
  struct Api;
  std::shared_ptr<const Api> api_;
};

}  // namespace mapsim
