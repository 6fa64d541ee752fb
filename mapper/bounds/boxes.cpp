// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/boxes.hpp"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.hpp"

namespace mapsim::branch {

// The figures of a choice: operations per element and copies of each tensor, then instances along
// each dim.
BoxTree::BoxTree(const UnrollingClasses& classes, FanoutId fanout,
                 const PerTensor<exact::TensorUse>& uses)
    : primes_{classes.primes()},
      choices_{classes.choices()[fanout]},
      width_{2 * uses.size() + primes_.bounds().size()} {
  rows_.reserve(choices_.size() * width_);
  order_.reserve(choices_.size());
  std::vector<std::uint32_t> busy;
  for (std::size_t c = 0; c < choices_.size(); ++c) {
    exact::Extents instances;
    for (const std::int64_t factor : choices_[c].factors) {
      instances.push_back(real(factor));
    }
    for (const exact::TensorUse& use : uses) {
      rows_.push_back(exact::most_operations(use, instances));
      double copies = 1;
      for (const DimId d : instances.ids()) {
        copies *= use.dims.contains(d) ? 1 : instances[d];
      }
      rows_.push_back(copies);
    }
    rows_.insert(rows_.end(), instances.begin(), instances.end());
    (choices_[c].instances > 1 ? busy : order_).push_back(static_cast<std::uint32_t>(c));
  }
  const std::size_t idle = order_.size();
  order_.insert(order_.end(), busy.begin(), busy.end());
  if (idle > 0) {
    idle_ = add(0, idle);
  }
  if (!busy.empty()) {
    busy_ = add(idle, order_.size());
  }
}

std::uint32_t BoxTree::add(std::size_t begin, std::size_t end) {
  const double* first = row(order_[begin]);
  std::vector<double> least(first, first + width_);
  std::vector<double> most = least;
  FactorBox box;
  box.common = primes_.pack(choices_[order_[begin]].factors);
  for (std::size_t i = begin; i < end; ++i) {
    const FanoutChoice& choice = choices_[order_[i]];
    const double* figures = row(order_[i]);
    for (std::size_t k = 0; k < width_; ++k) {
      least[k] = std::min(least[k], figures[k]);
      most[k] = std::max(most[k], figures[k]);
    }
    box.instances = std::max(box.instances, real(choice.instances));
    if (!(box.common == PackedFactors{})) {
      box.common = primes_.common(box.common, primes_.pack(choice.factors));
    }
  }
  const std::size_t dims = primes_.bounds().size();
  Range range{begin, end};
  for (std::size_t k = 0; k + dims < width_; ++k) {  // instances act through the other figures
    if (most[k] / least[k] > box.spread) {
      box.spread = most[k] / least[k];
      range.widest = k;
      range.mean = std::sqrt(least[k] * most[k]);
    }
  }
  for (std::size_t t = 0; 2 * t + dims < width_; ++t) {
    box.most_served.push_back(most[2 * t]);
    box.most_copies.push_back(most[2 * t + 1]);
    box.fewest_copies.push_back(least[2 * t + 1]);
  }
  box.choice = end - begin == 1 ? order_[begin] : FactorBox::kNone;
  const PerDim<std::int64_t> left = primes_.left(box.common);
  for (const DimId d : left.ids()) {
    box.most.push_back(most[width_ - dims + index_of(d)]);
    box.divisor.push_back(real(primes_.bounds()[d] / left[d]));
  }
  boxes_.push_back(box);
  ranges_.push_back(range);
  return static_cast<std::uint32_t>(boxes_.size() - 1);
}

// Splits at the geometric mean of the figure in which the choices differ most.
void BoxTree::split(std::uint32_t box) {
  if (boxes_[box].choice != FactorBox::kNone || boxes_[box].left != FactorBox::kNone) {
    return;
  }
  const Range range = ranges_[box];
  std::size_t middle = range.begin + (range.end - range.begin) / 2;
  if (boxes_[box].spread > 1) {
    const auto at = [this](std::size_t i) {
      return order_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    middle = static_cast<std::size_t>(std::stable_partition(at(range.begin), at(range.end),
                                                            [&](std::uint32_t choice) {
                                                              return row(choice)[range.widest] <
                                                                     range.mean;
                                                            }) -
                                      order_.begin());
    middle = std::clamp(middle, range.begin + 1, range.end - 1);
  }
  const std::uint32_t left = add(range.begin, middle);
  const std::uint32_t right = add(middle, range.end);
  boxes_[box].left = left;
  boxes_[box].right = right;
}

}  // namespace mapsim::branch
