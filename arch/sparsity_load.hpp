// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "arch/arch.hpp"
#include "arch/lookup.hpp"
#include "arch/sparsity.hpp"
#include "core/reader.hpp"
#include "core/shared.hpp"

namespace mapsim {

// The keys of nodes about zeros (docs/sparsity.md).
inline const Words kStorageSparsityKeys{"format", "fits", "when_empty"};
inline const Words kComputeSparsityKeys{"when_zero", "gated_energy", "skipped_energy"};

// Reads these keys, node after node, outermost first. Errors go to the reader.
class SparsityReader {
 public:
  explicit SparsityReader(Reader& reader) : reader_{reader} {}
  // Energies that the node does not give are those of the table in `lookup`, if it has one.
  void read_storage(const Fields& fields, std::optional<Bits> word, const Storage& of,
                    const Lookup& lookup);
  void read_compute(const Fields& fields, const Compute& of, const Lookup& lookup);
  // Nothing, if no node has such a key.
  Shared<Sparsity> result() const {
    return is_given_ ? Shared<Sparsity>{sparsity_} : Shared<Sparsity>{};
  }

 private:
  TensorFormat read_format(const Node& node);
  std::optional<RankCode> read_code(const Node& node);
  void read_fits(const Node& node, Fits& fits);
  void read_when_zero(const Node& node);
  void read_condition(const Node& node, StorageSparsity& storage);

  Reader& reader_;
  Sparsity sparsity_;
  bool is_given_ = false;
};

}  // namespace mapsim
