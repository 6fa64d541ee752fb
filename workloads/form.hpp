// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/workload.hpp"

namespace mapsim {

// The dims of a convolution or a matrix product by what they do, as conv2d() and gemm() name them:
// the rows M of a matrix product are the rows of its output. Absent: the layer has none.
struct LayerView {
  bool convolution = false;
  std::optional<DimId> batch, group, kernel, channel, rows, columns, filter_rows, filter_columns;
  TensorId input{}, weight{};
  std::array<std::int64_t, 2> stride{1, 1};  // height, width
  std::array<std::int64_t, 2> dilation{1, 1};
};
// The bound of a dim of a view; 1 where the layer has none.
inline std::int64_t bound_of(const Workload& workload, std::optional<DimId> dim) {
  return dim ? workload.dims[*dim].bound : 1;
}
// nullopt: another einsum.
std::optional<LayerView> view_layer(const Workload& workload);

// The same layer as another einsum, which a machine computes instead. Everything else counts,
// costs, simulates and maps it like any other. nullopt: it cannot be.
//  - winograd: kernels of 3 x 3, no stride, no dilation, channels. Transformed weights have 16
//    elements where there were 9, a patch of 4 x 4 inputs gives 2 x 2 outputs with 16
//    multiplications: O[n][k][p][q] += I[n][c][2*p+r][2*q+s] * W[k][c][r][s], r, s < 4, where an
//    element of O is four outputs wide, and rows and columns of outputs are padded to multiples of
//    4 (nvdla/doc, unit description: "shall be divisible by 4").
//  - image: at most four channels, no groups, no dilation of columns. Channels and columns are one
//    rank of the input, stride s_w * C, and kernels are C * S columns wide ("pre-extension").
//  - merged n: n groups become one with n times the channels and kernels, and weights of zero
//    between them; the last merge is filled up with groups of zeros.
//  - batch n: one row of a matrix product (a fully connected layer) becomes n.
//  - unfolded: dims that index the same tensors become one, the last running fastest, and every
//    tensor has one rank for each of them. For a convolution this is the matrix product of im2col:
//    O[K][NPQ] += I[NPQ][CRS] * W[K][CRS]; the input lies unfolded in memory, where it has an
//    element for every pair of an output and a filter position. Where no rank is a window of two
//    dims (1 x 1 layers), tensors keep the elements that they had. Every einsum with two such dims
//    has this form, unless the zeros of a tensor have a pattern.
std::optional<Workload> in_form(const Workload& workload, Form form);

// "direct", "winograd", "image", "merged 8", "batch 16", "unfolded"; parse_form reads it back.
// nullopt: none.
std::string to_string(Form form);
std::optional<Form> parse_form(std::string_view text);
inline constexpr std::string_view kFormWords =
    "direct, winograd, image, merged N, batch N, unfolded";

// For each dim, the dim of the form `unfolded` that it is a part of.
PerDim<DimId> unfolded_dims(const Workload& workload);

// Outputs that an element of the output stands for: 4 in the form winograd.
std::int64_t outputs_per_element(const Workload& workload);

}  // namespace mapsim
