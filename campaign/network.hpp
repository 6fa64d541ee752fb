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
  SearchOptions search;  // of every layer; a budget is each layer's own ...
  // ... or, if set, all share it with so many other searches that come later.
  std::optional<std::size_t> sharing{};
  std::string strategy = "exact";
  Frames frames = Frames::kOne;  // NVDLA-like engines, exact: compare batches per frame
  // Constraints on the mappings of a layer.
  std::function<Constraints(const Problem&)> constraints = [](const Problem&) {
    return Constraints{};
  };
  // Called before the search of each layer, with its index.
  std::function<void(std::size_t)> progress = [](std::size_t) {};
};

// The result for each layer of a network on one machine, in the network's order. After an interrupt
// the list is shorter, and its last entry may be the best so far.
struct NetworkResult {
  std::vector<SearchResult> layers;
  bool interrupted = false;
  std::optional<JointChoice> joint{};  // its mappings are in `layers`
};

// Totals per frame over all layers and streams, times their counts, one after the
// other.
struct NetworkTotals {
  Picojoules energy{0};
  Cycles latency{0};   // of the objective's mode
  StreamCost streams;  // their part of both (costmodel/stream.hpp)
  std::int64_t macs = 0;
  double seconds = 0;        // of searching
  std::int64_t missing = 0;  // layers without a mapping or unread, in none of the sums
  std::size_t distinct = 0;  // distinct layers, whatever their names
  bool proven = true;        // every layer's mapping is optimal, ties included; so is the choice
};

// The frames that a mapping or schedule computes together: those of its batch, or 1.
std::int64_t frame_count(const SearchResult& found);

// The cost of a layer per frame; frames of a batch share it evenly. Requires `cost`.
struct FrameCost {
  Picojoules energy{0};
  Cycles latency{0};  // rounded up
};
FrameCost frame_cost(const SearchResult& found, LatencyMode mode);

// Operators that multiply: where one has no price, the totals lack a layer. The list has the
// beginnings of names (Conv_of_unknown_shape, LSTM). The cost of other operators is small.
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

// Searches every distinct layer once (campaign/layer.hpp); names do not distinguish layers.
// For EDP and a strategy that proves, mappings are then chosen jointly, unless a layer has
// none.
NetworkResult search_network(const Arch& arch, const Network& network,
                             const NetworkOptions& options);
// Starts from layers mapped for their own least EDP; searches layers for weighted sums until the
// choice is proven or `options.search.stop` is set (campaign/joint_network.cpp).
void choose_jointly(const Arch& arch, const Network& network, const NetworkOptions& options,
                    NetworkResult& result);
// The first layer of the network that equals this one, names aside.
std::size_t first_like(const Network& network, std::size_t layer);
// Do streams take time? Yes if the outermost level has a bandwidth.
bool times_streams(const Arch& arch);
NetworkTotals totals(const Arch& arch, const Network& network, const NetworkResult& result,
                     LatencyMode mode);

// For people: layers by time, slowest first, then the largest parts of the energy, then totals with
// inferences per second.
std::string network_text(const Arch& arch, const Network& network, const NetworkOptions& options,
                         const NetworkResult& result);
// For programs (docs/results.md).
std::string network_json(const Provenance& origin, const Arch& arch, const Network& network,
                         const NetworkOptions& options, const NetworkResult& result);

}  // namespace mapsim
