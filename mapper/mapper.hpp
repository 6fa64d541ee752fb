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

// How much is proven. kOptimal: no mapping of the mapspace is better. kInfeasible: none fits.
// kBounded: none is better than lower_bound. kNone: nothing (samples).
enum class Proof : std::uint8_t { kOptimal, kInfeasible, kBounded, kNone };
struct Certificate {
  Proof status = Proof::kNone;
  double lower_bound = 0;     // of the objective, over the whole mapspace; infinite: nothing fits
  double gap = 0;             // objective / lower_bound - 1; 0 when optimal
  std::string mapspace_size;  // before capacity, exact, decimal
  bool schedules = false;     // the claims are about an engine's schedules, not the whole mapspace
  // Set in two cases. Imperfect factors, and mappings with free tile boundaries were too many to be
  // searched (decision 18): a lower bound of the other mappings, above that of all. kOptimal: the
  // value, of which ties are not proven.
  std::optional<double> bound_but_for_free_boundaries{};
  // Systolic arrays: partial folds at the edges of the array were searched, too
  // (mapper/branch/partial_folds.hpp). Status, bound and gap are then about them and the mapspace
  // together. This is about the mapspace alone, in which every fold is full or divides.
  struct Divisors {
    std::optional<double> value;  // of the best mapping of it; nullopt: nothing fits
    double lower_bound = 0;
  };
  std::optional<Divisors> divisors{};
};

// How the exact strategy obtained the bound of a class of spatial unrollings. kUnrollingBound: a
// closed form, whatever the tiles. kRelaxation: the completion bound, which gives every tile each
// capacity to itself. kSearch: the label search.
enum class Argument : std::uint8_t { kUnrollingBound, kRelaxation, kSearch };
struct ClassBound {
  double bound = 0;  // of the objective, over the mappings of the class
  Argument by = Argument::kUnrollingBound;
  UnrollingClass unrollings{};
  bool is_symmetric = false;  // equals an earlier class by symmetry, which was searched instead
};

struct Statistics {
  double seconds = 0;
  std::int64_t evaluations = 0;  // closed-form evaluations of whole mappings
  std::int64_t labels = 0;       // partial mappings expanded (exact)
  std::int64_t states = 0;       // lattice states bounded (exact)
  std::int64_t unrollings = 0;   // searched
  std::int64_t unrollings_total = 0;
  // How often a class of unrollings needed more memory than there was
  std::int64_t out_of_memory = 0;
  std::size_t peak_bytes = 0;  // of tables and labels (exact)
};

// Why mappings did not fit: "GLB: capacity" -> how many mappings, and the least capacity that would
// have sufficed for one of them.
struct InfeasibleReport {
  std::map<std::string, std::int64_t> reasons;
  std::map<std::string, std::int64_t> smallest_need;  // bits, instances, pJ (rounded up), cycles
  friend bool operator==(const InfeasibleReport&, const InfeasibleReport&) = default;
};
void add(InfeasibleReport& report, const Problem& problem, const Infeasible& reason,
         std::int64_t count = 1);
// Counts a mapping that fits but breaks a limit of the objective: "energy limit", "latency limit".
void add_beyond_limits(InfeasibleReport& report, const Objective& objective, const Cost& cost);
void add(InfeasibleReport& report, const InfeasibleReport& other);

// The budget of a search. When it is spent, the best mapping so far is returned; the exact strategy
// adds its true gap, and finds at least one mapping however small the budget is.
struct Budget {
  double seconds = std::numeric_limits<double>::infinity();  // wall-clock time
  // Exact strategy. The result does not depend on the number of threads.
  std::int64_t labels = std::numeric_limits<std::int64_t>::max();
  // Exact strategy: for tables and labels, over all threads. A class of unrollings that needs more
  // is left open; with perfect factors some are searched on a part of their tiles.
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  // Exact strategy, one mapping: mappings that improve on the best by at most this share of the
  // optimum are pruned. 0: the result is optimal.
  double gap = 0;
  friend bool operator==(const Budget&, const Budget&) = default;
};

// The state of a running exact search.
struct Progress {
  std::optional<double> best;   // of the objective
  double lower_bound = 0;       // of the objective, over the whole mapspace
  std::int64_t unrollings = 0;  // classes that are finished
  std::int64_t unrollings_total = 0;
  std::int64_t labels = 0;
  double seconds = 0;
};

struct SearchOptions {
  Objective objective = Objective::kEnergy;
  int threads = 1;
  std::int64_t evaluations = 10'000;        // of random, annealing, genetic
  std::uint64_t seed = 1;                   // for random, annealing, genetic
  const std::atomic<bool>* stop = nullptr;  // set by the caller: return the best so far
  Budget budget = {};
  // Exact strategy; never called by two threads at once
  std::function<void(const Progress&)> progress = {};
  bool partial_folds =
      false;  // exact strategy: beyond the mapspace, mapper/branch/partial_folds.hpp
};

struct SearchResult {
  std::optional<Mapping> best;
  std::optional<Cost> cost;  // of best, by evaluate()
  Form form{};               // of the workload that `best` is a mapping of
  Certificate certificate;
  // Exact strategy: the bounds that prove the result. Perfect factors: the classes that were
  // generated, and those equal to them by symmetry; `others_bound` holds for all others. Imperfect
  // factors: all classes, in the order of unrolling_classes().
  std::vector<ClassBound> classes;
  std::optional<double> others_bound{};
  Statistics statistics;
  InfeasibleReport infeasible;  // filled when nothing fits (exact), or with what was met (others)
  bool interrupted = false;     // before the proof was complete: by options.stop or the budget
};

// A strategy cannot search or prove this. The text names an alternative.
class UnsupportedSearch : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Strategies by name: "exact", "exhaustive", "random", "annealing", "genetic". nullopt: unknown.
using Mapper = SearchResult (*)(const Mapspace&, const SearchOptions&);
std::optional<Mapper> find_mapper(const std::string& name);

SearchResult search_exact(const Mapspace& space, const SearchOptions& options);
SearchResult search_exhaustive(const Mapspace& space, const SearchOptions& options);
// Baselines that prove nothing (docs/mapper.md). Their results depend on the seed, not on the
// number of threads.
SearchResult search_random(const Mapspace& space, const SearchOptions& options);
SearchResult search_annealing(const Mapspace& space, const SearchOptions& options);
SearchResult search_genetic(const Mapspace& space, const SearchOptions& options);

}  // namespace mapsim
