// SPDX-License-Identifier: Apache-2.0
#include "tests/costmodel/random_einsum.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace mapsim {
namespace {

// A dim of a kind of einsum, and its largest bound.
struct DimRange {
  const char* name;
  std::uint64_t largest;
};

// A tensor as a list of ranks: each a string of dim names, a letter each. Terms of a window get
// random coefficients, the same for the same letters: stride and dilation.
struct TensorShape {
  const char* name;
  Role role;
  std::vector<std::string> ranks;
};

struct Kind {
  const char* name;
  std::vector<DimRange> dims;
  std::vector<TensorShape> tensors;
};

const std::vector<Kind>& kinds() {
  constexpr Role kIn = Role::kInput;
  constexpr Role kWt = Role::kWeight;
  constexpr Role kOut = Role::kOutput;
  static const std::vector<Kind> kTable{
      {"gemm",
       {{"m", 8}, {"n", 8}, {"k", 8}},
       {{"A", kIn, {"m", "k"}}, {"B", kWt, {"k", "n"}}, {"Z", kOut, {"m", "n"}}}},
      {"conv1d",
       {{"k", 4}, {"c", 4}, {"p", 9}, {"r", 5}},
       {{"I", kIn, {"c", "pr"}}, {"W", kWt, {"k", "c", "r"}}, {"O", kOut, {"k", "p"}}}},
      {"conv2d",
       {{"n", 2}, {"k", 3}, {"c", 3}, {"p", 5}, {"q", 5}, {"r", 3}, {"s", 3}},
       {{"I", kIn, {"n", "c", "pr", "qs"}},
        {"W", kWt, {"k", "c", "r", "s"}},
        {"O", kOut, {"n", "k", "p", "q"}}}},
      {"depthwise",
       {{"c", 4}, {"p", 6}, {"q", 6}, {"r", 3}, {"s", 3}},
       {{"I", kIn, {"c", "pr", "qs"}}, {"W", kWt, {"c", "r", "s"}}, {"O", kOut, {"c", "p", "q"}}}},
      {"grouped",
       {{"g", 3}, {"k", 3}, {"c", 3}, {"p", 7}, {"r", 4}},
       {{"I", kIn, {"g", "c", "pr"}},
        {"W", kWt, {"g", "k", "c", "r"}},
        {"O", kOut, {"g", "k", "p"}}}},
      {"window in the output",
       {{"n", 3}, {"k", 4}, {"p", 9}, {"r", 5}},
       {{"I", kIn, {"n", "k", "p"}}, {"W", kWt, {"k", "r"}}, {"O", kOut, {"n", "pr"}}}},
      {"windows on both sides",
       {{"c", 3}, {"p", 6}, {"r", 4}, {"s", 4}},
       {{"I", kIn, {"c", "pr"}}, {"W", kWt, {"c", "r", "s"}}, {"O", kOut, {"ps"}}}},
      {"three dims in a rank",
       {{"k", 3}, {"p", 6}, {"r", 4}, {"u", 4}},
       {{"I", kIn, {"pru"}}, {"W", kWt, {"k", "r", "u"}}, {"O", kOut, {"k", "p"}}}},
      {"mttkrp",
       {{"i", 6}, {"j", 6}, {"k", 6}, {"r", 4}},
       {{"T", kIn, {"i", "j", "k"}},
        {"A", kWt, {"j", "r"}},
        {"B", kWt, {"k", "r"}},
        {"M", kOut, {"i", "r"}}}},
      {"elementwise",
       {{"i", 9}, {"j", 9}},
       {{"A", kIn, {"i", "j"}}, {"B", kWt, {"j"}}, {"Z", kOut, {"i", "j"}}}},
      {"sum of windows",
       {{"i", 5}, {"p", 9}, {"r", 5}},
       {{"A", kIn, {"i", "pr"}}, {"Z", kOut, {"p"}}}},
  };
  return kTable;
}

constexpr std::array<std::int64_t, 4> kMacLimits{64, 256, 1000, INT64_MAX};

PerDim<Dim> random_dims(Rng& rng, const Kind& kind, std::int64_t max_macs) {
  const std::int64_t limit = std::min(max_macs, kMacLimits[rng.below(kMacLimits.size())]);
  while (true) {
    PerDim<Dim> dims;
    std::int64_t macs = 1;
    for (const DimRange& range : kind.dims) {
      const auto bound = static_cast<std::int64_t>(1 + rng.below(range.largest));
      dims.push_back({range.name, bound});
      macs *= bound;
    }
    if (macs <= limit) {
      return dims;
    }
  }
}

}  // namespace

Workload random_einsum(Rng& rng, std::int64_t max_macs) {
  const Kind& kind = kinds()[rng.below(kinds().size())];
  Workload workload;
  workload.name = kind.name;
  workload.dims = random_dims(rng, kind, max_macs);
  PerDim<std::int64_t> coefficients;
  for (std::size_t i = 0; i < workload.dims.size(); ++i) {
    coefficients.push_back(static_cast<std::int64_t>(1 + rng.below(3)));
  }
  for (const TensorShape& shape : kind.tensors) {
    Tensor tensor;
    tensor.name = shape.name;
    tensor.role = shape.role;
    for (const std::string& letters : shape.ranks) {
      Rank rank;
      for (const char letter : letters) {
        const DimId d = *workload.find_dim({letter});
        rank.terms.push_back({d, letters.size() > 1 ? coefficients[d] : 1});
      }
      tensor.ranks.push_back(rank);
    }
    if (shape.role == Role::kOutput && rng.below(2) == 0) {
      tensor.partial_bits = Bits{32};
    }
    workload.tensors.push_back(tensor);
  }
  return workload;
}

}  // namespace mapsim
