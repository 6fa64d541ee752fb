// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "campaign/gpu_layer.hpp"
#include "costmodel/problem.hpp"
#include "mapper/mapper.hpp"
#include "mapper/shared_budget.hpp"
#include "plan/gpu_algorithms.hpp"
#include "plan/groups.hpp"
#include "plan/layer_searches.hpp"
#include "plan/load.hpp"
#include "plan/places.hpp"
#include "plan/soc.hpp"

namespace mapsim {

// What a group costs on an engine, or why it does not run there.
struct Price {
  Load load;
  std::string how;                   // the kernel, or the form of a layer; empty: a stream
  std::vector<std::string> notes{};  // other algorithms, and constraints that a layer violates
  bool proven = true;                // the search of its layers was complete
  std::string problem;               // not empty: it does not run there
};

// The time budget of a plan, and options with `parts` shares of the rest of it.
SharedBudget budget_of(const PlanOptions& options);
PlanOptions with_share(PlanOptions options, const SharedBudget& budget, double parts);

// Prices groups on the engines of a chip. Layers are searched once: what differs in names only is
// one. Refers to the chip.
class Pricing {
 public:
  // Layers are searched for the least energy if that is the objective, else for the least latency.
  // Once `options.stop` is set, price() throws PlanStopped where a layer has to be searched.
  Pricing(const Soc& soc, const PlanOptions& options);

  // GPUs run at this share of their clock from now on; at first it is 1. Their own limits on power
  // do not slow kernels: the limit of the chip is on the plan.
  void set_clock(double share);

  // That price() will be asked for: the searches of its layers have an even share of the time.
  void expect(const Operations& operations, const Group& group, const Place& place);
  Price price(const Operations& operations, const Group& group, const Place& place);
  // The load of moving a tensor, which takes so many bytes in either place, from where it was made
  // to where it is read; nullopt: there is no way.
  std::optional<Load> move(const Place& from, const Place& to, double bytes_from,
                           double bytes_to) const;

  const LayerSearches& searches() const { return searches_; }

 private:
  struct Known {
    Workload workload;
    bool adds = false;
    bool prunes = false;  // 2:4 weights were tried
    ConvLayout layout = ConvLayout::kNhwc;
    Price price;
    double memory_seconds = 0;  // in which the memory's port is busy; 0 on a GPU
    KernelParts parts{};        // of the GEMM kernel on a GPU
  };
  const Known& layer(const Workload& workload, bool adds, const Place& place,
                     bool has_weights = false);
  // Options of a search, with its share of the time, of which a plan has one, too.
  SearchOptions share() const;
  static Workload anonymous(Workload workload);  // without its names
  void forget_expected(std::size_t engine, const Workload& workload);
  static bool reads_weights(const Operations& operations, const Group& group);
  Known search_on(const Gpu& gpu, const Workload& workload, bool adds, bool prunes,
                  ConvLayout layout);
  Known search_on(const Arch& arch, const Workload& workload);
  SearchResult search_for(const Problem& problem);
  SearchResult search_for(const Problem& problem, const Objective& objective);
  void try_algorithms(const Gpu& gpu, const Workload& workload, bool adds, bool prunes,
                      SearchEnd end, Known& known) const;
  Price attention(const Group& group, const Place& place);
  Price time_steps(const Group& group, const Place& place);
  Price stream(const Stream& stream, std::size_t engine) const;
  void add_beside(const Stream& beside, double idle, std::size_t engine, Price& price) const;
  Load copy(double in, double out, std::size_t engine) const;
  bool converts_itself(std::size_t engine) const;
  std::string refusal(const Operations& operations, const Group& group, std::size_t engine) const;

  const Soc& soc_;
  LaunchMode launch_;
  bool least_energy_;
  bool sparse_;
  SharedBudget budget_;
  const std::atomic<bool>* stop_;
  std::vector<std::variant<Gpu, Arch>> machines_;
  std::vector<std::multimap<std::int64_t, Known>> known_;        // by engine and MACs
  std::vector<std::multimap<std::int64_t, Workload>> expected_;  // the same, to be searched
  LayerSearches searches_;
};

}  // namespace mapsim
