// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "arch/arch.hpp"
#include "costmodel/fusion/tree.hpp"
#include "workloads/chain.hpp"

namespace mapsim {

// A machine, a small chain or graph of einsums and a tree that check_tree() accepts.
struct RandomTree {
  Arch arch;
  EinsumChain chain;
  MappingTree tree;
  int tries = 1;  // trees drawn until one was legal
};

// The case of a seed: one to four einsums (matrix products, convolutions in one and two dims with
// strides and dilations, depthwise ones, products of two tensors), two to four levels; nested
// sequences, shared loops of any extents, scopes and keeps anywhere.
RandomTree random_tree(std::uint64_t seed);

// What a case has, for those who ask that cases are not all tame.
struct TreeTraits {
  bool nested = false;      // a group in a group
  bool parallel = false;    // loops over instances in a branch
  bool shared = false;      // loops above a sequence
  bool recomputed = false;  // points made more than once
  bool retained = false;    // an intermediate in parts, some of them carried to the next step
  bool whole = false;       // an intermediate held whole below the outermost level
  bool spilled = false;
  bool graph = false;  // an intermediate with several readers
};
TreeTraits traits_of(const RandomTree& random);

// Where closed form, simulation and plain loops differ; empty: nowhere.
std::string tree_mismatch(const RandomTree& random);
std::string describe(const RandomTree& random);

}  // namespace mapsim
