// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "campaign/store.hpp"

namespace mapsim {

// Widths of the workloads of a database, in words (report/widths.hpp), by their ids; each is read
// once. Empty: it only moves data.
class InputWidths {
 public:
  explicit InputWidths(Store& store) : store_{store} {}
  const std::string& of(const std::string& id);

 private:
  Store& store_;
  std::map<std::string, std::string> known_;
};

// Those of all layers that have a mapping, or may have: a line for the head of a table, or "".
// Kernels of GPUs have a precision of their own and are left out.
std::string input_widths_text(Store& store, const std::string& campaign);

}  // namespace mapsim
