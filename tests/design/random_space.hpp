// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/rng.hpp"
#include "design/search.hpp"

namespace mapsim {

bool odds(Rng& rng, int of);  // one in so many

// A space of some dozen designs of a small machine, and two or three tiny layers. Every kind of
// axis comes up: resources, energies, technologies, and what no lemma covers.
struct RandomSpace {
  std::string text;  // of the grid and the machine, for messages
  Campaign campaign;
};
RandomSpace random_space(std::uint64_t seed);
DesignObjective random_objective(Rng& rng);

// Every design searched on its own: the best of all choices of points of its layers' fronts.
struct FullSweep {
  struct Row {
    std::optional<double> value;  // absent: a layer does not fit, or no choice keeps the limits
    double area = 0;              // mm2
    double energy = 0;            // of all layers [pJ]
    double seconds = 0;
  };
  std::vector<Row> designs;
  std::vector<Row> wanted(const DesignOptions& options) const;
  std::optional<double> best() const;
};
FullSweep full_sweep(const Campaign& campaign, const DesignObjective& objective,
                     const DesignLimits& limits = {});
bool keeps(const DesignLimits& limits, const FullSweep::Row& row);

// A random objective with random limits, of one design, several or a front, and its full sweep.
// Tight limits are more, and fewer designs keep them with their best mappings.
DesignOptions random_question(const RandomSpace& space, std::uint64_t seed, FullSweep& sweep,
                              bool is_tight);
// What is wrong with the answer to a random question about a space; empty: nothing. `by_choice`:
// the limits are tight; counts where they chose among mappings.
std::string compare_with_sweep(const RandomSpace& space, std::uint64_t seed,
                               int* by_choice = nullptr);
// The same of the certificate of the answer, which must hold.
std::string compare_certificate(const RandomSpace& space, std::uint64_t seed);
// Enclosures of random boxes above any of their designs, on any layer; `compared` counts.
std::string compare_enclosures(const RandomSpace& space, std::uint64_t seed,
                               std::int64_t& compared);

}  // namespace mapsim
