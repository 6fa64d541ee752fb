// SPDX-License-Identifier: Apache-2.0
#include "costmodel/sparse/known_zeros.hpp"

#include <algorithm>

#include "core/arithmetic.hpp"
#include "core/diagnostic.hpp"

namespace mapsim {

std::map<std::vector<std::int64_t>, double> KnownZeros::by_shared(TensorId t, DimSet shared) const {
  const Tensor& tensor = workload_->tensors[t];
  const std::vector<std::int64_t>& box = tensor.pattern->box;
  std::map<std::vector<std::int64_t>, double> sums;
  std::vector<std::int64_t> at(box.size(), 0);
  for (const char one : hit_.at(t)) {
    bool counts = one != 0;
    std::map<DimId, std::int64_t> place;  // data has no windows: one moving dim per rank
    for (std::size_t r = 0; r < at.size() && counts; ++r) {
      for (const Term& term : tensor.ranks[r].terms) {
        if (workload_->dims[term.dim].bound > 1) {
          const auto marks = marked_.find(term.dim);
          counts = counts &&
                   (marks == marked_.end() || marks->second[static_cast<std::size_t>(at[r])] != 0);
          if (shared.contains(term.dim)) {
            place[term.dim] = at[r];
          }
        }
      }
    }
    if (counts) {
      std::vector<std::int64_t> key;
      for (const auto& coordinate : place) {
        key.push_back(coordinate.second);
      }
      sums[key] += 1;
    }
    for (std::size_t r = at.size(); r-- > 0;) {
      if (++at[r] < box[r]) {
        break;
      }
      at[r] = 0;
    }
  }
  return sums;
}

void KnownZeros::require(TensorId t, const DensityModel& data, const TileShape& shape) {
  std::vector<char> hit = data.hit_around(shape);
  const auto [at, fresh] = hit_.try_emplace(t);
  if (fresh) {
    at->second = std::move(hit);
    return;
  }
  for (std::size_t i = 0; i < hit.size(); ++i) {
    at->second[i] = static_cast<char>(at->second[i] & hit[i]);
  }
}

double KnownZeros::share() const {
  if (hit_.empty()) {
    return 1;
  }
  if (hit_.size() > 2) {
    throw ConfigError({{workload_->name, 0, 0, "",
                        "zeros of at most two tensors may be given as data where they decide "
                        "together what is left out",
                        ""}});
  }
  const auto& [a, of_a] = *hit_.begin();
  const auto& [b, of_b] = *hit_.rbegin();
  const bool alone = a == b;
  const DimSet dims_a = workload_->tensors[a].dims();
  const DimSet dims_b = alone ? DimSet{} : workload_->tensors[b].dims();
  const DimSet shared = dims_a & dims_b;
  double hits = 0;
  const auto other = alone ? decltype(by_shared(a, shared)){} : by_shared(b, shared);
  for (const auto& [place, marked] : by_shared(a, shared)) {
    const auto same = other.find(place);
    hits += alone ? marked : same == other.end() ? 0 : marked * same->second;
  }
  double all = real(std::ssize(of_a)) * (alone ? 1 : real(std::ssize(of_b)));
  for (const DimId d : workload_->dims.ids()) {
    all /= shared.contains(d) ? real(workload_->dims[d].bound) : 1;
    const auto marks = marked_.find(d);
    if (marks != marked_.end() && (dims_a | dims_b).contains(d)) {
      all *= real(std::count(marks->second.begin(), marks->second.end(), 1)) /
             real(std::ssize(marks->second));
    }
  }
  return hits / all;
}

}  // namespace mapsim
