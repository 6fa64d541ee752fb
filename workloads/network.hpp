// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/workload.hpp"

namespace mapsim {

// Layers of one shape: what is known about one holds for all.
struct NetworkLayer {
  std::string name;
  Workload workload;
  std::int64_t count = 1;  // >= 1
  std::string file;        // where the workload was read
  friend bool operator==(const NetworkLayer&, const NetworkLayer&) = default;
};

// A network as a bag of layers, run one after the other. Layers are distinct in their names; the
// product of counts and MACs is at most 2^62.
struct Network {
  std::string name;
  std::vector<NetworkLayer> layers;  // at least one
  std::int64_t macs() const;
  friend bool operator==(const Network&, const Network&) = default;
};

// Reads a network (docs/formats.md): names of workload files, relative to its own folder, with how
// often each occurs. Throws ConfigError with all that is wrong with it, or with one of its layers.
Network load_network(const std::string& path);
Network parse_network(const std::string& text, const std::string& filename);

}  // namespace mapsim
