// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/graph.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// What NVIDIA's workbook for NVDLA counts in a row besides the layer (docs/nvdla.md#the-workbook).
// Only `mode: sheet` reads it.
struct WorkbookRow {
  bool addition = false;  // a tensor as large as the output is read and added
  std::optional<std::array<std::int64_t, 2>> pooled{};  // rows, columns behind fused pooling
  std::int64_t extra_lines = 0;                         // of the least input, besides the kernel's
  bool winograd_weights = true;                         // 16/9 of the weights of 3 x 3 kernels
  // Beside a second memory, whose inputs are read from it and outputs written to it: which of the
  // two crosses the DRAM's port as well, and whether they are in the memory at all.
  std::optional<Role> dram{};
  bool reads_memory = true;
  bool writes_memory = true;
  // There, frames that share the weights which cross the DRAM's port (0: none cross it; nullopt:
  // one, or the batch of fully connected layers), and which are read from the memory (0: none).
  std::optional<std::int64_t> dram_weights{};
  std::int64_t memory_weights = 0;
  friend bool operator==(const WorkbookRow&, const WorkbookRow&) = default;
};

// Layers of one shape: what is known about one holds for all.
struct NetworkLayer {
  std::string name;
  Workload workload;
  std::int64_t count = 1;  // >= 1
  std::string file{};      // where the workload was read; empty: part of a model
  WorkbookRow workbook{};
  friend bool operator==(const NetworkLayer&, const NetworkLayer&) = default;
};

// Operations without multiply-accumulates worth a mapping (pooling, sums, normalisation, copies):
// what counts is what they read and write.
struct Stream {
  std::string name;
  std::string kind;  // the operator: MaxPool, Softmax
  Bits in{0};        // read, by one of them
  Bits out{0};       // written
  std::int64_t count = 1;
  friend bool operator==(const Stream&, const Stream&) = default;
};

// A network as a bag of layers, run one after the other. Layers are distinct in their names; the
// sum of counts times MACs is at most 2^62.
struct Network {
  std::string name;
  std::vector<NetworkLayer> layers;  // at least one, or streams
  std::vector<Stream> streams{};
  std::map<std::string, std::int64_t> unpriced{};  // operators that nothing is known of: how many
  std::int64_t batch = 1;                          // inferences that run together
  std::vector<std::string> warnings{};             // what may have been misread, of a model
  std::optional<NetworkGraph> graph{};  // what all of this is the sum of; a list has none
  std::int64_t macs() const;
  friend bool operator==(const Network&, const Network&) = default;
};

// Reads a network (docs/formats.md): names of workload files, relative to its own folder or shipped
// in one of `configs` (core/shipped.hpp), with how often each occurs. Throws ConfigError with all
// that is wrong with it, or with one of its layers.
Network load_network(const std::string& path, const std::vector<std::string>& configs = {});
Network parse_network(const std::string& text, const std::string& filename);

// The layers, streams and unpriced operators of a graph, equal ones once.
Network network_of(std::string name, NetworkGraph graph);

// The network for this number of inputs at a time, each as in the file: the batch of convolutions,
// the rows of matrix products and the batch of batched ones grow, and with them what streams move;
// weights are shared. Throws ConfigError (about `path`) for another einsum, and beyond 2^53
// multiply-accumulates in a layer.
Network batched(const Network& network, std::int64_t batch, const std::string& path);

// As load_network() reads it, each layer's workload in the file FOLDER/NAME.yaml.
std::string print_network(const Network& network, const std::string& folder);

}  // namespace mapsim
