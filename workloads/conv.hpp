// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "workloads/precision.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

using HeightWidth = std::array<std::int64_t, 2>;

// A 2-D convolution as frameworks describe it.
struct ConvShape {
  std::int64_t batch = 1;
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  HeightWidth input{1, 1};  // unpadded
  HeightWidth kernel{1, 1};
  HeightWidth stride{1, 1};
  HeightWidth dilation{1, 1};
  HeightWidth padding{0, 0};  // on each side
  std::int64_t groups = 1;
  bool bias = false;
  // Elements of the input as it lies in memory, where that is not batch x in_channels x input:
  // padding that differs between sides is part of `input`.
  std::optional<std::int64_t> stored{};

  // floor((input + 2 padding - dilation (kernel - 1) - 1) / stride) + 1
  HeightWidth output() const;
};

// The least input (unpadded) that gives this output; may come out below 1.
HeightWidth input_for(const ConvShape& shape, const HeightWidth& output);

// The first thing that is wrong with a shape, and the key of docs/formats.md that it concerns.
struct ShapeProblem {
  std::string key;
  std::string what;
};
std::optional<ShapeProblem> problem_of(const ConvShape& shape);

// O[N][K][P][Q] += I[N][C][s*P+d*R][s*Q+d*S] * W[K][C][R][S]; with groups G follows N, and C and K
// are those of one group; depthwise has neither. On the padded input: `note` says so,
// stored_elements of I counts the unpadded one. Throws std::invalid_argument with problem_of()'s
// words, or for more than 2^53 multiply-accumulates.
Workload conv2d(const std::string& name, const ConvShape& shape, const Precision& precision = {});

}  // namespace mapsim
