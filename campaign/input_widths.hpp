// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "campaign/store.hpp"
#include "report/widths.hpp"

namespace mapsim {

// Widths of the workloads of a database by id; each is read once. None: it only moves data.
class InputWidths {
 public:
  explicit InputWidths(Store& store) : store_{store} {}
  const std::optional<Widths>& of(const std::string& id);

 private:
  Store& store_;
  std::map<std::string, std::optional<Widths>> known_;
};

// The widths of each workload of a campaign that has a mapping, or may have one. GPUs are left out,
// because their kernels have a precision of their own.
std::vector<Widths> input_widths(Store& store, const std::string& campaign);

}  // namespace mapsim
