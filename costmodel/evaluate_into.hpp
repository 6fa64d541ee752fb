// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "costmodel/evaluate.hpp"
#include "costmodel/nest.hpp"

namespace mapsim {

// The steps of an evaluation, into results that are used again: nothing is allocated, and only the
// entries of this problem are touched.

// First what decides whether a mapping fits: footprints, instances, and the accesses of the output,
// on which the width of its sums depends. Then the rest.
void count_capacities_into(const Problem& problem, const Nest& nest, Counts& counts);
void count_operands_into(const Problem& problem, const Nest& nest, Counts& counts);

// What crosses the boundaries of a nest without fanouts, tiles and steps: no widths, no ports. The
// nest may be of a larger problem: the loops then run as far as this one goes. Each tensor's
// outermost keep stands for what is around the nest.
void count_boundaries_into(const Problem& problem, const Nest& nest, Counts& counts);

// `sparse`: of a machine that knows of zeros.
void energy_into(const Problem& problem, const Counts& counts, Energy& energy,
                 const SparseCounts* sparse = nullptr);
void latency_into(const Problem& problem, const Nest& nest, const Counts& counts, Latency& latency,
                  const SparseCounts* sparse = nullptr);

}  // namespace mapsim
