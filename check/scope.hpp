// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "check/certificate.hpp"
#include "check/check.hpp"

namespace mapsim::check {

// All statements of a certificate besides the problem: those that the check has verified, and those
// that it did not check. If the proof does not hold, nothing is verified.
struct Scope {
  std::vector<std::string> verified;
  std::vector<std::string> unverified;
};

Scope scope_of(const Certificate& certificate, const Verdict& verdict);

}  // namespace mapsim::check
