// SPDX-License-Identifier: Apache-2.0
// Boxes of designs that a search has not decided.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "design/descent.hpp"
#include "design/space.hpp"

namespace mapsim {

Values low_end(const DesignBox& box);
Values high_end(const DesignBox& box);
DesignBox single(const Values& values);

struct OpenBox {
  double bound = 0;
  std::int64_t order = 0;  // ties: the first one
  std::size_t space = 0;
  DesignBox box;
  double area = 0;          // no design has less; 0 where areas do not matter
  bool is_bounded = false;  // by its own enclosure
};
struct Later {
  bool operator()(const OpenBox& a, const OpenBox& b) const {
    return std::pair{a.bound, a.order} > std::pair{b.bound, b.order};
  }
};

// A box that is bounded next.
struct RoundBox {
  OpenBox box;
  std::optional<Enclosure> enclosure{};
};

}  // namespace mapsim
