// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/diagnostic.hpp"
#include "core/rng.hpp"
#include "interop/onnx.hpp"
#include "workloads/conv.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::onnx_layers_test {
namespace {

using Counts = std::map<std::string, std::int64_t>;

// A model by hand: operands x and w of these shapes.
OnnxGraph one_node(const std::string& op, const std::vector<std::int64_t>& x,
                   const std::vector<std::int64_t>& w,
                   const std::map<std::string, std::vector<std::int64_t>>& integers = {}) {
  OnnxNode node{"n", op, {{"x", x, Bits{32}, false}, {"w", w, Bits{32}, true}}, {}, integers, {}};
  node.outputs = {{"y", std::nullopt, Bits{32}, false}};
  return {"graph", "graph.onnx", {node}, 1};
}

std::string error_of(const OnnxGraph& graph) {
  try {
    to_network(graph, {});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

// An operand that is repeated along an axis is read once: it is rows or columns of one product.
TEST(OnnxLayers, DoNotCopyWhatMatMulRepeats) {
  const auto shape = [](const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& w) {
    const Network network = to_network(one_node("MatMul", x, w), {});
    const Workload& layer = network.layers.at(0).workload;
    std::map<std::string, std::int64_t> dims;
    for (const Dim& dim : layer.dims) {
      dims[dim.name] = dim.bound;
    }
    return dims;
  };
  using Dims = std::map<std::string, std::int64_t>;
  EXPECT_EQ(shape({8, 32, 64}, {1, 64, 16}), (Dims{{"M", 256}, {"N", 16}, {"K", 64}}));
  EXPECT_EQ(shape({32, 64}, {8, 64, 16}), (Dims{{"M", 32}, {"N", 128}, {"K", 64}}));
  EXPECT_EQ(shape({8, 4, 1, 64}, {8, 1, 64, 128}),
            (Dims{{"H", 8}, {"M", 4}, {"N", 128}, {"K", 64}}));
  EXPECT_EQ(shape({3, 1, 5, 7}, {2, 7, 11}), (Dims{{"M", 15}, {"N", 22}, {"K", 7}}));
}

// Each output of a transposed convolution is the sum over the kernel elements that meet an input:
// those r with r * dilation = output + padding modulo the stride, counted one by one here.
TEST(OnnxLayers, SplitTransposedConvolutionsByPhase) {
  Rng rng{11};
  for (int i = 0; i < 300; ++i) {
    const std::int64_t in = rng.between(2, 9), kernel = rng.between(1, 5),
                       stride = rng.between(1, 4);
    const std::int64_t dilation = rng.between(1, 3), more = rng.between(0, stride - 1);
    const std::int64_t before = rng.between(0, kernel - 1), after = rng.between(0, kernel - 1);
    const std::int64_t out =
        stride * (in - 1) + more + dilation * (kernel - 1) + 1 - before - after;
    if (out < 1) {
      continue;
    }
    const Network network = to_network(one_node("ConvTranspose", {2, 6, in}, {6, 5, kernel},
                                                {{"strides", {stride}},
                                                 {"dilations", {dilation}},
                                                 {"pads", {before, after}},
                                                 {"output_padding", {more}},
                                                 {"group", {2}}}),
                                       {});
    std::int64_t macs = 0, outputs = 0;
    for (std::int64_t o = 0; o < out; ++o) {
      std::int64_t taps = 0;
      for (std::int64_t r = 0; r < kernel; ++r) {
        taps += (o + before - r * dilation) % stride == 0 ? 1 : 0;
      }
      macs += 2 * taps * 6 * 5;
      outputs += taps > 0 ? 2 * 2 * 5 : 0;
    }
    std::int64_t written = 0;
    for (const NetworkLayer& layer : network.layers) {
      const auto& dims = layer.workload.dims;
      const auto extent = [&](const char* dim) {
        const auto id = layer.workload.find_dim(dim);
        return id ? dims[*id].bound : 1;
      };
      written += layer.count * extent("N") * extent("G") * extent("K") * extent("Q");
      EXPECT_LE(layer.workload.tensors[TensorId{0}].stored_elements, 2 * 6 * in);
    }
    EXPECT_EQ(network.macs(), macs) << in << " " << kernel << " " << stride << " " << dilation;
    EXPECT_EQ(written, outputs) << in << " " << kernel << " " << stride << " " << dilation;
  }
}

// 8 to 4 channels, 16 x 16, kernels of 4 x 4 at stride 2: one convolution with four times the
// kernels, and no element of the output is written twice.
TEST(OnnxLayers, WriteEveryOutputOfATransposedConvolutionOnce) {
  const Network network = to_network(one_node("ConvTranspose", {1, 8, 16, 16}, {8, 4, 4, 4},
                                              {{"strides", {2, 2}}, {"pads", {1, 1, 1, 1}}}),
                                     {});
  ASSERT_EQ(network.layers.size(), 1);
  ConvShape phases;
  phases.in_channels = 8;
  phases.out_channels = 16;
  phases.input = {17, 17};
  phases.kernel = {2, 2};
  phases.stored = 8 * 16 * 16;
  const auto single = Precision{
      {{Role::kInput, Bits{32}}, {Role::kWeight, Bits{32}}, {Role::kOutput, Bits{32}}}, {}, {}};
  EXPECT_EQ(network.layers[0].workload, conv2d("n", phases, single));
  EXPECT_EQ(to_network(one_node("ConvTranspose", {1, 8, 7, 7, 7}, {8, 4, 2, 2, 2}), {}).unpriced,
            (std::map<std::string, std::int64_t>{{"ConvTranspose_3D", 1}}));
}

// Recurrent operators and attention are products, as many and as large as their definitions say.
TEST(OnnxLayers, PriceWhatIsSeveralEinsums) {
  const auto network = [](const std::string& op, const std::vector<std::vector<std::int64_t>>& in,
                          const std::map<std::string, std::vector<std::int64_t>>& integers = {}) {
    OnnxNode node{"n", op, {}, {{"y", std::nullopt, Bits{16}, false}}, integers, {}};
    for (std::size_t i = 0; i < in.size(); ++i) {
      node.inputs.push_back({in[i].empty() ? "" : "x" + std::to_string(i), in[i], Bits{16}, false});
    }
    return to_network({"graph", "graph.onnx", {node}, 1}, {});
  };
  const std::int64_t t = 7, b = 2, i = 5, h = 3;
  const Network lstm = network("LSTM", {{t, b, i}, {2, 4 * h, i}, {2, 4 * h, h}});
  ASSERT_EQ(lstm.layers.size(), 2U);
  EXPECT_EQ(lstm.layers[0].name, "n_inputs");
  EXPECT_EQ(lstm.macs(), 2 * t * b * 4 * h * (i + h));
  EXPECT_EQ(lstm.layers[1].count, 2 * t);
  EXPECT_EQ(network("GRU", {{b, t, i}, {1, 3 * h, i}, {1, 3 * h, h}}, {{"layout", {1}}}).macs(),
            t * b * 3 * h * (i + h));
  // 8 query heads on 2 key heads; 10 queries, 10 keys and 6 of before.
  const std::map<std::string, std::vector<std::int64_t>> heads{{"num_heads", {8}},
                                                               {"kv_num_heads", {2}}};
  const Network grouped = network("com.microsoft.GroupQueryAttention",
                                  {{b, 10, 64}, {b, 10, 16}, {b, 10, 16}, {b, 2, 6, 8}}, heads);
  EXPECT_EQ(grouped.macs(), 2 * b * 8 * 10 * 16 * 8);
  EXPECT_EQ(grouped.layers[0].workload.dims[DimId{0}].bound, b * 2);
  EXPECT_EQ(network("com.microsoft.GroupQueryAttention", {{b, 10, 96}}, heads).macs(),
            2 * b * 8 * 10 * 10 * 8);
  EXPECT_EQ(network("Attention", {{b, 4, 10, 8}, {b, 2, 12, 8}, {b, 2, 12, 6}}).macs(),
            b * 4 * 10 * 12 * (8 + 6));
  EXPECT_EQ(
      network("com.microsoft.Attention", {{b, 10, 32}, {32, 96}}, {{"num_heads", {4}}}).macs(),
      b * 10 * 32 * 96 + 2 * b * 10 * 10 * 32);
  const Network narrow = network("com.microsoft.MatMulNBits", {{b, 10, 64}, {32, 2, 16}},
                                 {{"N", {32}}, {"K", {64}}, {"bits", {4}}});
  EXPECT_EQ(narrow.macs(), b * 10 * 64 * 32);
  EXPECT_EQ(narrow.layers[0].workload.tensors[TensorId{1}].bits, Bits{4});
  // A head's width is not known: named.
  EXPECT_EQ(network("com.microsoft.GroupQueryAttention", {{b, 10, 64}, {}, {}}).unpriced,
            (Counts{{"com.microsoft.GroupQueryAttention_of_unknown_shape", 1}}));
}

TEST(OnnxLayers, PriceConvolutionsOfThreeAxes) {
  OnnxGraph graph = one_node("Conv", {1, 4, 9, 8, 8}, {6, 4, 3, 3, 3}, {{"strides", {2, 1, 1}}});
  graph.nodes[0].outputs[0].shape = {1, 6, 4, 6, 6};
  const Network network = to_network(graph, {});
  EXPECT_EQ(network.macs(), 6 * 4 * 27 * 4 * 6 * 6);
  EXPECT_EQ(network.graph->nodes.at(0).parameters, 6 * 4 * 27);
  graph.nodes[0].integers["group"] = {2};
  EXPECT_EQ(to_network(graph, {}).unpriced, (Counts{{"Conv_3D", 1}}));
}

TEST(OnnxLayers, SayWhatIsWrongWithAnAttribute) {
  const std::vector<std::int64_t> x{1, 8, 9, 9}, w{8, 8, 3, 3};
  EXPECT_EQ(error_of(one_node("Conv", x, w, {{"group", {}}})),
            "graph.onnx: Conv 'n': 'group' is not one number");
  EXPECT_EQ(error_of(one_node("Gemm", {4, 5}, {5, 6}, {{"transA", {}}})),
            "graph.onnx: Gemm 'n': 'transA' is not one number");
  EXPECT_EQ(error_of(one_node("Conv", x, w, {{"group", {3}}})),
            "graph.onnx: Conv 'n': 8 channels of data in 3 groups contradict weights of 8x8");
  EXPECT_EQ(error_of(one_node("Conv", x, w, {{"strides", {0, 1}}})),
            "graph.onnx: Conv 'n': strides: 0 is not between 1 and 2^30");
  EXPECT_EQ(error_of(one_node("Conv", x, w, {{"kernel_shape", {5, 5}}})),
            "graph.onnx: Conv 'n': data, weights and 'kernel_shape' contradict each other");
  EXPECT_EQ(error_of(one_node("Relu", {std::int64_t{1} << 40, std::int64_t{1} << 40}, {1})),
            "graph.onnx: Relu 'n': 'x' has more than 2^56 bits");
}

// x8 -> Dequantize -> Conv -> Quantize: operands and results of 8 b, and nothing else moves. A
// float that somebody else reads, too, is written as it is.
TEST(OnnxLayers, CrossMemoryAsWideAsTheyAreQuantised) {
  OnnxGraph graph = one_node("Conv", {1, 8, 9, 9}, {8, 8, 3, 3});
  OnnxNode& conv = graph.nodes[0];
  conv.outputs[0].shape = {1, 8, 7, 7};
  const auto quantised = [](OnnxTensor tensor) {
    tensor.name += "8";
    tensor.bits = Bits{8};
    return tensor;
  };
  const OnnxTensor x = conv.inputs[0], w = conv.inputs[1], y = conv.outputs[0];
  graph.nodes = {{"dx", "DequantizeLinear", {quantised(x)}, {x}, {}, {}},
                 {"dw", "DequantizeLinear", {quantised(w)}, {w}, {}, {}},
                 conv,
                 {"qy", "QuantizeLinear", {y}, {quantised(y)}, {}, {}}};
  const auto widths = [](const Network& network) {
    std::vector<std::int64_t> bits;
    for (const Tensor& tensor : network.layers.at(0).workload.tensors) {
      bits.push_back(tensor.bits.count());
    }
    return bits;
  };
  Network network = to_network(graph, {});
  EXPECT_EQ(widths(network), (std::vector<std::int64_t>{8, 8, 8}));
  EXPECT_TRUE(network.streams.empty());
  graph.nodes.push_back({"r", "Relu", {y}, {{"z", y.shape, Bits{32}, false}}, {}, {}});
  network = to_network(graph, {});
  EXPECT_EQ(widths(network), (std::vector<std::int64_t>{8, 8, 32}));
  EXPECT_EQ(network.streams.size(), 2);
}

TEST(OnnxLayers, HaveNamesOfTheirOwn) {
  OnnxGraph graph = one_node("MatMul", {2, 3}, {3, 4});
  graph.nodes.resize(3, graph.nodes[0]);
  for (std::size_t i = 0; i < 3; ++i) {
    graph.nodes[i].name = i == 1 ? "a_2" : "a";
    graph.nodes[i].inputs[1].shape = {3, static_cast<std::int64_t>(4 + i)};
  }
  graph.nodes.push_back({"b", "9 strange<b>", graph.nodes[0].inputs, {}, {}, {}});
  const Network network = to_network(graph, {});
  ASSERT_EQ(network.layers.size(), 3);
  EXPECT_EQ(network.layers[0].name, "a");
  EXPECT_EQ(network.layers[1].name, "a_2");
  EXPECT_EQ(network.layers[2].name, "a_3");
  EXPECT_EQ(network.unpriced, (std::map<std::string, std::int64_t>{{"op_9_strange_b_", 1}}));
}

// Letters of one operand are its rows or columns, of both the batch or what is summed over.
TEST(OnnxLayers, ReadEinsumsAsProducts) {
  const auto shape = [](const char* equation, const std::vector<std::int64_t>& x,
                        const std::vector<std::int64_t>& w) {
    OnnxGraph graph = one_node("Einsum", x, w);
    graph.nodes[0].words["equation"] = equation;
    const Network network = to_network(graph, {});
    Counts dims;
    for (const NetworkLayer& layer : network.layers) {
      for (const Dim& dim : layer.workload.dims) {
        dims[dim.name] = dim.bound;
      }
    }
    return dims;
  };
  EXPECT_EQ(shape("ij,jk->ik", {2, 3}, {3, 5}), (Counts{{"M", 2}, {"N", 5}, {"K", 3}}));
  EXPECT_EQ(shape("ij,jk", {2, 3}, {3, 5}), (Counts{{"M", 2}, {"N", 5}, {"K", 3}}));
  EXPECT_EQ(shape("abij,bkj->aikb", {7, 4, 2, 3}, {4, 5, 3}),
            (Counts{{"H", 4}, {"M", 14}, {"N", 5}, {"K", 3}}));
  EXPECT_EQ(shape("i,j->ij", {4}, {6}), (Counts{{"M", 4}, {"N", 6}, {"K", 1}}));
  for (const char* equation : {"...j,jk->...k", "ij,jk->k", "ii,ik->ik"}) {
    EXPECT_EQ(shape(equation, {3, 3}, {3, 5}), Counts{}) << equation;
  }
  OnnxGraph graph = one_node("Einsum", {2, 3}, {4, 5});
  graph.nodes[0].words["equation"] = "ij,jk->ik";
  EXPECT_EQ(error_of(graph), "graph.onnx: Einsum 'n': the operands' axes 'j' differ: 3 and 4");
}

}  // namespace
}  // namespace mapsim::onnx_layers_test
