// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of mapsim/mapsim.hpp about more than one layer or machine: fused chains and networks,
// plans of networks on chips, the best machine of a space. The rules of that header about
// lifetimes, errors and threads hold here, too.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/fused_network.hpp"
#include "check/chain_proof.hpp"
#include "check/check.hpp"
#include "check/design_proof.hpp"
#include "check/plan_proof.hpp"
#include "design/certificate.hpp"
#include "design/search.hpp"
#include "mapsim/search_request.hpp"
#include "plan/request.hpp"
#include "plan/throughput.hpp"
#include "report/chain_curve.hpp"

namespace mapsim {

// ----- Fused layers (docs/fusion.md) -----

// The best mapping tree of a chain, compared with its layers one by one; load_chain() reads
// chains. Throws UnsupportedSearch if the request has an option that does not apply to
// chains.
struct ChainSolution {
  Arch arch;
  EinsumChain chain;
  FusionLimits limits;
  ChainComparison found;
};
ChainSolution fuse(const Arch& arch, const EinsumChain& chain, const SearchRequest& request = {},
                   const FusionLimits& limits = {});
std::string to_json(const ChainSolution& solution);
std::string to_text(const ChainSolution& solution);
std::string tree_yaml(const ChainSolution& solution);  // empty: nothing fits
// The proof, for `mapsim check` or verify_chain(); empty: the search was stopped before anything
// was found, or nothing keeps the limits and the proof cannot show it. Throws UnsupportedSearch for
// what the checker does not support.
std::string proof_yaml(const ChainSolution& solution);

// A proof of a chain, and the verdict of a checker that shares only the cost model with the search.
// The options that count are the limit of the walk and the stop flag.
struct VerifiedChain {
  check::ChainClaim claim;
  check::ChainVerdict verdict;  // `problems` empty: the proof holds
};
VerifiedChain verify_chain(const std::string& proof, const std::string& name = "proof",
                           const check::CheckOptions& options = {});
std::string to_json(const VerifiedChain& verified);

// The least energy of a chain over `capacity`, "GLB" or "spad:weight".
struct ChainCurveSolution {
  Arch arch;
  EinsumChain chain;
  ChainCurves curves;
};
ChainCurveSolution fusion_curve(const Arch& arch, const EinsumChain& chain,
                                const std::string& capacity, const SearchRequest& request = {},
                                const FusionLimits& limits = {});
std::string to_json(const ChainCurveSolution& solution);
std::string to_text(const ChainCurveSolution& solution);
std::string to_svg(const ChainCurveSolution& solution);

struct FusedSolution {  // a network that is a graph, its chains fused
  Arch arch;
  Network network;
  FusedNetwork fused;
  FusionLimits limits;
  SearchOptions options;  // without the flag
};
FusedSolution fuse(const Arch& arch, const Network& network, const SearchRequest& request = {},
                   const FusionLimits& limits = {});
std::string to_json(const FusedSolution& solution);
std::string to_text(const FusedSolution& solution);
// For verify_network(). Empty: a chain or layer has no mapping or was not searched; layers are
// searched here. Throws UnsupportedSearch for objectives without proofs.
std::string proof_yaml(const FusedSolution& solution, const std::atomic<bool>* stop = nullptr);

// ----- Plans (docs/plans.md) -----

// The best plan of a network, which is a graph, on a chip; load_soc() reads chips, with_engines()
// leaves engines out. `answer.misfit`: why no plan keeps the limits; then there is no text or JSON.
// Like plan_stream() it throws PlanStopped once the stop flag of its options is set.
struct PlanSolution {
  Soc soc;
  std::shared_ptr<const Network> network;  // the answer refers to it
  PlanOptions options;                     // without the flag
  PlanAnswer answer;
};
PlanSolution plan(const Soc& soc, const Network& network, const PlanOptions& options = {});
std::string to_json(const PlanSolution& solution);
std::string to_text(const PlanSolution& solution);
std::string to_trace(const PlanSolution& solution);  // for Perfetto
// The proof, for `mapsim check` or verify_plan(). Empty for plans under limits and for engines that
// work at the same time.
std::string proof_json(const PlanSolution& solution);

// The plans with the most frames a second. `networks`: per engine, with the engine's batch.
struct StreamSolution {
  Soc soc;
  std::vector<std::shared_ptr<const Network>> networks;
  PlanOptions options;
  StreamAnswer answer;
};
StreamSolution plan_stream(const Soc& soc, const std::vector<Network>& networks,
                           const std::vector<std::int64_t>& batches, PlanOptions options = {});
std::string to_json(const StreamSolution& solution);
std::string to_text(const StreamSolution& solution);
std::string proof_json(const StreamSolution& solution);

// A proof of a plan or a stream, and the verdict of a checker without code of the search.
struct VerifiedPlan {
  check::PlanClaim claim;
  check::PlanVerdict verdict;  // `problems` empty: the proof holds
};
VerifiedPlan verify_plan(const std::string& proof, const std::string& name = "proof");
std::string to_json(const VerifiedPlan& verified);

// ----- Designs (docs/design.md) -----

// The best machine of a space, proven; load_design_space() reads one.
struct DesignSolution {
  Campaign space;
  DesignOptions options;  // without flag, progress and database
  DesignAnswer answer;
};
DesignSolution best_design(const Campaign& space, const DesignOptions& options = {});
std::string to_json(const DesignSolution& solution);
std::string to_text(const DesignSolution& solution);
std::string arch_yaml(const DesignSolution& solution);  // of the best machine; empty: there is none
// The proof for `mapsim check`, if the options ask for it; empty: there is none.
std::string certificate_text(const DesignSolution& solution);

// A proof of the best designs of a space, and the verdict of a checker that shares only the cost
// model with the search.
struct VerifiedDesigns {
  check::DesignCertificate certificate;
  check::DesignVerdict verdict;  // `problems` empty: the proof holds
};
VerifiedDesigns verify_designs(const std::string& proof, const std::string& name = "proof",
                               const check::DesignCheckOptions& options = {});
std::string to_json(const VerifiedDesigns& verified);

}  // namespace mapsim
