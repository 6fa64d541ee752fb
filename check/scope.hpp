// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "check/certificate.hpp"
#include "check/check.hpp"

namespace mapsim::check {

// All that a certificate states beside the problem that it is about, each once: what a check has
// looked at and found true, and what it has not looked at. Of a proof that does not hold nothing is
// verified.
struct Scope {
  std::vector<std::string> verified;
  std::vector<std::string> unverified;
};

Scope scope_of(const Certificate& certificate, const Verdict& verdict);

}  // namespace mapsim::check
