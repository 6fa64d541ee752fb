// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "validate/verdict.hpp"

namespace mapsim {

// The results of a validation, besides the verdict.
struct ValidationNotes {
  std::vector<std::string> refusals;  // kernels without a time, and why
  std::vector<std::string> notes;
};

// For people: docs/gpu_validation.md says what the figures are.
std::string verdict_text(const Gpu& gpu, const ValidationVerdict& verdict,
                         const ValidationNotes& notes);
// The same as a page with the scatter plot and every kernel.
std::string verdict_html(const Gpu& gpu, const ValidationVerdict& verdict,
                         const ValidationNotes& notes);
// Measured against predicted times, a colour per problem.
std::string verdict_svg(const Gpu& gpu, const ValidationVerdict& verdict);

}  // namespace mapsim
