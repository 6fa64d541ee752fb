// SPDX-License-Identifier: Apache-2.0
#include "costmodel/timing/compute_time.hpp"

#include "costmodel/nvdla/stripe.hpp"
#include "costmodel/timing/systolic.hpp"

namespace mapsim {

namespace {

ComputeTime time_of(std::monostate, const Problem& problem, const Nest&, std::int64_t steps) {
  ComputeTime time;
  time.busy = Cycles{steps * problem.arch().compute.issue_interval};
  return time;
}

ComputeTime time_of(const SystolicTiming& timing, const Problem& problem, const Nest& nest,
                    std::int64_t) {
  return systolic_time(problem, timing, nest);
}

ComputeTime time_of(const NvdlaTiming& timing, const Problem& problem, const Nest& nest,
                    std::int64_t) {
  return nvdla_time(problem, timing, nest);
}

}  // namespace

ComputeTime compute_time(const Problem& problem, const Nest& nest, std::int64_t steps) {
  return std::visit([&](const auto& timing) { return time_of(timing, problem, nest, steps); },
                    problem.arch().compute.timing);
}

}  // namespace mapsim
