// SPDX-License-Identifier: Apache-2.0
#include "workloads/chain_piece.hpp"

#include <utility>

namespace mapsim {

EinsumChain piece_of(const EinsumChain& chain, std::size_t first, std::size_t last) {
  EinsumChain piece;
  piece.name = chain.name;
  for (std::size_t e = first; e <= last; ++e) {
    piece.einsums.push_back(chain.einsums[e]);
    piece.names.push_back(chain.names[e]);
  }
  for (const Intermediate& passed : chain.intermediates) {
    Intermediate own = passed;
    bool is_within = passed.producer >= first;
    for (ChainTensor& use : own.readers) {
      is_within = is_within && use.einsum <= last;
      use.einsum -= first;
    }
    if (is_within) {
      own.producer -= first;
      piece.intermediates.push_back(std::move(own));
    }
  }
  return piece;
}

}  // namespace mapsim
