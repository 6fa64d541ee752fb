// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/fused_bound.hpp"
#include "check/least_of_sums.hpp"
#include "costmodel/fusion/tree.hpp"

namespace mapsim::check {

// A certificate of a chain as written (docs/certificates.md). The checker trusts none of it.
struct ChainClaim {
  std::string file;
  std::string tool;
  Arch arch;
  EinsumChain chain;
  FusedSpace space;
  std::optional<MappingTree> tree;  // the best; none: nothing fits
  Goal goal;                        // a value within limits
  double value = 0;                 // of the tree [pJ, cycles]; infinite without one
  double lower_bound = 0;           // of all trees
  // What the lower bound follows from, unless it is one of a sum over einsums itself, without
  // limits.
  std::vector<ProvenSum> sums;
  bool records_inputs = false;  // has hashes of files, which are not compared
  // As part of a network, a chain whose layers need less one by one has a bound and no tree.
  bool may_lack_tree = false;
};

// Does a text begin like such a certificate?
bool is_chain_certificate(const std::string& text);
// Throws a ConfigError: not a certificate of a chain, damaged, or beyond the checker.
ChainClaim load_chain_claim(const std::string& path);
// `lines_above`: in the file, where the certificate is a part of another.
ChainClaim parse_chain_claim(const std::string& text, const std::string& filename,
                             std::size_t lines_above = 0);

// Why the checker cannot follow proofs on a machine; empty: it can.
std::string chain_proof_obstacle(const Arch& arch);

struct ChainVerdict {
  std::vector<std::string> problems;  // none: the proof holds
  bool walked = false;                // the counts are the reference simulator's, too
  FusedBound bound;                   // of all sums together
  double seconds = 0;
};

// Adds up the work for several sums.
void account(const FusedBound& more, FusedBound& all);

// Is a claim about a sum over einsums, without limits? Others follow from several such sums.
bool is_one_sum(const Goal& goal);
// The unit of a claim's values: pJ, or cycles.
std::string unit_of(const ObjectiveFunction& function);

// Does the tree lie in the space, fit, and have the value that is claimed, and does no other tree
// have less than the lower bound? Up to `max_steps` MACs the reference simulator walks the tree.
ChainVerdict check_chain(const ChainClaim& claim, std::int64_t max_steps, Stop stop = {});

}  // namespace mapsim::check
