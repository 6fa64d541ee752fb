// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "check/check.hpp"
#include "mapper/mapper.hpp"
#include "report/certificate.hpp"

namespace mapsim {

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

}  // namespace mapsim
