// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/operations.hpp"
#include "plan/soc.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// Where a group can run and a tensor can lie: an engine, with operands of a width, in a layout.
struct Place {
  std::size_t engine = 0;
  std::int64_t width = 0;  // of operands [b]
  std::string format;      // empty: the engine names none
  friend bool operator==(const Place&, const Place&) = default;
};

// Every engine with each of `widths` that it takes, in each of its formats for that width. An
// engine that takes none of them has the first, so that it can say why it runs nothing. Formats of
// pieces are of one width: chw32 and chw4 of 8 b, chw16 and hwc8 of 16 b (TensorRT, TensorFormat).
std::vector<Place> places_of(const Soc& soc, const std::vector<std::int64_t>& widths);

// "gpu"; with the width and format where the engine has several places: "gpu f16 chw16".
std::string name_of(const Soc& soc, const std::vector<Place>& places, std::size_t place);
// "s8", "f16", "f32".
std::string width_name(std::int64_t width);
std::optional<std::int64_t> width_named(const std::string& name);

// Channels that a format keeps together: 32 of chw32; 1 of the others.
std::int64_t channels_of(const std::string& format);
// The size of a tensor in a format over its elements: channels are padded.
double padding_of(const GraphTensor& tensor, const std::string& format);

// A network as each place has it: its operands in the width of the place.
struct Versions {
  std::vector<std::shared_ptr<const NetworkGraph>> graphs;  // distinct ones
  std::vector<Operations> operations;                       // by place; refer to the graphs
};
// `networks`: by engine.
Versions versions_of(const std::vector<Place>& places, const std::vector<const Network*>& networks);

}  // namespace mapsim
