// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "app/campaign_arguments.hpp"
#include "app/gpu_arguments.hpp"
#include "app/layer_arguments.hpp"
#include "app/output.hpp"
#include "app/timeloop_arguments.hpp"
#include "core/memory.hpp"
#include "mapper/fusion/chain_search.hpp"
#include "mapper/histogram.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

// The command line as values; those of campaigns and GPUs have their own files.
struct ObjectiveArguments {
  Objective objective;
  bool chosen = false;      // by --objective
  std::string max_latency;  // empty: none; needs the clock of the architecture
};

struct SearchArguments {
  std::string arch, workload;
  InlineLayer layer;
  std::string constraints;  // empty: none
  ObjectiveArguments objective;
  std::string strategy = "exact";
  bool batches = false;                  // of an NVDLA-like engine
  bool even = false, imperfect = false;  // keeps at one loop; factors: imperfect
  std::int64_t evaluations = 10'000;
  std::int64_t seed = 1;
  int threads = 1;
  std::string mapping_file;  // the best mapping goes here too, unless empty; of a front: a folder
  bool pareto = false;       // the front of energy and latency
  std::string curve;         // LEVEL or LEVEL:ROLE; the optimum over its capacity, unless empty
  std::string svg;           // the picture of a front goes here, unless empty
  FusionLimits fusion;       // of a chain
  Budget budget{.bytes = search_bytes()};
  std::string certificate_file;  // and the proof here
  std::string trace;             // of the best mapping, in time, unless empty
  bool why = false;              // what would help
  bool explain_energy = false;   // of the best mapping
  bool print_constraints = false;
  KernelListArguments kernels;
  Output output;
};

struct NetworkArguments {
  std::string arch, network;
  OnnxArguments onnx;       // if the network is a model
  std::string constraints;  // of every layer; empty: none
  ObjectiveArguments objective;
  std::string strategy = "exact";
  bool batches = false, even = false, imperfect = false;
  std::int64_t evaluations = 10'000, seed = 1;
  int threads = 1;
  Budget budget{.bytes = search_bytes()};  // of each layer
  bool fuse = false;                       // as chains of einsums
  FusionLimits fusion;
  std::string certificate_file;  // the proof of --fuse goes here, unless empty
  KernelListArguments kernels;   // on a GPU: precision, path and layout
  Output output;
};

struct EvalArguments {
  std::string arch, workload, mapping, constraints;
  InlineLayer layer;
  bool why = false;        // against the optimum of a mapspace, of these constraints if any
  bool imperfect = false;  // its factors: imperfect
  Budget budget{.bytes = search_bytes()};  // of its search
  ObjectiveArguments objective;
  int threads = 1;
  bool explain_energy = false;
  std::string csv_file;  // accesses and energies go here, unless empty
  OneKernelArguments kernel;
  Output output;
};

struct SimulateArguments {
  std::string arch, workload, mapping;
  InlineLayer layer;
  std::int64_t seed = 1;
  std::int64_t max_steps = 10'000'000;
  std::string trace;  // the mapping in time goes here, unless empty
  int threads = 1;    // taken by every command, so that scripts can pass it; a walk needs one
  Output output;
};

struct ShowArguments {
  std::string arch;
  std::string workload, mapping;  // both, or neither; or an inline layer and a mapping
  InlineLayer layer;
  bool html = false;  // a page with the picture, and the mapping to step through
  int threads = 1;
  Output output;
};

struct HistogramArguments {
  std::string arch, workload;
  InlineLayer layer;
  std::string constraints;  // empty: none
  std::string svg;          // the picture goes here, unless empty
  HistogramOptions options;
  Output output;
};

struct ImportArguments {
  std::string format = "timeloop";  // scalesim, onnx, gpu-table
  std::vector<std::string> files;  // of one Timeloop design; a configuration and a topology; tables
  std::string folder;              // arch.yaml and the others go here; of tables the file
  std::string gpu, precision, problem, cache;  // what a table does not say; empty: it does
  OnnxArguments onnx;
  TimeloopArguments timeloop;
  Output output;
};

using Command = std::variant<SearchArguments, ListArguments, NetworkArguments, SweepArguments,
                             MergeArguments, ResultsArguments, ReportArguments, CheckArguments,
                             EvalArguments, SimulateArguments, RooflineArguments, ShowArguments,
                             HistogramArguments, ImportArguments, CompareArguments, ExportArguments,
                             CalibrateArguments, PredictArguments, ValidateArguments,
                             MicrobenchArguments, DesignArguments, PlanArguments>;

// What was asked cannot be done as it was asked: exit code 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// With the limit on latency in cycles of this clock. Throws UsageError.
Objective complete(const ObjectiveArguments& arguments, Hertz clock);

struct Information {
  std::string text;  // what --help, --version, --man or --completion prints
};

// Throws UsageError.
std::variant<Command, Information> parse_arguments(int argc, const char* const* argv);

}  // namespace mapsim
