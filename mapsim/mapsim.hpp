// SPDX-License-Identifier: Apache-2.0
#pragma once
// The library in one header: read a machine and a layer, search, evaluate, check, write JSON; fuse,
// plan and design (mapsim/systems.hpp); rank kernels of GPUs (mapsim/gpu.hpp).
//
//   const mapsim::Arch arch = mapsim::load_arch("eyeriss.yaml");
//   const mapsim::Workload layer = mapsim::gemm("fc", {.m = 64, .n = 256, .k = 1024});
//   std::puts(mapsim::to_json(mapsim::search(arch, layer)).c_str());
//
// Lifetimes. Arch, Workload, Mapping, Network and all structs below are values: each owns its data,
// and may outlive its sources. Only Mapspace and Evaluator refer to a Problem, which must outlive
// them; making one from a temporary Problem does not compile.
//
// Errors. Bad files and texts throw ConfigError, with every Diagnostic (file, line, column); spaces
// that a strategy cannot search throw UnsupportedSearch; wrong arguments throw
// std::invalid_argument. That nothing fits is an answer, not an error.
//
// Threads. There is no global state; calls may run at the same time on any threads.
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "check/check.hpp"
#include "costmodel/roofline.hpp"
#include "mapsim/arch_file.hpp"
#include "mapsim/gpu.hpp"
#include "mapsim/networks.hpp"
#include "mapsim/search_request.hpp"
#include "mapsim/search_words.hpp"
#include "mapsim/systems.hpp"
#include "report/front.hpp"
#include "report/why.hpp"
#include "workloads/conv.hpp"
#include "workloads/einsum.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim {

// ----- One layer: the best mapping -----

// The answer of a search, with its inputs. The stop flag and progress of the request are dropped.
struct Solution {
  Workload layer;  // as given; `problem` may have another form of it (NVDLA)
  SearchRequest request;
  Problem problem;
  Constraints constraints;
  SearchResult result;           // best mapping, its cost, the proof
  std::vector<TriedForm> tried;  // forms of a layer on an NVDLA-like engine
  std::vector<std::string> warnings;
};
// The same mapping and proof as `mapsim search`, on any number of threads.
Solution search(const Arch& arch, const Workload& layer, const SearchRequest& request = {});
std::string to_json(const Solution& solution);       // docs/results.md
std::string to_text(const Solution& solution);       // what `mapsim search` prints
std::string nest_text(const Solution& solution);     // its loops and keeps; empty: nothing fits
std::string why_none(const Solution& solution);      // why there is no mapping; empty: there is one
std::string mapping_yaml(const Solution& solution);  // of the best mapping; empty: nothing fits
std::string to_svg(const Solution& solution);        // machine and mapping; empty: nothing fits
// The proof, for `mapsim check` or verify(); may take as long as the search. Empty: stopped, or not
// supported by the checker. Throws UnsupportedSearch for strategies that prove nothing.
std::string proof_yaml(const Solution& solution, const std::atomic<bool>* stop = nullptr);
// Which capacity or bandwidth would improve the optimum most if it were twice as large: a search
// for each, the largest gain first. Empty: nothing fits. `known` is false for resources that were
// not searched before `stop` was set or the budget was over.
std::vector<Relief> what_would_help(const Solution& solution,
                                    const std::atomic<bool>* stop = nullptr);

// ----- Fronts -----

// A front: points of which none is better than another in both figures, and its inputs.
struct FrontSolution {
  Problem problem;
  Constraints constraints;
  FrontSubject subject;
  SearchOptions options;
  Front front;
  std::vector<std::string> warnings;
};
FrontSolution pareto_front(const Arch& arch, const Workload& layer,
                           const SearchRequest& request = {});
// The optimum over `capacity`: "GLB" or "spad:weight". Throws std::invalid_argument if the machine
// has none.
FrontSolution capacity_curve(const Arch& arch, const Workload& layer, const std::string& capacity,
                             const SearchRequest& request = {});
std::string to_json(const FrontSolution& solution);
std::string to_text(const FrontSolution& solution);
std::string to_svg(const FrontSolution& solution);

// ----- Bounds -----

// Bounds that no mapping can beat, from peak rates and the layer's data alone, as `mapsim roofline`
// prints them. roofline() (costmodel/roofline.hpp) has the figures.
std::string roofline_json(const Arch& arch, const Workload& layer);
std::string roofline_text(const Arch& arch, const Workload& layer);

// ----- One mapping -----

// The cost of a mapping, or why it does not fit.
struct Evaluated {
  Problem problem;
  Mapping mapping;
  Evaluation evaluation;
};
// `mapping`: YAML text; `name` is its name in errors.
Evaluated evaluate(const Arch& arch, const Workload& layer, const std::string& mapping,
                   const std::string& name = "mapping");
std::string to_json(const Evaluated& evaluated);
std::string to_text(const Evaluated& evaluated);
std::string to_svg(const Evaluated& evaluated);  // empty: it does not fit
// Compares the mapping with the optimum of the request's mapspace, by exact search. Throws
// std::invalid_argument if the mapping does not fit.
GapReport find_gap(const Evaluated& evaluated, const SearchRequest& request = {});
std::string to_json(const Evaluated& evaluated, const GapReport& gap);  // added to to_json()
std::string to_text(const Evaluated& evaluated, const GapReport& gap);  // of the gap alone
// Executes the mapping step by step, and compares counts and outputs with the closed form. Throws
// std::invalid_argument above `max_steps` MACs. nullopt: it does not fit, or `stop` was set.
std::optional<SimulationRecord> simulate(const Evaluated& evaluated,
                                         std::int64_t max_steps = 10'000'000,
                                         std::uint64_t seed = 1,
                                         const std::atomic<bool>* stop = nullptr);
std::string to_json(const Evaluated& evaluated, const SimulationRecord& record);

// A mapping in time as trace events (JSON), which https://ui.perfetto.dev shows (docs/trace.md);
// empty: nothing fits, or `stop` was set. Throws std::invalid_argument if it has none.
std::string trace_json(const Solution& solution, const std::atomic<bool>* stop = nullptr);
std::string trace_json(const Evaluated& evaluated, const std::atomic<bool>* stop = nullptr);

// ----- Proofs, samples -----

// A proof, and the verdict of a checker that shares only the cost model with the search.
struct Verified {
  check::Certificate certificate;
  check::Verdict verdict;  // `problems` empty: the proof holds
};
Verified verify(const std::string& proof, const std::string& name = "proof",
                const check::CheckOptions& options = {});
std::string to_json(const Verified& verified);

// Energies of mappings that keep the machine busy; perfect factors only. `svg` gets a picture.
Histogram energy_histogram(const Arch& arch, const Workload& layer,
                           const HistogramOptions& options = {}, const SearchRequest& space = {},
                           std::string* svg = nullptr);

}  // namespace mapsim
