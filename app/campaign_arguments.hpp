// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/output.hpp"
#include "core/units.hpp"
#include "design/limits.hpp"
#include "design/value.hpp"
#include "plan/options.hpp"

namespace mapsim {

// Networks and campaigns.

// How a model becomes a network.
struct OnnxArguments {
  std::vector<std::string> dims;    // NAME=N
  std::vector<std::string> inputs;  // NAME=N
  std::int64_t batch = 1;
  std::int64_t operand_bits = 0;  // 0: as in the model
};

struct PlanArguments {
  std::string soc, network;
  OnnxArguments onnx;  // if the network is a model; the batch of any
  PlanOptions options;
  std::vector<std::string> node_precisions;  // NODE=WORD
  std::vector<std::string> engines;          // that may be used; empty: all
  std::vector<std::string> engine_batches;   // NAME=N
  std::vector<std::string> with;             // other networks, at the same time
  std::string given;                         // a plan made elsewhere, unless empty
  // Where the plan in time, the plan itself, a proof of it and a page about it go, unless empty.
  std::string trace, plan_file, certificate_file, page_file;
  int threads = 1;  // taken by every command, so that scripts can pass it; a plan needs one
  Output output;
};

struct SweepArguments {
  std::string campaign, database;
  int shard = 1, shards = 1;           // the first of them is 1
  std::optional<std::size_t> bytes{};  // memory of each search; none: a share of the machine's
  int threads = 1;
  Output output;
};

struct DesignArguments {
  std::string space;
  std::vector<std::string> work;             // empty: the layers and networks of the space
  std::optional<DesignObjective> objective;  // absent: that of the space
  DesignLimits limits;
  bool front = false;   // of value and area
  std::size_t top = 1;  // how many of the best
  Budget budget{.bytes = search_bytes()};
  std::string arch_file;         // the best machine goes here, unless empty
  std::string certificate_file;  // the proof goes here, unless empty
  std::string svg;               // the figure goes here, unless empty
  std::string database;          // answers come from here and go here, unless empty
  int threads = 1;
  Output output;
};

struct CheckArguments {
  std::string certificate;
  std::string machine, layer, constraints, space;  // what it must be about, unless empty
  std::vector<std::string> work;                   // in place of the layers of this space
  std::int64_t max_steps = 1'000'000;
  std::size_t sample = 0;  // number of layer bounds of a proof of designs; 0: all
  int threads = 1;
  Output output;
};

struct MergeArguments {
  std::string database;
  std::vector<std::string> inputs;
  int threads = 1;
  Output output;
};

struct ResultsArguments {
  std::string database;
  std::string campaign;  // empty: all
  bool networks = false;
  bool csv = false;
  int threads = 1;
  Output output;
};

struct ReportArguments {
  std::vector<std::string> results;  // databases, JSON, measurements
  std::string campaign_name;         // of databases; empty: all
  std::string machine;               // the GPU that predicts what was measured
  std::string gpu;                   // whose rows; empty: that machine's name
  std::string figures;               // each figure as SVG and CSV goes to this folder, unless empty
  std::string title;                 // empty: from the results
  std::vector<std::size_t> designs;  // to draw layer by layer, with the best
  int threads = 1;
  Output output;
};

}  // namespace mapsim
