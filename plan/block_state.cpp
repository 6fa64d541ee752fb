// SPDX-License-Identifier: Apache-2.0
#include "plan/block_state.hpp"

#include <algorithm>
#include <utility>

#include "plan/block_parts.hpp"

namespace mapsim {

std::size_t EarlierStates::add(const BlockState& state) {
  using Set = BlockState::Set;
  constexpr std::size_t kWord = 64;  // bits
  std::vector<Set> key{state.covered, state.out};
  std::vector<double> times = state.free;
  times.push_back(state.finish);
  times.push_back(state.now);
  Set word = 0;
  for (std::size_t v = 0; v < state.available.size(); ++v) {
    if (state.available[v] < kNever) {
      word |= Set{1} << v % kWord;
      times.push_back(state.available[v]);
    }
    if (v % kWord == kWord - 1 || v + 1 == state.available.size()) {
      key.push_back(word);
      word = 0;
    }
  }
  auto& known = known_[key];
  const auto no_later = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(),
                      [](double mine, double other) { return mine <= other; });
  };
  if (std::any_of(known.begin(), known.end(),
                  [&](const auto& each) { return no_later(each, times); })) {
    return 0;
  }
  std::erase_if(known, [&](const auto& each) { return no_later(times, each); });
  constexpr std::size_t kNode = 64;  // of the map
  const std::size_t bytes =
      kNode + sizeof(times) + times.size() * sizeof(double) + key.size() * sizeof(Set);
  known.push_back(std::move(times));
  return bytes;
}

}  // namespace mapsim
