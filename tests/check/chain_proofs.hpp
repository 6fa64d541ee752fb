// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "check/chain_proof.hpp"
#include "check/sealed_file.hpp"
#include "core/diagnostic.hpp"
#include "report/certificate.hpp"
#include "tests/mapper/brute_chain.hpp"

// Certificates of tiny chains, also with lies in them.
namespace mapsim::chain_proofs {

inline const Objective kEnergy = Objective::kEnergy;

inline std::string proof_of(const TinyChain& tiny, const FusionLimits& limits,
                            const Objective& objective = kEnergy) {
  SearchOptions options;
  options.objective = objective;
  const ChainResult result = search_chain(tiny.arch, tiny.chain, limits, options);
  return chain_certificate_file({"search", {}}, tiny.arch, tiny.chain, limits, objective, result);
}

inline check::ChainVerdict verdict_of(const std::string& proof) {
  return check::check_chain(check::parse_chain_claim(proof, "proof"), 1'000'000);
}

inline std::string resealed(const std::string& proof, const std::string& from,
                            const std::string& to) {
  std::string text = proof.substr(0, proof.find("\ndigest: ") + 1);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << "\n" << text;
  text.replace(at, from.size(), to);
  return text + check::seal(text);
}

// What the reader says; empty: it reads it.
inline std::string refusal_of(const std::string& proof) {
  try {
    check::parse_chain_claim(proof, "proof");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace mapsim::chain_proofs
