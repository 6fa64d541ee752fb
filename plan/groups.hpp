// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "plan/operations.hpp"
#include "plan/options.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// Groups that have a kernel of their own.
enum class GroupKernel : std::uint8_t {
  kLayers,     // that of their layers, or a stream
  kAttention,  // two products, and softmax between them
  kTimeSteps   // all steps of a recurrent layer
};

// Operations that become one kernel. Either a layer (then `stream` is what crosses memory beside
// it), or nothing but a stream.
struct Group {
  std::vector<std::size_t> operations;  // in their order
  Fusion by = Fusion::kNone;            // the rule that makes it
  std::string reason;                   // why it may be one kernel, for people
  std::vector<NodeLayer> layers{};      // of siblings one, of all their outputs
  bool adds_tensor = false;             // the layer adds a tensor as large as its output
  Stream stream{};
  Bits epilogue{0};  // read and written by a pass of its own; 0: it rides along, or there is none
  GroupKernel kernel = GroupKernel::kLayers;
  bool elided = false;                // costs nothing: others write the result
  std::string unpriced{};             // why nothing is known of its cost; empty: it is
  std::vector<std::size_t> reads{};   // tensors that must be where it runs
  std::vector<std::size_t> writes{};  // that it makes
  // Chains stand where their last operation does, siblings where their first: all that they read
  // has been made before, and nobody reads them earlier.
  std::size_t anchor = 0;
};

// Why a rule does not make a group of operations, for people.
struct FusionObstacle {
  std::size_t operation = 0;
  std::string what;
};

struct Groups {
  std::vector<Group> all;
  std::vector<FusionObstacle> obstacles;
  bool is_cut = false;  // memory did not suffice for all
};

// Memory for groups of several operations [B], and what a group takes elsewhere, as its prices.
struct GroupMemory {
  std::size_t most = std::numeric_limits<std::size_t>::max();
  std::size_t beside = 0;
};

// Every group that the rules up to `fusion` allow (docs/plans.md). Each operation is a group by
// itself, too. Those that memory does not suffice for are left out.
Groups groups_of(const Operations& operations, Fusion fusion, const GroupMemory& memory = {});

}  // namespace mapsim
