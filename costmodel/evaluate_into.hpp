// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "costmodel/evaluate.hpp"
#include "costmodel/nest.hpp"

namespace mapsim {

// The steps of an evaluation. They write into reused results: nothing is allocated, and only the
// entries of this problem are touched.

// First the counts that decide whether a mapping fits: footprints, instances, and the accesses of
// the output, on which the width of its sums depends. Then the others.
void count_capacities_into(const Problem& problem, const Nest& nest, Counts& counts);
void count_operands_into(const Problem& problem, const Nest& nest, Counts& counts);

// The crossings, tiles and steps of a nest without fanouts; no widths, no ports. The nest may be
// written for a larger problem: its loops then end at the bounds of this one. Each tensor's
// outermost keep stands for the surroundings of the nest.
void count_boundaries_into(const Problem& problem, const Nest& nest, Counts& counts);

// `sparse`: for a machine that exploits zeros.
void energy_into(const Problem& problem, const Counts& counts, Energy& energy,
                 const SparseCounts* sparse = nullptr);
void latency_into(const Problem& problem, const Nest& nest, const Counts& counts, Latency& latency,
                  const SparseCounts* sparse = nullptr);

}  // namespace mapsim
