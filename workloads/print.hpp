// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "workloads/chain.hpp"
#include "workloads/conv.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// A workload as YAML (docs/formats.md), always in the form of an einsum, with a newline at the end.
// parse_workload() reads it back to the same value, but for what only a shorthand can say: its
// note, bias, and padding (stored_elements).
std::string print_workload(const Workload& workload);

// The same as conv2d, gemm or batched_gemm where the workload is one, so that people can edit it;
// nothing is lost then. Else as an einsum.
std::string print_layer(const Workload& workload);

// What conv2d() made this workload of, its input and padding too, of which the einsum itself knows
// only what the windows touch; nullopt: it made it of nothing, or what was made of it since is
// none.
std::optional<ConvShape> conv_shape(const Workload& workload);

// A chain as YAML: parse_chain() reads back its einsums, names and intermediates.
std::string print_chain(const EinsumChain& chain);

}  // namespace mapsim
