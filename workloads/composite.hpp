// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/graph.hpp"
#include "workloads/precision.hpp"

namespace mapsim {

// Operators that are several einsums.

// LSTM (Hochreiter and Schmidhuber 1997), GRU (Cho et al. 2014), RNN: 4, 3 and 1 gates; 0: another
// operator.
std::int64_t gates_of(const std::string& op);

struct RecurrentShape {
  std::int64_t gates = 4, steps = 1, batch = 1, inputs = 1, hidden = 1, directions = 1;
};
// NAME_inputs: the inputs of all steps at once, one product. NAME_states: the states of a step,
// once per step and direction, as each step waits for the one before. What is pointwise costs
// nothing.
std::vector<NodeLayer> recurrent_layers(const std::string& name, const RecurrentShape& shape,
                                        const Precision& precision);
// Weights of inputs and states, and a bias for each.
std::int64_t recurrent_parameters(const RecurrentShape& shape);

// Query heads that share keys and values (grouped queries) are further rows of one product.
struct AttentionShape {
  std::int64_t batch = 1, heads = 1, key_heads = 1, queries = 1, keys = 1;
  std::int64_t width = 1, value_width = 1;  // of a head
};
// NAME_scores and NAME_context. Masked scores are computed: half of a causal mask is not saved.
std::vector<NodeLayer> attention_layers(const std::string& name, const AttentionShape& shape,
                                        const Precision& precision);

}  // namespace mapsim
