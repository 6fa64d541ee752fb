// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "workloads/workload.hpp"

namespace mapsim {

// A tensor of one einsum of a chain.
struct ChainTensor {
  std::size_t einsum = 0;
  TensorId tensor{};
  friend bool operator==(const ChainTensor&, const ChainTensor&) = default;
};

// A tensor that one einsum makes and others read. Each of its ranks is one dim of the producer.
struct Intermediate {
  std::string name;
  std::size_t producer = 0;
  std::vector<ChainTensor> readers;  // at least one, in the order of the einsums
  friend bool operator==(const Intermediate&, const Intermediate&) = default;
};

// Einsums that pass tensors on: a chain, or a graph in an order in which it can run. Invariants of
// every loaded value: names distinct, every intermediate made before it is read, and as large and
// as wide where it is read as where it is made.
struct EinsumChain {
  std::string name;
  std::vector<Workload> einsums;
  std::vector<PerTensor<std::string>> names;  // of their tensors in the chain: t0, or c1.W
  std::vector<Intermediate> intermediates;

  // Which intermediate a tensor of an einsum is; nullopt: none.
  std::optional<std::size_t> intermediate_of(const ChainTensor& use) const;
  std::optional<std::size_t> find_einsum(const std::string& einsum_name) const;
  friend bool operator==(const EinsumChain&, const EinsumChain&) = default;
};

inline constexpr std::size_t kMaxEinsums = 32;

// A chain of one einsum, whose tensors have their own names.
EinsumChain chain_of(const Workload& workload);

// Reads a chain (docs/formats.md). Throws ConfigError with all that is wrong with the file.
EinsumChain load_chain(const std::string& path);
EinsumChain parse_chain(const std::string& text, const std::string& filename);

// The dim of a reader's rank over which its windows move: the only one of several that indexes the
// reader's output, or the only one; nullopt: there is none.
std::optional<DimId> primary_dim(const Workload& reader, const Rank& rank);

}  // namespace mapsim
