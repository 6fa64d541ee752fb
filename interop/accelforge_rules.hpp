// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "interop/accelforge.hpp"

namespace mapsim {

// Leaves a fanout the loops over dims that index none of the reused tensors.
void restrict_forge_fanout(Fanout& fanout, RoleSet reused);

// The constraints that a machine puts on the mapspace of an einsum, as lines of constraints.yaml;
// empty: none.
class ForgeRules {
 public:
  ForgeRules(Reader& reader, const ForgeEinsum& einsum, const ForgeNames& names, ImportNotes& notes)
      : reader_{reader}, einsum_{einsum}, names_{names}, notes_{notes} {}

  // Those of a fanout: dims that index none of the tensors in `reuse`, loop_bounds and min_usage.
  std::string unrolling(const Fields& fields, const Fanout& fanout, std::uint32_t reuse);
  // Those of a memory: tile_shape.
  std::string extents(const Node& memory, const std::string& level);

 private:
  struct Limit;
  GemmAxis axis_of(std::size_t dim) const;
  std::vector<Limit> limits(const Node* comparisons, const std::string& whose);
  void limit_by(const Node& comparison, const std::string& whose, std::vector<Limit>& limits);
  static std::string limit_text(const Limit& limit);
  std::string usage(const Fields& fields, const Fanout& fanout,
                    const std::vector<std::int64_t>& bounds);

  Reader& reader_;
  const ForgeEinsum& einsum_;
  const ForgeNames& names_;
  ImportNotes& notes_;
};

}  // namespace mapsim
