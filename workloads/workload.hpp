// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/index.hpp"
#include "core/roles.hpp"
#include "core/shared.hpp"
#include "core/units.hpp"
#include "workloads/pattern.hpp"

namespace mapsim {

struct Dim {
  std::string name;
  std::int64_t bound = 1;  // iterations, >= 1
  friend bool operator==(const Dim&, const Dim&) = default;
};

// coefficient * dim, coefficient >= 1.
struct Term {
  DimId dim{};
  std::int64_t coefficient = 1;
  friend bool operator==(const Term&, const Term&) = default;
};

// One axis of a tensor: its coordinate is the sum of the terms, e.g. 2*p + r. Two terms or more
// make a sliding window.
struct Rank {
  std::vector<Term> terms;
  friend bool operator==(const Rank&, const Rank&) = default;
};

struct Tensor {
  std::string name;
  Role role = Role::kInput;
  std::vector<Rank> ranks;    // a dim occurs in at most one rank of a tensor
  Bits bits{8};               // width of an element; of a finished one, if the tensor is the output
  Bits partial_bits{8};       // width of a partial sum; output only, >= bits; operands: == bits
  double density = 1;         // share of elements that are not zero, above 0
  Shared<Pattern> pattern{};  // where those are; none: anywhere, all places equally likely
  // Elements of the tensor as it lies in memory, where that differs from the points that the einsum
  // touches (a padded convolution reads its halo from nowhere). Used by the roofline only.
  std::optional<std::int64_t> stored_elements;

  DimSet dims() const;  // every dim that indexes it: the relevant ones
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

// How a machine computes a layer: what in_form() (workloads/form.hpp) made of it.
enum class FormKind : std::uint8_t {
  kDirect,    // as it is
  kWinograd,  // F(2x2, 3x3): kernels of 4 x 4 at stride 2, four outputs a point
  kImage,     // channels are columns: pixels lie side by side
  kMerged,    // `count` groups as one, zeros between them
  kBatch,     // `count` frames share the weights
  kUnfolded   // dims of the same tensors are one: im2col
};

struct Form {
  FormKind kind = FormKind::kDirect;
  std::int64_t count = 1;
  friend bool operator==(const Form&, const Form&) = default;
};

// An extended einsum: output[...] += product of operands[...]. Invariants hold for every value that
// a factory of this folder returns: 1 <= dims <= kMaxDims, 2 <= tensors <= kMaxTensors, each dim
// indexes at least one tensor, no dim twice in one tensor, product of bounds <= 2^53.
struct Workload {
  std::string name;
  PerDim<Dim> dims;
  PerTensor<Tensor> tensors;  // operands in the order of the equation, the output last
  bool bias = false;  // one more addition and one more parameter per output channel: roofline
  std::string note;   // what the shorthand assumed, for people (e.g. padding)
  Form form{};

  TensorId output() const { return tensors.last(); }
  std::int64_t macs() const;     // product of all bounds
  std::string equation() const;  // O[n][k] += I[n][c] * W[k][c]
  GemmAxis gemm_axis(DimId dim) const;
  std::optional<DimId> find_dim(const std::string& dim_name) const;
  std::optional<TensorId> find_tensor(const std::string& tensor_name) const;
  friend bool operator==(const Workload&, const Workload&) = default;
};

// Points along a rank that the whole einsum touches.
std::int64_t points_along(const Workload& workload, const Rank& rank);

}  // namespace mapsim
