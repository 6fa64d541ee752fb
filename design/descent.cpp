// SPDX-License-Identifier: Apache-2.0
#include "design/descent.hpp"

#include <optional>

namespace mapsim {

namespace {

// One step along an axis, or one that another axis takes back.
std::vector<Values> neighbours(const Values& at, bool trades) {
  constexpr auto kDown = static_cast<std::size_t>(-1);  // below 0 is in no box
  std::vector<Values> all;
  for (std::size_t a = 0; a < at.size(); ++a) {
    for (const std::size_t step : {std::size_t{1}, kDown}) {
      Values next = at;
      next[a] += step;
      all.push_back(next);
      for (std::size_t b = 0; b < at.size() && trades; ++b) {
        if (b != a) {
          all.push_back(next);
          all.back()[b] -= step;
        }
      }
    }
  }
  return all;
}

}  // namespace

std::optional<Values> descent_start(const Descent& descent) {
  Values at;
  for (const ValueInterval& interval : descent.box) {
    at.push_back((interval.low + interval.high) / 2);
  }
  while (!descent.is_allowed(at)) {
    std::optional<Values> smallest;
    for (std::size_t a = 0; a < at.size(); ++a) {
      Values lower = at;
      lower[a] -= at[a] > descent.box[a].low ? 1 : 0;
      if (lower != at && (!smallest || descent.area(lower) < descent.area(*smallest))) {
        smallest = lower;
      }
    }
    if (!smallest) {
      return std::nullopt;
    }
    at = *smallest;
  }
  return at;
}

bool descend(const Descent& descent) {
  std::optional<Values> at = descent_start(descent);
  if (!at) {
    return true;
  }
  if (!descent.take(*at)) {
    return false;
  }
  for (bool moved = descent.is_best(*at); moved;) {
    moved = false;
    for (const Values& next : neighbours(*at, descent.trades)) {
      if (!descent.take(next)) {
        return false;
      }
      if (descent.is_best(next)) {
        at = next;
        moved = true;
        break;
      }
    }
  }
  return true;
}

}  // namespace mapsim
