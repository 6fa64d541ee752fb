// SPDX-License-Identifier: Apache-2.0
#include "workloads/print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace mapsim {

std::string print_workload(const Workload& workload) {
  std::vector<std::string> dims;
  for (const Dim& dim : workload.dims) {
    dims.push_back(fmt::format("{}: {}", dim.name, dim.bound));
  }
  std::vector<std::string> roles;
  std::vector<std::string> widths;
  std::vector<std::string> densities;
  for (const TensorId t : workload.tensors.ids()) {
    const Tensor& tensor = workload.tensors[t];
    widths.push_back(fmt::format("{}: {} b", tensor.name, tensor.bits.count()));
    if (tensor.density != 1) {
      densities.push_back(fmt::format("{}: {}", tensor.name, tensor.density));
    }
    if (t != workload.output()) {
      roles.push_back(fmt::format("{}: {}", tensor.name, to_string(tensor.role)));
    }
  }
  const Bits partial = workload.tensors[workload.output()].partial_bits;
  widths.push_back(fmt::format("partial: {} b", partial.count()));
  const std::string text = fmt::format(
      "name: {}\neinsum:\n  equation: {}\n  dims: {{{}}}\n  roles: {{{}}}\nprecision: {{{}}}\n",
      workload.name, workload.equation(), fmt::join(dims, ", "), fmt::join(roles, ", "),
      fmt::join(widths, ", "));
  return densities.empty() ? text
                           : text + fmt::format("density: {{{}}}\n", fmt::join(densities, ", "));
}

}  // namespace mapsim
