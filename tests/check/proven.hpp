// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "arch/load.hpp"
#include "check/check.hpp"
#include "mapper/mapper.hpp"
#include "report/certificate.hpp"

namespace mapsim {

// Four units and a buffer that a small GEMM fills.
inline Arch small_machine() {
  return parse_arch(R"(name: small
nodes:
  - {storage: DRAM, capacity: unlimited, energy: {read: 16 pJ/b, write: 16 pJ/b}}
  - {storage: Buffer, capacity: 14 B, energy: {read: 1 pJ/b, write: 1 pJ/b}}
  - {fanout: PEs, x: 4}
  - {compute: MAC, energy: 1 pJ}
)",
                    "arch");
}

// The certificate of an exact search, as written.
inline std::string proof_of(const Problem& problem, const Constraints& constraints,
                            const Objective& objective) {
  const Mapspace space{problem, constraints};
  SearchOptions options;
  options.objective = objective;
  return certificate_file({"search", {}}, space, objective, search_exact(space, options));
}

// What is wrong with a certificate; empty: nothing.
inline std::string faults_of(const std::string& text) {
  const check::Certificate certificate = check::parse_certificate(text, "proof");
  std::string faults;
  for (const std::string& fault : check::check_certificate(certificate, {}).problems) {
    faults += fault + '\n';
  }
  return faults;
}

// `text` with a digest that fits it.
inline std::string sealed(const std::string& text) {
  const std::string body = text.substr(0, text.rfind("digest: "));
  return body + check::seal(body);
}

// Puts `with` for the text from `from` up to `to`.
inline std::string altered(std::string text, const std::string& from, const std::string& to,
                           const std::string& with) {
  const std::size_t begin = text.find(from);
  const std::size_t end = text.find(to, begin);
  EXPECT_NE(end, std::string::npos) << from;
  return sealed(text.replace(begin, end - begin, with));
}

// What reading or checking it says.
inline std::string complaint(const std::string& text) {
  try {
    return faults_of(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
}

}  // namespace mapsim
