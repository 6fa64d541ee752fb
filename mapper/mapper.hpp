// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/objective.hpp"

namespace mapsim {

// How far the proof goes. kOptimal: nothing in the mapspace is better. kInfeasible: nothing in it
// fits. kBounded: nothing is better than lower_bound. kNone: no claim (samples).
enum class Proof : std::uint8_t { kOptimal, kInfeasible, kBounded, kNone };
struct Certificate {
  Proof status = Proof::kNone;
  double lower_bound = 0;     // of the objective, over the whole mapspace; infinite: nothing fits
  double gap = 0;             // objective / lower_bound - 1; 0 when optimal
  std::string mapspace_size;  // before capacity, exact, decimal
  bool schedules = false;     // all this is about an engine's schedules, not the whole mapspace
  // Imperfect factors: a bound of mappings without an extent at which nothing stands, where it is
  // above that of all: the others are too many (decision 18). Optimal: ties among those are open.
  std::optional<double> bound_but_for_bare{};
  // Systolic arrays: folds at the edges of the array were searched, too
  // (mapper/branch/edge_folds.hpp). Then status, bound and gap are about them and the mapspace
  // together; this is about the mapspace alone, whose every fold is full or divides.
  struct Divisors {
    std::optional<double> value;  // of the best of it; nullopt: nothing fits
    double lower_bound = 0;
  };
  std::optional<Divisors> divisors{};
};

// How the exact strategy came by the bound of a class of spatial unrollings. kUnrollingBound:
// whatever the tiles; kRelaxation: every tile had its capacity to itself; kSearch: searched as far
// as it takes.
enum class Argument : std::uint8_t { kUnrollingBound, kRelaxation, kSearch };
struct ClassBound {
  double bound = 0;  // of the objective: no mapping of the class is better
  Argument by = Argument::kUnrollingBound;
  UnrollingClass unrollings{};
  bool is_symmetric = false;  // one before it that is like it was looked at in its place
};

struct Statistics {
  double seconds = 0;
  std::int64_t evaluations = 0;  // closed-form evaluations of whole mappings
  std::int64_t labels = 0;       // partial mappings expanded (exact)
  std::int64_t states = 0;       // lattice states bounded (exact)
  std::int64_t unrollings = 0;   // spatial unrollings looked into
  std::int64_t unrollings_total = 0;
  std::int64_t out_of_memory = 0;  // how often a class of unrollings needed more than there was
  std::size_t peak_bytes = 0;      // of tables and labels (exact)
};

// Why mappings did not fit: "GLB: capacity" -> how many, and the least capacity seen that would
// have been enough for the mapping at hand to fit.
struct InfeasibleReport {
  std::map<std::string, std::int64_t> reasons;
  std::map<std::string, std::int64_t> smallest_need;  // bits, instances, pJ (rounded up), cycles
  friend bool operator==(const InfeasibleReport&, const InfeasibleReport&) = default;
};
void add(InfeasibleReport& report, const Problem& problem, const Infeasible& reason,
         std::int64_t count = 1);
// Of a mapping that fits but breaks the objective's limits: "energy limit", "latency limit".
void add_beyond_limits(InfeasibleReport& report, const Objective& objective, const Cost& cost);
void add(InfeasibleReport& report, const InfeasibleReport& other);

// How long a strategy may search before it returns the best so far: the exact one with its true
// gap, and at least one mapping, however small the budget.
struct Budget {
  double seconds = std::numeric_limits<double>::infinity();  // on the clock on the wall
  // Of the exact strategy. The same result on any number of threads.
  std::int64_t labels = std::numeric_limits<std::int64_t>::max();
  // Of the exact strategy: for its tables and labels, all threads together. A class of unrollings
  // that needs more is searched on a part of its tiles and left open.
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  // Of the exact strategy, one mapping: what cannot be better than the best by more than this share
  // of the optimum is left out. 0: the optimum.
  double gap = 0;
  friend bool operator==(const Budget&, const Budget&) = default;
};

// Where an exact search stands.
struct Progress {
  std::optional<double> best;   // of the objective
  double lower_bound = 0;       // of the objective, over the whole mapspace
  std::int64_t unrollings = 0;  // classes that are done with
  std::int64_t unrollings_total = 0;
  std::int64_t labels = 0;
  double seconds = 0;
};

struct SearchOptions {
  Objective objective = Objective::kEnergy;
  int threads = 1;
  std::int64_t evaluations = 10'000;        // of random, annealing, genetic
  std::uint64_t seed = 1;                   // of these
  const std::atomic<bool>* stop = nullptr;  // set by the caller: return the best so far
  Budget budget = {};
  std::function<void(const Progress&)> progress = {};  // strategy exact; called by one at a time
  bool edge_folds = false;  // strategy exact: beyond the mapspace, mapper/branch/edge_folds.hpp
};

struct SearchResult {
  std::optional<Mapping> best;
  std::optional<Cost> cost;  // of best, by evaluate()
  Form form{};               // of the workload that best is a mapping of
  Certificate certificate;
  // Exact: what proves it. Perfect factors: the classes that were looked at; `others_bound` is
  // about all others. Imperfect ones: all, in the order of unrolling_classes().
  std::vector<ClassBound> classes;
  std::optional<double> others_bound{};
  Statistics statistics;
  InfeasibleReport infeasible;  // filled when nothing fits (exact) or as met (others)
  bool interrupted = false;     // before the proof was complete: by options.stop or the budget
};

// What a strategy cannot promise. The text says what can be done instead.
class UnsupportedSearch : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Strategies by name: "exact", "exhaustive", "random", "annealing", "genetic". nullopt: no such
// one.
using Mapper = SearchResult (*)(const Mapspace&, const SearchOptions&);
std::optional<Mapper> find_mapper(const std::string& name);

SearchResult search_exact(const Mapspace& space, const SearchOptions& options);
SearchResult search_exhaustive(const Mapspace& space, const SearchOptions& options);
// What others use, to compare with: they prove nothing. Deterministic for a seed, whatever the
// number of threads (docs/mapper.md).
SearchResult search_random(const Mapspace& space, const SearchOptions& options);
SearchResult search_annealing(const Mapspace& space, const SearchOptions& options);
SearchResult search_genetic(const Mapspace& space, const SearchOptions& options);

}  // namespace mapsim
