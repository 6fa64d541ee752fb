// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/gpu/kernel.hpp"
#include "validate/device/cuda.hpp"

namespace mapsim {

// cuBLAS, loaded by dlopen: the library that generated kernels are compared with. It runs the
// kernel that cublasGemmEx (for batches cublasGemmStridedBatchedEx) chooses, and those that
// cuBLASLt's heuristics rank first, with more workspace than the plain call has.
class Cublas {
 public:
  // One of cuBLASLt's kernels for a problem. Copies refer to the same kernel.
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

  // Opens `library`; empty: libcublas.so.13, .12 or .11, by the loader's rules and in
  // /usr/local/cuda/lib64. cuBLASLt, which may be absent, is looked for beside it. Needs a current
  // context. Nothing: there is no cuBLAS, and `why` gets the reason.
  static std::optional<Cublas> open(const std::string& library, std::string& why);
  std::string version() const;  // "cuBLAS 13.1.0"

  // Why cuBLAS cannot run this; nothing: it can.
  static std::optional<std::string> unsupported(const GemmProblem& problem);
  // C = A B, all batches, on the default stream. Batches lie without gaps. Throws DeviceError.
  void multiply(const GemmProblem& problem, cuda::Pointer a, cuda::Pointer b,
                cuda::Pointer c) const;

  // At most `most` of the heuristics' algorithms, the first choice first; none without cuBLASLt.
  std::vector<Algorithm> algorithms(const GemmProblem& problem, int most, Bytes workspace) const;
  // The same by one of these algorithms; `workspace` has algorithm.workspace() bytes.
  void multiply(const Algorithm& algorithm, cuda::Pointer a, cuda::Pointer b, cuda::Pointer c,
                cuda::Pointer workspace) const;

 private:
  struct Api;
  std::shared_ptr<const Api> api_;
};

}  // namespace mapsim
