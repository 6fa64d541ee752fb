// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "campaign/joint.hpp"
#include "costmodel/stream.hpp"
#include "mapper/mapper.hpp"
#include "mapper/nvdla/search.hpp"
#include "report/json.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// How the layers of a network are searched.
struct NetworkOptions {
  SearchOptions search;  // of every layer; a budget is each layer's own
  std::string strategy = "exact";
  Frames frames = Frames::kOne;  // of engines after NVDLA, exact: batches compared by the frame
  // What the mappings of a layer must look like.
  std::function<Constraints(const Problem&)> constraints = [](const Problem&) {
    return Constraints{};
  };
  // Called before the search of each layer, with its index.
  std::function<void(std::size_t)> progress = [](std::size_t) {};
};

// What was found for each layer of a network on one machine, in the order of the network. After an
// interrupt the list is short, and its last entry may be the best so far.
struct NetworkResult {
  std::vector<SearchResult> layers;
  bool interrupted = false;
  std::optional<JointChoice> joint{};  // of which `layers` are the mappings
};

// Of all layers and streams together, each as often as it occurs, one after the other, by the
// frame.
struct NetworkTotals {
  Picojoules energy{0};
  Cycles latency{0};   // of the objective's mode
  StreamCost streams;  // their part of both (costmodel/stream.hpp)
  std::int64_t macs = 0;
  double seconds = 0;        // of searching
  std::int64_t missing = 0;  // layers without a mapping, or unread: in none of the sums above
  std::size_t distinct = 0;  // layers that differ in more than their names
  bool proven = true;        // every layer's mapping is optimal, ties included; the choice, too
};

// The frames that a mapping or schedule computes at a time: those of a batch, else 1.
std::int64_t frame_count(const SearchResult& found);

// What a layer costs a frame: the frames of a batch share its cost evenly. `cost` is there.
struct FrameCost {
  Picojoules energy{0};
  Cycles latency{0};  // rounded up
};
FrameCost frame_cost(const SearchResult& found, LatencyMode mode);

// Operators without a price that multiply: layers that are in no sum. By the beginnings of their
// names (Conv_of_unknown_shape, LSTM); other operators without a price are small beside them.
inline constexpr std::array kMultiplyingOps{"Attention",
                                            "com.microsoft.Attention",
                                            "com.microsoft.GroupQueryAttention",
                                            "com.microsoft.MatMulNBits",
                                            "com.microsoft.MultiHeadAttention",
                                            "Conv",
                                            "DeformConv",
                                            "Einsum",
                                            "GRU",
                                            "Gemm",
                                            "LSTM",
                                            "MatMul",
                                            "QLinearConv",
                                            "QLinearMatMul",
                                            "RNN"};
std::int64_t unread_layers(const Network& network);

// Searches every distinct layer once (campaign/layer.hpp): layers that differ in their names only
// are one. By EDP, with a strategy that proves, the mappings are then chosen jointly, unless a
// layer has none.
NetworkResult search_network(const Arch& arch, const Network& network,
                             const NetworkOptions& options);
// Takes layers mapped for their own least EDP each; searches more of the layers, for weighted sums,
// until the choice is proven or `options.search.stop` is set (campaign/joint_network.cpp).
void choose_jointly(const Arch& arch, const Network& network, const NetworkOptions& options,
                    NetworkResult& result);
// The first layer of the network that is this one but for its name.
std::size_t first_like(const Network& network, std::size_t layer);
// Whether streams take time: the outermost level has a bandwidth.
bool times_streams(const Arch& arch);
NetworkTotals totals(const Arch& arch, const Network& network, const NetworkResult& result,
                     LatencyMode mode);

// For people: layers by their share of the time, slowest first, then what takes most energy, then
// the totals with inferences per second.
std::string network_text(const Arch& arch, const Network& network, const NetworkOptions& options,
                         const NetworkResult& result);
// For programs (docs/results.md).
std::string network_json(const Provenance& origin, const Arch& arch, const Network& network,
                         const NetworkOptions& options, const NetworkResult& result);

}  // namespace mapsim
